"""Ceremonies of python-fido2 on the device of the user who runs this, for passkeys.machine.

    passkeys.py make COUNT FILE   creates passkeys of as many sites, and appends them to a file
    passkeys.py sign COUNT FILE   signs in with as many of them, spread over the file, and checks the signatures
    passkeys.py fails             creates a passkey, and expects an error, which is printed
"""
import json
import sys

from fido2.client import ClientError
from fido2.cose import ES256
from fido2.ctap import CtapError
from fido2.ctap2 import Ctap2
from fido2.hid import CtapHidDevice

HASH = bytes(range(32))
KINDS = [{"alg": -7, "type": "public-key"}]
key = Ctap2(next(CtapHidDevice.list_devices()))


def make(site):
    user = {"id": site.encode(), "name": "ann"}
    made = key.make_credential(HASH, {"id": site, "name": site}, user, KINDS, options={"rk": True, "uv": True})
    public = made.auth_data.credential_data.public_key
    return {"site": site, "x": public[-2].hex(), "y": public[-3].hex(), "counter": made.auth_data.counter}


def sign(passkey):
    got = key.get_assertion(passkey["site"], HASH, options={"uv": True})
    assert got.auth_data.is_user_verified() and got.user["id"] == passkey["site"].encode(), got
    assert got.auth_data.counter > passkey["counter"], (got, passkey)
    point = {-2: bytes.fromhex(passkey["x"]), -3: bytes.fromhex(passkey["y"])}
    ES256({1: 2, 3: -7, -1: 1, **point}).verify(got.auth_data + HASH, got.signature)


if sys.argv[1] == "fails":
    try:
        make("killed.example")
    except (CtapError, ClientError, OSError, ConnectionError) as error:
        print("failed:", repr(error))
        sys.exit(0)
    sys.exit("it succeeded")
count, path = int(sys.argv[2]), sys.argv[3]
if sys.argv[1] == "make":
    with open(path, "a") as file:
        for number in range(count):
            print(json.dumps(make(f"site{number}.example")), file=file, flush=True)
else:
    with open(path) as file:
        passkeys = [json.loads(line) for line in file]
    for passkey in passkeys[:: max(1, len(passkeys) // count)]:
        sign(passkey)
