#!/usr/bin/env python3
"""An app that authenticates the user, and keeps a secret that only this user can read.

    app.py BUS ask      authenticates; the exit status is the answer
    app.py BUS keep     stores the secret from standard input
    app.py BUS show     authenticates, and writes the secret to standard output

BUS is system, session or an address. Needs python3-dbus-next and python3-cryptography.
"""

import asyncio
import hmac
import sys

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from dbus_next import BusType, Message, MessageType, Variant
from dbus_next.aio import MessageBus

SERVICE = "org.localauth.Authentication1"
MANAGER = "/org/localauth/Authentication1"
CONTEXT = "org.localauth.Context1"
KEYCHAIN = "org.localauth.Keychain1"
ITEM = {"class": Variant("s", "genp"), "svce": Variant("s", "example-app"),
        "acct": Variant("s", "python")}
USER_PRESENCE = 1  # reading needs biometry or the passcode
PATH = "/org/localauth/Keychain1"


class Refused(Exception):
    def __init__(self, name, message):
        super().__init__(message)
        self.name = name


async def connect(where):
    kind = {"system": BusType.SYSTEM, "session": BusType.SESSION}.get(where)
    place = {"bus_type": kind} if kind else {"bus_address": where}
    return await MessageBus(**place).connect()


async def call(bus, destination, path, interface, member, signature="", *body):
    # Without a timeout, because a person answers. The service has its own timeout.
    reply = await bus.call(Message(destination=destination, path=path, interface=interface,
                                   member=member, signature=signature, body=list(body)))
    if reply.message_type == MessageType.ERROR:
        raise Refused(reply.error_name, reply.body[0] if reply.body else "")
    return reply.body[0] if reply.body else None


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


def progress(owner, context):
    """Shows progress, which is never the verdict. Events from other senders don't count."""
    def show(message):
        if (message.message_type == MessageType.SIGNAL and message.sender == owner
                and message.path == context and message.member == "Event"):
            kind, detail = message.body
            if kind == "no-match":
                print("Not recognized, attempts left:", detail["attempts-left"].value, flush=True)
    return show


async def run(bus, verb):
    owner = await call(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                       "org.freedesktop.DBus", "GetNameOwner", "s", SERVICE)
    if verb == "keep":
        key = await call(bus, owner, PATH, "org.freedesktop.DBus.Properties", "Get", "ss",
                         KEYCHAIN, "SealingKey")
        secret = seal(sys.stdin.buffer.read(), key.value, bus.unique_name)
        sealed = {"sealed": Variant("b", True)}
        try:
            await call(bus, owner, PATH, KEYCHAIN, "Add", "a{sv}aya{sv}a{sv}", ITEM, secret,
                       {"flags": Variant("t", USER_PRESENCE)}, sealed)
        except Refused as refusal:
            if not refusal.name.endswith(".Duplicate"):
                raise
            found = await call(bus, owner, PATH, KEYCHAIN, "Search", "a{sv}a{sv}", ITEM, {})
            await call(bus, owner, PATH, KEYCHAIN, "SetSecret", "saya{sv}",
                       found[0]["id"].value, secret, sealed)
        print("Kept.")
        return
    # A context keeps its success, so reading the secret needs no second prompt.
    context = await call(bus, owner, MANAGER, SERVICE, "CreateContext", "a{sv}", {})
    bus.add_message_handler(progress(owner, context))
    result = await call(bus, owner, context, CONTEXT, "Evaluate", "usa{sv}", 2,
                        "show your secret" if verb == "show" else "go on",
                        {"timeout": Variant("t", 60_000)})
    if verb == "ask":
        print("It is you, by", result["mechanism"].value)
        return
    found = await call(bus, owner, PATH, KEYCHAIN, "Search", "a{sv}a{sv}", ITEM, {})
    if not found:
        raise Refused("org.localauth.Keychain1.Error.NotFound", "Nothing is kept.")
    key = X25519PrivateKey.generate()
    options = {"context": Variant("o", context), "seal-to": Variant("ay", raw(key))}
    sealed = await call(bus, owner, PATH, KEYCHAIN, "Read", "ssa{sv}", found[0]["id"].value,
                        "show your secret", options)
    sys.stdout.buffer.write(unseal(sealed, key, bus.unique_name))


async def main(where, verb):
    try:
        await run(await connect(where), verb)
    except Refused as refusal:
        if refusal.name == "org.localauth.Error.UserCancel":
            print("Canceled.", file=sys.stderr)
        else:
            print(f"Refused: {refusal} ({refusal.name})", file=sys.stderr)
        return 1
    return 0


if len(sys.argv) != 3 or sys.argv[2] not in ("ask", "keep", "show"):
    sys.exit(__doc__)
sys.exit(asyncio.run(main(*sys.argv[1:])))
