#!/usr/bin/python3
"""Doorbell: a sensor for the authentication service. Needs python3-gi.

    sensor.py [--bus system|session|ADDRESS]

Your hardware replaces Sensor.line and Sensor.plug. Until then a touch is a line on standard input, `match` or
`no-match`; `unplug` and `plug` take the device away and give it back. The rest is the contract of every sensor:
man 5 org.localauth.Sensor1.
"""
import os
import signal
import sqlite3
import sys
import time
import uuid

from gi.repository import Gio, GLib

SENSOR = "org.localauth.Sensor1"
SERVICE = "org.localauth.Authentication1"
NAME = SENSOR + ".Doorbell"
PATH = "/org/localauth/Sensor1"
HOST_PATH = "/org/localauth/Authentication1"
STAGES = 3  # touches of an enrolment
ROOM = 4  # templates of a user

FOLDER = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(FOLDER, SENSOR + ".xml")) as file:
    INTERFACE = Gio.DBusNodeInfo.new_for_xml(file.read()).interfaces[0]


class Fault(Exception):
    """An error for the caller: the last part of its name, or the whole name."""


class Templates:
    """The enrolled templates: a file that survives a crash, or memory without $STATE_DIRECTORY."""

    def __init__(self, folder):
        place = folder + "/templates" if folder else ":memory:"
        self.database = sqlite3.connect(place, isolation_level=None)
        self.run("CREATE TABLE IF NOT EXISTS templates (uid, id, label, created)")

    def run(self, statement, *values):
        try:
            return self.database.execute(statement, values)
        except sqlite3.Error:
            raise Fault("Failed")

    def of(self, uid):
        return self.run("SELECT id, label, created FROM templates WHERE uid = ?", uid).fetchall()

    def add(self, uid, label):
        template = uuid.uuid4().hex
        self.run("INSERT INTO templates VALUES (?, ?, ?, ?)", uid, template, label, int(time.time()))
        return template

    def rename(self, uid, template, label):
        """Returns the number of renamed templates."""
        changed = self.run("UPDATE templates SET label = ? WHERE uid = ? AND id = ?", label, uid, template)
        return changed.rowcount

    def remove(self, uid, template=None):
        """Removes one template or all. Returns how many there were."""
        if template is None:
            return self.run("DELETE FROM templates WHERE uid = ?", uid).rowcount
        return self.run("DELETE FROM templates WHERE uid = ? AND id = ?", uid, template).rowcount


class Operation:
    """A running Verify or Enroll. Its call is answered at the end."""

    def __init__(self, call, number, seen):
        self.call = call
        self.caller = call.get_sender()
        self.number = number
        self.seen = seen  # called with each touch
        self.looks = True  # False while the service counts a miss
        self.count = 0  # misses, or finished stages


