#!/usr/bin/python3
"""Authenticates the user, and shows the progress.

    evaluate.py [BUS]

BUS is system (the default), session or an address. Needs python3-gi.
Exit status: 0 yes, 1 no, 3 the service did not answer.
"""
import sys

from gi.repository import Gio, GLib

SERVICE = "org.localauth.Authentication1"
PATH = "/org/localauth/Authentication1"
BIOMETRICS_OR_PASSWORD = 2


def connect(where):
    if where in ("system", "session"):
        return Gio.bus_get_sync(getattr(Gio.BusType, where.upper()))
    flags = Gio.DBusConnectionFlags
    return Gio.DBusConnection.new_for_address_sync(
        where, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION)


def main(where="system"):
    bus, loop, status = connect(where), GLib.MainLoop(), 1

    def progress(_bus, _sender, _path, _interface, _member, arguments):
        kind, detail = arguments.unpack()
        print(kind, detail, file=sys.stderr)

    def answered(_bus, reply):
        nonlocal status
        try:
            print("It is you:", bus.call_finish(reply).unpack()[0])
            status = 0
        except GLib.Error as error:
            name = Gio.DBusError.get_remote_error(error) or "no answer"
            status = 1 if name.startswith("org.localauth.") else 3
            sentence = error.message.removeprefix(f"GDBus.Error:{name}: ")
            print(f"Not granted: {sentence} ({name})", file=sys.stderr)
        loop.quit()

    # The bus delivers events to this connection only. An event is progress, never the verdict.
    bus.signal_subscribe(SERVICE, SERVICE, "Event", PATH, None, Gio.DBusSignalFlags.NONE, progress)
    # The bus starts the service. A person answers, so the call has no timeout (GLib.MAXINT); the
    # option `timeout`, in milliseconds, is the deadline.
    question = (BIOMETRICS_OR_PASSWORD, "show how a Python program asks",
                {"timeout": GLib.Variant("t", 60_000)})
    bus.call(SERVICE, PATH, SERVICE, "Evaluate", GLib.Variant("(usa{sv})", question),
             GLib.VariantType("(a{sv})"), Gio.DBusCallFlags.NONE, GLib.MAXINT, None, answered)
    loop.run()
    return status


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except GLib.Error as error:
        print("No bus:", error.message, file=sys.stderr)
        sys.exit(3)
