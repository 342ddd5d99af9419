#!/usr/bin/env python3
"""Authenticates the user, and shows the progress.

Needs python3-dbus-next.  ./evaluate.py [system | session | ADDRESS]
"""

import asyncio
import sys

from dbus_next import BusType, Message, MessageType, Variant
from dbus_next.aio import MessageBus

SERVICE = "org.localauth.Authentication1"
PATH = "/org/localauth/Authentication1"


async def connect(where):
    if where == "system":
        return await MessageBus(bus_type=BusType.SYSTEM).connect()
    if where == "session":
        return await MessageBus(bus_type=BusType.SESSION).connect()
    return await MessageBus(bus_address=where).connect()


async def main(where):
    bus = await connect(where)

    # Ignore events from other senders: any program can send a signal with this interface, but the
    # bus sets the sender.
    reply = await bus.call(Message(
        destination="org.freedesktop.DBus", path="/org/freedesktop/DBus",
        interface="org.freedesktop.DBus", member="GetNameOwner",
        signature="s", body=[SERVICE]))
    if reply.message_type == MessageType.ERROR:
        print("The service is not running:", reply.body[0], file=sys.stderr)
        return 3
    owner = reply.body[0]

    # Choose the serial here to recognise the call's events: their detail "call" is the serial of
    # the Evaluate message.
    call = Message(
        destination=owner, path=PATH, interface=SERVICE, member="Evaluate",
        signature="usa{sv}",
        body=[2, "show how a Python program asks", {"timeout": Variant("t", 60_000)}],
        serial=bus.next_serial())

    def progress(message):
        if (message.message_type == MessageType.SIGNAL and message.sender == owner
                and message.interface == SERVICE and message.member == "Event"):
            kind, detail = message.body
            if detail["call"].value == call.serial:
                shown = {k: v.value for k, v in detail.items() if k != "call"}
                print(kind, shown or "", file=sys.stderr)

    bus.add_message_handler(progress)

    # The reply of this call is the answer. Events are progress, never the verdict.
    reply = await bus.call(call)
    if reply.message_type == MessageType.ERROR:
        print(f"Not granted: {reply.body[0]} ({reply.error_name})", file=sys.stderr)
        return 1
    print("It is you:", {k: v.value for k, v in reply.body[0].items()})
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "session")))
