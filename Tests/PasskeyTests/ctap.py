"""Drives localauth-passkey by python-fido2, in place of the broker, the device and a browser.

    ctap.py SCENARIO PROGRAM BUS

Prints `shown N` before requests that need N answers to prompts, and ends with status 0 after success.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types

from fido2 import cbor
from fido2.cose import CoseKey
from fido2.ctap import CtapError
from fido2.ctap2 import Ctap2
from fido2.ctap2.pin import PinProtocolV1, PinProtocolV2
from fido2.hid import CtapHidDevice

SITE, HASH = "example.com", bytes(range(32))
KINDS = [{"alg": -8, "type": "public-key"}, {"alg": -7, "type": "public-key"}]
MAKE, GET, INFO, PIN, RESET, NEXT, SELECT = 1, 2, 4, 6, 7, 8, 11
# WebAuthn flag BE: the passkey may have copies.
COPYABLE = 0x08
DENIED, CANCELED, NONE, EXCLUDED, BUSY = 0x27, 0x2D, 0x2E, 0x19, 0x06
TIMED_OUT, NOT_ALLOWED, BLOCKED, INVALID = 0x2F, 0x30, 0x3C, 0x3F


class Link:
    """The device: packets of a socket."""

    def __init__(self, program, bus):
        self.folder = tempfile.mkdtemp()
        path = self.folder + "/broker"
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listening.bind(path)
        self.listening.listen()
        self.listening.settimeout(60)
        self.bus, self.programs = bus, os.path.dirname(program)
        self.words = [program, "--bus", bus, "--broker", path]
        self.start()

    def start(self, *options):
        self.program = subprocess.Popen([*self.words, *options])
        self.socket = self.listening.accept()[0]
        self.socket.settimeout(60)

    def restart(self, *options):
        self.stop()
        self.socket.close()
        self.start(*options)

    def appear(self):
        """The kernel has made the device."""
        self.socket.send(b"\1")

    def write_packet(self, packet):
        self.socket.send(packet)

    def read_packet(self):
        packet = self.socket.recv(65)
        assert len(packet) == 64, packet
        return packet

    def stop(self):
        self.program.terminate()
        assert self.program.wait(5) == 0

    def end(self):
        self.stop()
        os.unlink(self.folder + "/broker")
        os.rmdir(self.folder)


def key(link):
    size = types.SimpleNamespace(report_size_in=64, report_size_out=64, path="")
    return Ctap2(CtapHidDevice(size, link))


def shown(count):
    """Says how many prompts come, and waits until they are prepared."""
    print("shown", count, flush=True)
    assert sys.stdin.readline() == "go\n"


def fails(code, request, *arguments, **options):
    begin = time.monotonic()
    try:
        request(*arguments, **options)
    except CtapError as error:
        assert error.code == code, f"{error.code!r} in place of {code:#x}"
        return time.monotonic() - begin
    raise AssertionError(f"no error {code:#x}")


def refuses(request, *arguments, then, **options):
    """A browser ends at the first code, or repeats and ends at the second code. Returns the seconds of both."""
    hash = os.urandom(32)
    seconds = fails(DENIED, request, *arguments, hash=hash, **options)
    return seconds, fails(then, request, *arguments, hash=hash, **options)


def make(
    ctap, name="ann", site=SITE, user=b"1", uv=True, excluded=None, extensions=None, formats=None, hash=HASH, **options
):
    request = {
        1: hash, 2: {"id": site, "name": "Example"}, 3: {"id": user, "name": name, "displayName": name.title()},
        4: KINDS, 5: excluded, 6: extensions, 7: {"rk": True, "uv": uv}, 11: formats,
    }
    answer = ctap.send_cbor(MAKE, {key: value for key, value in request.items() if value is not None}, **options)
    return Made(answer)


class Made:
    """The answer to makeCredential, taken apart and checked."""

    def __init__(self, answer):
        data = answer[2]
        self.flags, self.counter = data[32], int.from_bytes(data[33:37], "big")
        size = int.from_bytes(data[53:55], "big")
        self.id = data[55 : 55 + size]
        public, rest = cbor.decode_from(data[55 + size :])
        self.key = CoseKey.parse(public)
        self.extensions = cbor.decode(rest) if self.flags & 0x80 else {}
        self.format = answer[1]
        if self.format == "packed":
            self.key.verify(data + HASH, answer[3]["sig"])
        self.descriptor = {"id": self.id, "type": "public-key"}


def get(ctap, allowed=None, site=SITE, uv=True, up=True, extensions=None, hash=HASH, **options):
    request = {1: site, 2: hash, 3: allowed, 4: extensions, 5: {"uv": uv, "up": up}}
    return ctap.send_cbor(GET, {key: value for key, value in request.items() if value is not None}, **options)


def check(answer, made, flags):
    data = answer[2]
    assert data[32] == flags, hex(data[32])
    made.key.verify(data + HASH, answer[3])
    counter = int.from_bytes(data[33:37], "big")
    assert counter > made.counter, (counter, made.counter)
    made.counter = counter


def ceremonies(link):
    ctap = key(link)
    info = ctap.send_cbor(INFO)
    assert info[4]["uv"] and "clientPin" not in info[4], info
    # The kernel keeps 31 packets for the broker; a request with a full list is shorter.
    assert info[5] == 57 + 30 * 59 and info[7] * (info[8] + 30) < 1100, info
    # Chromium would create passkeys without verification.
    assert "makeCredUvNotRqd" not in info[4], info
    shown(1)
    ann = make(ctap, extensions={"credProtect": 2, "hmac-secret": True})
    assert ann.flags == 0xC5 and ann.extensions == {"credProtect": 2, "hmac-secret": True}
    # Silent requests show no prompt and sign with a one-time key.
    silent = get(ctap, [ann.descriptor], uv=False, up=False)
    assert silent[2][32] == 0
    try:
        ann.key.verify(silent[2] + HASH, silent[3])
        raise AssertionError("a silent request signs")
    except Exception as error:
        assert "InvalidSignature" in type(error).__name__, error
    fails(NONE, get, ctap, [{"id": b"other", "type": "public-key"}], up=False, uv=False)
    fails(NONE, get, ctap, site="example.org", up=False, uv=False)
    # credProtect 2: a list without verification does not show it.
    fails(NONE, get, ctap, up=False, uv=False)
    shown(1)
    answer = get(ctap)
    check(answer, ann, 0x05)
    # Only among several accounts an answer has names, because Chromium shows a picker for them.
    assert answer[4] == {"id": b"1"} and 5 not in answer, answer
    shown(1)
    fails(EXCLUDED, make, ctap, "bob", user=b"2", excluded=[ann.descriptor])
    shown(1)
    bob = make(ctap, "bob", user=b"2", formats=["none"])
    assert bob.format == "none" and bob.flags == 0x45
    shown(1)
    first, second = get(ctap), ctap.send_cbor(NEXT)
    assert first[5] == 2 and 5 not in second
    assert second[4] == {"id": b"1", "name": "ann", "displayName": "Ann"}, second
    check(first, bob, 0x05)
    check(second, ann, 0x05)
    fails(0x30, ctap.send_cbor, NEXT)
    # A site keeps a single passkey for each account.
    shown(1)
    new = make(ctap, "ann", extensions={"credProtect": 3})
    fails(NONE, get, ctap, [ann.descriptor], up=False)
    fails(NONE, get, ctap, [new.descriptor], up=False, uv=True)
    shown(1)
    check(get(ctap, [new.descriptor]), new, 0x05)
    shown(1)
    check(get(ctap, [bob.descriptor], uv=False), bob, 0x01)
    shown(1)
    ctap.send_cbor(SELECT)
    shown(1)
    fails(0x35, make, ctap, site=".dummy")


def resets(link):
    """A reset is for the first ten seconds of the device."""
    ctap = key(link)
    for name in ["ann", "bob"]:
        shown(1)
        make(ctap, name, user=name.encode())
    fails(NOT_ALLOWED, ctap.send_cbor, RESET)
    link.appear()
    shown(1)
    ctap.send_cbor(RESET)
    fails(NONE, get, ctap, up=False)
    link.appear()
    time.sleep(10.1)
    fails(NOT_ALLOWED, ctap.send_cbor, RESET)


def secret_of(ctap, made, protocol, salts, site="ssh:", uv=True):
    """Gets the outputs of hmac-secret."""
    agreement = ctap.send_cbor(PIN, {1: protocol.VERSION, 2: 2})[1]
    ours, shared = protocol.encapsulate(agreement)
    sealed = protocol.encrypt(shared, salts)
    request = {1: ours, 2: sealed, 3: protocol.authenticate(shared, sealed), 4: protocol.VERSION}
    shown(1)
    answer = get(ctap, [made.descriptor], site, uv, extensions={"hmac-secret": request})
    data = answer[2]
    check(answer, made, (0x85 if uv else 0x81) | made.flags & COPYABLE)
    return protocol.decrypt(shared, cbor.decode(data[37:])["hmac-secret"])


def secrets(link):
    ctap = key(link)
    shown(1)
    made = make(ctap, "openssh", "ssh:", extensions={"hmac-secret": True})

    def outputs(protocol, salts, uv=True):
        return secret_of(ctap, made, protocol, salts, uv=uv)

    one, two = b"1" * 32, b"2" * 32
    both = outputs(PinProtocolV2(), one + two)
    assert len(both) == 64 and both[:32] != both[32:]
    assert outputs(PinProtocolV1(), one) == both[:32]
    assert outputs(PinProtocolV2(), two) == both[32:]
    assert outputs(PinProtocolV1(), one, uv=False) != both[:32]
    agreement = ctap.send_cbor(PIN, {1: 1, 2: 2})[1]
    ours, shared = PinProtocolV1().encapsulate(agreement)
    forged = {1: ours, 2: PinProtocolV1().encrypt(shared, one), 3: bytes(16)}
    fails(0x33, get, ctap, [made.descriptor], "ssh:", extensions={"hmac-secret": forged})


def cancels(link):
    """The person cancels: three prompts, then none for a minute."""
    ctap = key(link)
    for _ in range(3):
        shown(1)
        assert refuses(make, ctap, then=NOT_ALLOWED)[1] < 1
    assert max(refuses(make, ctap, then=NOT_ALLOWED)) < 1
    assert fails(DENIED, ctap.send_cbor, SELECT) < 1


def abandoned(link):
    """The program cancels, while another program is told to wait."""
    ctap, other = key(link), key(link)
    event, states = threading.Event(), []

    def waits(state):
        states.append(int(state))
        if int(state) == 2:
            shown(1)
            busy = bytes.fromhex("00000002") + b"\x90\x00\x01\x04"
            link.write_packet(busy.ljust(64, b"\0"))
            packet = link.socket.recv(65)
            while packet[:4] != b"\0\0\0\2":
                packet = link.socket.recv(65)
            assert packet[4] == 0xBF and packet[7] == BUSY, packet.hex()
            event.set()

    begin = time.monotonic()
    fails(CANCELED, make, ctap, event=event, on_keepalive=waits)
    assert 2 in states and time.monotonic() - begin < 5
    other.send_cbor(INFO)


def refused(link):
    """No prompt is possible."""
    assert max(refuses(make, key(link), then=NOT_ALLOWED)) < 1


def failed(link):
    shown(1)
    assert refuses(make, key(link), then=INVALID)[1] < 1


def blocked(link):
    """Wrong passwords, until none is taken for some time."""
    ctap = key(link)
    for count in range(20):
        hash = os.urandom(32)
        try:
            shown(1)
            make(ctap, hash=hash)
        except CtapError as error:
            assert error.code == DENIED, error
        try:
            make(ctap, hash=hash)
        except CtapError as error:
            if error.code == BLOCKED:
                return
            assert error.code == INVALID, error
    raise AssertionError("passwords are never delayed")


def unanswered(link):
    """Nobody answers the prompt; meanwhile the program is told to wait."""
    link.restart("--timeout", "1")
    states = []
    shown(1)
    seconds = fails(TIMED_OUT, make, key(link), on_keepalive=lambda state: states.append(int(state)))
    assert 2 in states and 1 <= seconds < 2, (seconds, states)


def exports(link):
    """Exportable passkeys leave in a sealed file and come back; others stay."""
    def control(status, *words):
        done = subprocess.run([link.programs + "/localauthctl", "passkeys", *words, "--bus", link.bus],
                              capture_output=True, text=True)
        assert done.returncode == status, (words, done)
        return done.stdout + done.stderr

    def listed():
        return json.loads(control(0, "list", "--json"))

    pair, other, file = (f"{link.folder}/{name}" for name in ["pair", "other", "file"])
    for name in [pair, other]:
        subprocess.run(["openssl", "genpkey", "-algorithm", "X25519", "-out", name], check=True)
        subprocess.run(["openssl", "pkey", "-in", name, "-pubout", "-out", name + ".pub"], check=True)
    ctap = key(link)
    shown(1)
    bob = make(ctap, "bob", user=b"2")
    assert "No passkey can be exported." in control(1, "export", "--public-key", pair + ".pub")
    link.restart("--exportable")
    ctap = key(link)
    shown(1)
    ann = make(ctap, extensions={"credProtect": 3, "hmac-secret": True})
    assert ann.flags & COPYABLE and not bob.flags & COPYABLE
    secret = secret_of(ctap, ann, PinProtocolV2(), b"1" * 32, SITE)
    assert [passkey["exportable"] for passkey in listed()] == [False, True]
    # A file without a public key costs no prompt.
    assert "no X25519 key" in control(1, "export", "--public-key", pair)
    shown(1)
    said = control(0, "export", "--public-key", pair + ".pub", "--to", file)
    assert "Exported 1 passkey." in said and "1 passkey can't be exported" in said, said
    with open(file) as text:
        assert text.readline() == "-----BEGIN LOCALAUTH PASSKEYS-----\n"
    control(0, "remove", listed()[1]["id"])
    assert len(listed()) == 1
    assert "do not open" in control(1, "import", "--from", file, "--private-key", other)
    assert control(0, "import", "--from", file, "--private-key", pair) == "Imported 1 passkey.\n"
    assert "was here already" in control(0, "import", "--from", file, "--private-key", pair)
    for name in [pair, other, pair + ".pub", other + ".pub", file]:
        os.unlink(name)
    assert secret_of(ctap, ann, PinProtocolV2(), b"1" * 32, SITE) == secret
    shown(1)
    check(get(ctap, [bob.descriptor]), bob, 0x05)


def verified(link):
    shown(1)
    assert make(key(link)).flags == 0x45


def unknown(link):
    """A site without a passkey waits as an untouched key does, without a prompt."""
    ctap = key(link)
    event = threading.Event()
    fails(CANCELED, get, ctap, event=event, on_keepalive=lambda state: int(state) == 2 and event.set())
    fails(NONE, get, ctap, [{"id": b"other", "type": "public-key"}], up=False)
    event = threading.Event()
    fails(CANCELED, make, ctap, site=".dummy", event=event, on_keepalive=lambda _: event.set())


def hostile(link):
    ctap = key(link)
    for request, code in [
        (b"\x01", 0x12), (b"\x01\xa0", 0x14), (b"\x01\x80", 0x11), (b"\x02\xa1\x01\x18\x01", 0x12),
        (b"\x02\xa2\x01\x61a\x01\x61b", 0x12), (b"\x40", 0x01), (b"\x01\xa1\x01\xbf\xff", 0x12),
        (b"\x02\xa2\x01\x01\x02\x41\x01", 0x11), (b"\x06\xa1\x02\x01", 0x3E),
    ]:
        answer = ctap.device.call(0x10, request)
        assert answer == bytes([code]), (request.hex(), answer.hex())
    fails(0x26, ctap.send_cbor, MAKE, {1: HASH, 2: {"id": SITE}, 3: {"id": b"1"}, 4: KINDS[:1]})
    fails(0x2C, ctap.send_cbor, MAKE, {1: HASH, 2: {"id": SITE}, 3: {"id": b"1"}, 4: KINDS, 7: {"up": False}})
    assert ctap.device.ping(bytes(3000)) == bytes(3000)


if __name__ == "__main__":
    link = Link(*sys.argv[2:])
    try:
        globals()[sys.argv[1]](link)
    finally:
        link.end()
