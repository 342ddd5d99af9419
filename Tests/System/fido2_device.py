"""Lets python-fido2's own device tests run on the device of Alice: a plugin of pytest.

The tests expect a key that a person plugs in again for a reset, and refuse keys that verify the person themselves.
"""
import os
import subprocess
import time

import pytest
from fido2.hid import CtapHidDevice

# Tests that fail on purpose, with the reason.
EXPECTED = {
    "test_client.test_allow_credentials_ineligible": "without a passkey the device waits, as an untouched key does",
}


def begin(self, printer, _reader, _ccid):
    self.printer, self._transport, self._reader, self._can_reset = printer, "usb", None, True
    self._dev = next(CtapHidDevice.list_devices())


def replug(self):
    """A new device, which takes a reset for ten seconds."""
    place = {"XDG_RUNTIME_DIR": f"/run/user/{os.getuid()}"}
    subprocess.run(["systemctl", "--user", "restart", "localauth-passkey"], env=os.environ | place, check=True)
    for _ in range(300):
        time.sleep(0.1)
        for device in CtapHidDevice.list_devices():
            self._dev = device
            return device
    raise OSError("the device has not come back")


def pytest_collection_modifyitems(items):
    from tests.device.conftest import DeviceManager

    DeviceManager.__init__ = begin
    DeviceManager._reconnect_usb = replug
    for item in items:
        reason = EXPECTED.get(f"{item.path.stem}.{item.originalname}")
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