class Sensor:
    """The object on the bus. Methods in capitals are those of the interface.

    A method returns the values of its reply; None if the reply comes at the end of an operation.
    """

    def __init__(self, bus):
        self.bus = bus
        self.templates = Templates(os.environ.get("STATE_DIRECTORY"))
        self.operation = None
        self.early = []  # cancelled before they began
        self.present = True
        bus.register_object(PATH, INTERFACE, self.called, self.property, None)
        bus.signal_subscribe("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged",
                             None, None, 0, self.left)

    # The bus.

    def property(self, bus, caller, path, interface, name):
        values = {
            "ProtocolVersions": [1],
            "Description": "Doorbell",
            "BiometryType": 1,
            "Strength": "convenience",
            "Present": self.present,
            "Unavailability": "" if self.present else "no-hardware",
            "EnrollStages": STAGES,
            "MaxTemplates": ROOM,
            "Instructions": {"en": "Press the button"},
        }
        return GLib.Variant(INTERFACE.lookup_property(name).signature, values[name])

    def called(self, bus, caller, path, interface, member, arguments, call):
        method = INTERFACE.lookup_method(member)
        values = arguments.unpack()
        try:
            if caller != self.owner(SERVICE):
                raise Fault("org.freedesktop.DBus.Error.AccessDenied")
            self.check(method, values)
            # Learn and its like may be missing.
            if not hasattr(self, member):
                raise Fault("org.freedesktop.DBus.Error.UnknownMethod")
            reply = getattr(self, member)(call, *values)
        except Fault as fault:
            name = str(fault) if "." in str(fault) else f"{SENSOR}.Error.{fault}"
            call.return_dbus_error(name, "The sensor refuses this call.")
            return
        if reply is not None:
            kinds = "".join(argument.signature for argument in method.out_args)
            call.return_value(GLib.Variant(f"({kinds})", reply))

    def check(self, method, values):
        for argument, value in zip(method.in_args, values):
            is_long = isinstance(value, str) and len(value.encode()) > 256
            if is_long or (argument.name == "uid" and value == 2**32 - 1):
                raise Fault("org.freedesktop.DBus.Error.InvalidArgs")

    def ask_bus(self, member, kinds, *values):
        return self.bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                  member, GLib.Variant(kinds, values), None, 0, -1, None).unpack()[0]

    def owner(self, name):
        """Returns the owner of a bus name, or None. The bus is asked each time: a signal can get lost."""
        try:
            return self.ask_bus("GetNameOwner", "(s)", name)
        except GLib.Error:
            return None

    def left(self, bus, sender, path, interface, member, arguments):
        """Ends the operation of a caller that left the bus."""
        if self.operation and arguments.unpack()[0] == self.operation.caller:
            self.end(error="Canceled")

    def send(self, member, kinds, *values, to=None, interface=SENSOR):
        self.bus.emit_signal(to, PATH, interface, member, GLib.Variant(kinds, values))

    def tell(self, kind, **detail):
        """Sends an Event to the caller of the operation."""
        operation = self.operation
        self.send("Event", "(tsa{sv})", operation.number, kind, detail, to=operation.caller)

    # Operations.

    def begin(self, call, number, seen):
        running = self.operation
        # The signal that its caller left can get lost.
        if running and not self.owner(running.caller):
            self.end(error="Canceled")
        if self.operation:
            raise Fault("Busy")
        if (number, call.get_sender()) in self.early:
            raise Fault("Canceled")
        if not self.present:
            raise Fault("Disconnected")
        self.operation = Operation(call, number, seen)
        self.tell("ready")

    def end(self, template="", error=None):
        call, self.operation = self.operation.call, None
        if error:
            call.return_dbus_error(f"{SENSOR}.Error.{error}", "The operation ended without a result.")
        else:
            call.return_value(GLib.Variant("(s)", (template,)))

    def Verify(self, call, number, uid, options):
        if not self.templates.of(uid):
            raise Fault("NoTemplates")
        self.begin(call, number, lambda matches: self.compared(uid, matches))

    def compared(self, uid, matches):
        found = self.templates.of(uid)
        if matches and found:
            self.end(found[0][0])
            return
        operation = self.operation
        operation.looks = False
        operation.count += 1
        self.miss(operation)

    def miss(self, operation):
        """Reports a miss. The sensor looks again when the service has counted it."""
        if operation is self.operation:
            miss = GLib.Variant("(tu)", (operation.number, operation.count))
            self.bus.call(operation.caller, HOST_PATH, "org.localauth.SensorHost1", "NoMatch", miss,
                          GLib.VariantType("(u)"), 0, 5000, None, self.counted, operation)
        return False  # GLib's timer ends

    def counted(self, bus, result, operation):
        try:
            left = bus.call_finish(result).unpack()[0]
        except GLib.Error:
            # The service counts a number once, however often it is reported.
            GLib.timeout_add(250, self.miss, operation)
            return
        operation.looks = left > 0

    def Enroll(self, call, number, uid, label, options):
        if len(self.templates.of(uid)) >= ROOM:
            raise Fault("Full")
        self.begin(call, number, lambda matches: self.captured(uid, label, matches))

    def captured(self, uid, label, matches):
        if not matches:
            self.tell("hint", hint=GLib.Variant("s", "lift-and-retry"))
            return
        operation = self.operation
        operation.count += 1
        self.tell("stage", stage=GLib.Variant("u", operation.count), stages=GLib.Variant("i", STAGES))
        if operation.count < STAGES:
            return
        try:
            template = self.templates.add(uid, label)
        except Fault as fault:
            self.end(error=fault)
            return
        self.end(template)
        self.send("TemplatesChanged", "(u)", uid)

    def Cancel(self, call, number):
        running = self.operation
        key = (number, call.get_sender())
        if running and (running.number, running.caller) == key:
            self.end(error="Canceled")
        else:
            # It can arrive before its operation.
            self.early = (self.early + [key])[-16:]
        return ()

    # Everything else.

    def Health(self, call):
        return "ok", ""

    def ListTemplates(self, call, uid):
        return (self.templates.of(uid),)

    def RenameTemplate(self, call, uid, template, label):
        self.require(self.templates.rename(uid, template, label))
        return ()

    def RemoveTemplate(self, call, uid, template):
        self.require(self.removed(uid, self.templates.remove(uid, template)))
        return ()

    def RemoveAllTemplates(self, call, uid):
        return (self.removed(uid, self.templates.remove(uid)),)

    def removed(self, uid, count):
        if count:
            self.send("TemplatesChanged", "(u)", uid)
        return count

    def require(self, count):
        if count == 0:
            raise Fault("NoTemplates")

    # The hardware.

    def line(self, descriptor, condition):
        text = os.read(descriptor, 4096).decode(errors="replace")
        for word in text.split():
            if word in ("match", "no-match") and self.operation and self.operation.looks:
                self.operation.seen(word == "match")
            elif word in ("plug", "unplug"):
                self.plug(word == "plug")
        return bool(text)  # False at the end of the input

    def plug(self, present):
        self.present = present
        names = ("Present", "Unavailability")
        changed = {name: self.property(None, None, None, None, name) for name in names}
        self.send("PropertiesChanged", "(sa{sv}as)", SENSOR, changed, [],
                  interface="org.freedesktop.DBus.Properties")
        if self.operation and not present:
            self.end(error="Disconnected")


def connect():
    """Connects to the bus of the option --bus; by default root's is the system bus."""
    place = "session" if os.getuid() else "system"
    if "--bus" in sys.argv[:-1]:
        place = sys.argv[sys.argv.index("--bus") + 1]
    if place in ("system", "session"):
        place = Gio.dbus_address_get_for_bus_sync(getattr(Gio.BusType, place.upper()), None)
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    return Gio.DBusConnection.new_for_address_sync(place, flags, None, None)


def main():
    sensor = Sensor(connect())
    loop = GLib.MainLoop()
    GLib.unix_signal_add(GLib.PRIORITY_HIGH, signal.SIGTERM, loop.quit)
    GLib.io_add_watch(0, GLib.IO_IN, sensor.line)
    # The object is served first, then the name is taken. 4: without a queue; 1: taken.
    if sensor.ask_bus("RequestName", "(su)", NAME, 4) != 1:
        sys.exit(f"{NAME} is taken.")
    loop.run()


main()
