#!/usr/bin/python3
"""An app that authenticates the user, and keeps a secret that only this user can read.

    app.py ask [BUS]      authenticates; the exit status is the answer
    app.py keep [BUS]     stores the secret from standard input
    app.py show [BUS]     authenticates, and writes the secret to standard output

BUS is system (the default), session or an address. Needs python3-gi and python3-cryptography.
"""
import hmac
import sys

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from gi.repository import Gio, GLib

SERVICE = "org.localauth.Authentication1"
MANAGER = "/org/localauth/Authentication1"
CONTEXT = "org.localauth.Context1"
KEYCHAIN = "org.localauth.Keychain1"
PATH = "/org/localauth/Keychain1"
ITEM = {"class": GLib.Variant("s", "genp"), "svce": GLib.Variant("s", "example-app"),
        "acct": GLib.Variant("s", "python")}
USER_PRESENCE = 1  # reading needs biometry or the password


def connect(where):
    if where in ("system", "session"):
        return Gio.bus_get_sync(getattr(Gio.BusType, where.upper()))
    flags = Gio.DBusConnectionFlags
    return Gio.DBusConnection.new_for_address_sync(
        where, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION)


def call(bus, path, interface, member, signature, *body):
    """Calls the service, which the bus starts, and waits for as long as a person takes."""
    loop, replies = GLib.MainLoop(), []

    def answered(_bus, reply):
        replies.append(reply)
        loop.quit()

    bus.call(SERVICE, path, interface, member, GLib.Variant(f"({signature})", body), None,
             Gio.DBusCallFlags.NONE, GLib.MAXINT, None, answered)
    loop.run()
    values = bus.call_finish(replies[0]).unpack()
    return values[0] if values else None


def error_name(error):
    return Gio.DBusError.get_remote_error(error) or "no answer"


def extract(suite, salt, label, material):
    return hmac.digest(salt, b"HPKE-v1" + suite + label + material, "sha256")


def expand(suite, secret, label, info, size):
    text = size.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info + b"\1"
    return hmac.digest(secret, text, "sha256")[:size]


def cipher(shared, point, recipient):
    """HPKE (RFC 9180), base mode: X25519, HKDF-SHA256, AES-256-GCM. Returns cipher and nonce."""
    kem, suite = b"KEM\0\x20", b"HPKE\0\x20\0\1\0\2"
    secret = extract(kem, b"", b"eae_prk", shared)
    secret = expand(kem, secret, b"shared_secret", point + recipient, 32)
    context = (b"\0" + extract(suite, b"", b"psk_id_hash", b"")
               + extract(suite, b"", b"info_hash", KEYCHAIN.encode()))
    secret = extract(suite, secret, b"secret", b"")
    key = expand(suite, secret, b"key", context, 32)
    return AESGCM(key), expand(suite, secret, b"base_nonce", context, 12)


def raw(key):
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def seal(secret, recipient, name):
    """Seals a secret to the service; `name` is this process's unique name on the bus."""
    key = X25519PrivateKey.generate()
    shared = key.exchange(X25519PublicKey.from_public_bytes(recipient))
    aes, nonce = cipher(shared, raw(key), recipient)
    return raw(key) + aes.encrypt(nonce, secret, name.encode())


def unseal(value, key, name):
    """Opens a secret that the service sealed to `key`."""
    point, text = value[:32], value[32:]
    aes, nonce = cipher(key.exchange(X25519PublicKey.from_public_bytes(point)), point, raw(key))
    return aes.decrypt(nonce, text, name.encode())


def show_event(_bus, _sender, _path, _interface, _member, arguments):
    """Shows progress, which is never the verdict."""
    kind, detail = arguments.unpack()
    if kind == "no-match":
        print("Not recognized, attempts left:", detail["attempts-left"], flush=True)


def keep(bus):
    key = bytes(call(bus, PATH, "org.freedesktop.DBus.Properties", "Get", "ss",
                     KEYCHAIN, "SealingKey"))
    secret = seal(sys.stdin.buffer.read(), key, bus.get_unique_name())
    sealed = {"sealed": GLib.Variant("b", True)}
    try:
        call(bus, PATH, KEYCHAIN, "Add", "a{sv}aya{sv}a{sv}", ITEM, secret,
             {"flags": GLib.Variant("t", USER_PRESENCE)}, sealed)
    except GLib.Error as error:
        if error_name(error) != "org.localauth.Keychain1.Error.Duplicate":
            raise
        found = call(bus, PATH, KEYCHAIN, "Search", "a{sv}a{sv}", ITEM, {})
        call(bus, PATH, KEYCHAIN, "SetSecret", "saya{sv}", found[0]["id"], secret, sealed)
    print("Kept.")


def ask(bus, reason):
    """Returns a context with a success, which opens secrets without a second prompt."""
    context = call(bus, MANAGER, SERVICE, "CreateContext", "a{sv}", {})
    bus.signal_subscribe(SERVICE, CONTEXT, "Event", context, None, Gio.DBusSignalFlags.NONE,
                         show_event)
    result = call(bus, context, CONTEXT, "Evaluate", "usa{sv}", 2, reason,
                  {"timeout": GLib.Variant("t", 60_000)})
    return context, result["mechanism"]


def show(bus):
    context, _ = ask(bus, "show your secret")
    found = call(bus, PATH, KEYCHAIN, "Search", "a{sv}a{sv}", ITEM, {})
    if not found:
        sys.exit("Nothing is kept.")
    key = X25519PrivateKey.generate()
    options = {"context": GLib.Variant("o", context), "seal-to": GLib.Variant("ay", raw(key))}
    sealed = bytes(call(bus, PATH, KEYCHAIN, "Read", "ssa{sv}", found[0]["id"],
                        "show your secret", options))
    sys.stdout.buffer.write(unseal(sealed, key, bus.get_unique_name()))


def main(verb, where="system"):
    try:
        bus = connect(where)
        if verb == "ask":
            print("It is you, by", ask(bus, "go on")[1])
        elif verb == "keep":
            keep(bus)
        else:
            show(bus)
    except GLib.Error as error:
        name = error_name(error)
        if name == "org.localauth.Error.UserCancel":
            print("Canceled.", file=sys.stderr)
        else:
            sentence = error.message.removeprefix(f"GDBus.Error:{name}: ")
            print(f"Refused: {sentence} ({name})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] not in (["ask"], ["keep"], ["show"]) or len(sys.argv) > 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
