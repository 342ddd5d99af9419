#!/usr/bin/env python3
"""An app: asks who is there, and keeps a secret that is read by that person alone.

    app.py BUS ask      asks; the exit status is the answer
    app.py BUS keep     keeps what comes on standard input
    app.py BUS show     writes the secret to standard output, after asking

BUS is system, session or an address. Needs python3-dbus-next.
"""

import asyncio
import fcntl
import os
import socket
import sys

from dbus_next import BusType, Message, MessageType, Variant
from dbus_next.aio import MessageBus

SERVICE = "org.localauth.Authentication1"
MANAGER = "/org/localauth/Authentication1"
CONTEXT = "org.localauth.Context1"
KEYCHAIN = "org.localauth.Keychain1"
ITEM = {"class": Variant("s", "genp"), "svce": Variant("s", "example-app"),
        "acct": Variant("s", "python")}
USER_PRESENCE = 1  # reading needs biometry or the passcode
SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


class Refused(Exception):
    def __init__(self, name, message):
        super().__init__(message)
        self.name = name


async def connect(where):
    kind = {"system": BusType.SYSTEM, "session": BusType.SESSION}.get(where)
    place = {"bus_type": kind} if kind else {"bus_address": where}
    return await MessageBus(negotiate_unix_fd=True, **place).connect()


async def call(bus, destination, path, interface, member, signature="", *body, fds=()):
    # Without a time-out of its own: a person answers, and the service's deadline counts.
    reply = await bus.call(Message(destination=destination, path=path, interface=interface,
                                   member=member, signature=signature, body=list(body),
                                   unix_fds=list(fds)))
    if reply.message_type == MessageType.ERROR:
        raise Refused(reply.error_name, reply.body[0] if reply.body else "")
    return reply.body[0] if reply.body else None


def sealed(secret):
    """A secret for the service: in memory that can't change any more."""
    memory = os.memfd_create("secret", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(memory, secret)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, SEALS)
    return memory


def progress(owner, context):
    """Events are news, never the verdict; they count from the service's own connection alone."""
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
    keychain = "/org/localauth/Keychain1"
    if verb == "keep":
        memory = sealed(sys.stdin.buffer.read())
        try:
            await call(bus, owner, keychain, KEYCHAIN, "Add", "a{sv}ha{sv}a{sv}", ITEM, 0,
                       {"flags": Variant("t", USER_PRESENCE)}, {}, fds=[memory])
        except Refused as refusal:
            if not refusal.name.endswith(".Duplicate"):
                raise
            found = await call(bus, owner, keychain, KEYCHAIN, "Search", "a{sv}a{sv}", ITEM, {})
            await call(bus, owner, keychain, KEYCHAIN, "SetSecret", "sha{sv}",
                       found[0]["id"].value, 0, {}, fds=[memory])
        print("Kept.")
        return
    # A context keeps its success: what is read with it needs no second prompt.
    context = await call(bus, owner, MANAGER, SERVICE, "CreateContext", "a{sv}", {})
    bus.add_message_handler(progress(owner, context))
    result = await call(bus, owner, context, CONTEXT, "Evaluate", "usa{sv}", 2,
                        "show your secret" if verb == "show" else "go on",
                        {"timeout": Variant("t", 60_000)})
    if verb == "ask":
        print("It is you, by", result["mechanism"].value)
        return
    found = await call(bus, owner, keychain, KEYCHAIN, "Search", "a{sv}a{sv}", ITEM, {})
    if not found:
        raise Refused("org.localauth.Keychain1.Error.NotFound", "Nothing is kept.")
    # Whoever receives a secret makes the pair: a monitor of the bus can't read from this end.
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    await call(bus, owner, keychain, KEYCHAIN, "Read", "shsa{sv}", found[0]["id"].value, 0,
               "show your secret", {"context": Variant("o", context)}, fds=[theirs.fileno()])
    theirs.close()
    sys.stdout.buffer.write(ours.recv(65536))


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
