#!/usr/bin/python3
"""Doorbell: a sensor for the authentication service (needs python3-gi).

./sensor.py [--bus system|session|ADDRESS]. Replace Sensor.line by your hardware. Until then the lines
match and no-match on standard input are touches; unplug and plug remove and restore the device."""
import os, signal, sqlite3, sys, time, uuid
from gi.repository import Gio, GLib
DAEMON, SENSOR = "org.localauth.Authentication1", "org.localauth.Sensor1"
NAME, PATH, HOST, STAGES = SENSOR + ".Doorbell", "/org/localauth/Sensor1", "/org/localauth/Authentication1", 3
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), SENSOR + ".xml")) as file:
    INTERFACE = Gio.DBusNodeInfo.new_for_xml(file.read()).interfaces[0]

class Fault(Exception): pass  # the name of an error

class Sensor:
    def __init__(self, bus):
        self.bus, self.early, self.call, self.present, folder = bus, [], None, True, os.environ.get("STATE_DIRECTORY")
        self.kept = sqlite3.connect(folder + "/templates" if folder else ":memory:", isolation_level=None)
        self.sql("CREATE TABLE IF NOT EXISTS templates (uid, id, label, created)")
        bus.register_object(PATH, INTERFACE, self.asked, self.property, None)
        bus.signal_subscribe("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", None, None, 0, self.left)
    def sql(self, words, *values):
        try: return self.kept.execute(words, values)
        except sqlite3.Error: raise Fault("Failed")
    def property(self, bus, caller, path, interface, name):
        values = {"ProtocolVersions": [1], "Description": "Doorbell", "BiometryType": 1, "Strength": "convenience",
                  "Present": self.present, "Unavailability": "" if self.present else "no-hardware",
                  "EnrollStages": STAGES, "Instructions": {"en": "Press the button"}, "MaxTemplates": 4}
        return GLib.Variant(INTERFACE.lookup_property(name).signature, values[name])
    def ask(self, member, kinds, *words):  # asks the bus
        return self.bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member,
                                  GLib.Variant(kinds, words), None, 0, -1, None).unpack()[0]
    def owner(self, name):  # never cached: the signal of a change can get lost
        try: return self.ask("GetNameOwner", "(s)", name)
        except GLib.Error: return None
    def left(self, *signal):  # a name lost its owner
        if self.call and signal[5].unpack()[0] == self.call.get_sender(): self.end(error="Canceled")
    def asked(self, bus, caller, path, interface, member, words, call):
        method, words = INTERFACE.lookup_method(member), words.unpack()
        try:
            if caller != self.owner(DAEMON): raise Fault("org.freedesktop.DBus.Error.AccessDenied")
            long = any(len(word.encode()) > 256 for word in words if isinstance(word, str))
            if long or ("uid", 2**32 - 1) in zip([argument.name for argument in method.in_args], words):
                raise Fault("org.freedesktop.DBus.Error.InvalidArgs")
            answer, kinds = getattr(self, member, self.unknown)(call, *words) or (), "".join(a.signature for a in method.out_args)
            if call != self.call: call.return_value(GLib.Variant(f"({kinds})", answer))
        except Fault as fault:
            call.return_dbus_error(str(fault) if "." in str(fault) else f"{SENSOR}.Error.{fault}", "It can't be done.")
    def unknown(self, *call): raise Fault("org.freedesktop.DBus.Error.UnknownMethod")  # optional methods
    def send(self, member, kinds, *words, to=None, interface=SENSOR):
        self.bus.emit_signal(to, PATH, interface, member, GLib.Variant(kinds, words))
    def tell(self, kind, **detail): self.send("Event", "(tsa{sv})", self.number, kind, detail, to=self.call.get_sender())
    def begin(self, call, number, seen):  # one operation at a time; seen gets each touch meanwhile
        if self.call and not self.owner(self.call.get_sender()): self.end(error="Canceled")
        if self.call: raise Fault("Busy")
        if (number, call.get_sender()) in self.early: raise Fault("Canceled")
        if not self.present: raise Fault("Disconnected")
        self.call, self.number, self.seen, self.looks, self.count = call, number, seen, True, 0
        self.tell("ready")
    def end(self, template="", error=None):
        call, self.call = self.call, None
        if error: call.return_dbus_error(f"{SENSOR}.Error.{error}", "It ended without a result.")
        else: call.return_value(GLib.Variant("(s)", [template]))

    def Verify(self, call, number, uid, options):
        def seen(matches):
            if matches and (all := self.of(uid)): return self.end(all[0][0])
            self.looks, self.count = False, self.count + 1
            self.miss(call)
        if not self.of(uid): raise Fault("NoTemplates")
        self.begin(call, number, seen)
    def miss(self, call):  # repeats until the miss is counted, with touches ignored
        def counted(bus, result):
            try: self.looks = bus.call_finish(result).unpack()[0] > 0 if call == self.call else self.looks
            except GLib.Error: GLib.timeout_add(250, self.miss, call)
        if call == self.call:
            self.bus.call(call.get_sender(), HOST, "org.localauth.SensorHost1", "NoMatch", GLib.Variant(
                "(tu)", [self.number, self.count]), GLib.VariantType("(u)"), 0, 5000, None, counted)
    def Enroll(self, call, number, uid, label, options):
        def seen(matches):
            if not matches: return self.tell("hint", hint=GLib.Variant("s", "lift-and-retry"))
            self.count += 1
            self.tell("stage", stage=GLib.Variant("u", self.count), stages=GLib.Variant("i", STAGES))
            if self.count < STAGES: return
            try: self.sql("INSERT INTO templates VALUES (?, ?, ?, ?)", uid, id := uuid.uuid4().hex, label, int(time.time()))
            except Fault as fault: return self.end(error=fault)
            self.end(id)
            self.send("TemplatesChanged", "(u)", uid)
        if len(self.of(uid)) >= 4: raise Fault("Full")
        self.begin(call, number, seen)
    def Cancel(self, call, number):
        if self.call and (self.number, self.call.get_sender()) == (number, call.get_sender()): self.end(error="Canceled")
        else: self.early = (self.early + [(number, call.get_sender())])[-16:]
    def Health(self, call): return "ok", ""
    def of(self, uid): return self.sql("SELECT id, label, created FROM templates WHERE uid = ?", uid).fetchall()
    def ListTemplates(self, call, uid): return [self.of(uid)]
    def RenameTemplate(self, call, uid, id, label):
        self.known(self.sql("UPDATE templates SET label = ? WHERE uid = ? AND id = ?", label, uid, id).rowcount)
    def RemoveTemplate(self, call, uid, id): self.known(self.remove(uid, "id = ?", id))
    def RemoveAllTemplates(self, call, uid): return [self.remove(uid, "TRUE")]
    def known(self, count):
        if not count: raise Fault("NoTemplates")
    def remove(self, uid, which, *values):
        count = self.sql("DELETE FROM templates WHERE uid = ? AND " + which, uid, *values).rowcount
        if count: self.send("TemplatesChanged", "(u)", uid)
        return count

    def line(self, file, condition):  # the hardware
        for word in (words := os.read(0, 4096).decode(errors="replace").split()):
            if word in ("match", "no-match") and self.call and self.looks: self.seen(word == "match")
            if word not in ("plug", "unplug"): continue
            self.present = word == "plug"
            changed = {name: self.property(*[None] * 4, name) for name in ("Present", "Unavailability")}
            self.send("PropertiesChanged", "(sa{sv}as)", SENSOR, changed, [], interface="org.freedesktop.DBus.Properties")
            if self.call and not self.present: self.end(error="Disconnected")
        return bool(words)

where = sys.argv[sys.argv.index("--bus") + 1] if "--bus" in sys.argv[:-1] else "session" if os.getuid() else "system"
if where in ("system", "session"): where = Gio.dbus_address_get_for_bus_sync(getattr(Gio.BusType, where.upper()), None)
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
bus = Gio.DBusConnection.new_for_address_sync(where, flags, None, None)
sensor, loop = Sensor(bus), GLib.MainLoop()
GLib.unix_signal_add(GLib.PRIORITY_HIGH, signal.SIGTERM, loop.quit)
GLib.io_add_watch(0, GLib.IO_IN, sensor.line)
if sensor.ask("RequestName", "(su)", NAME, 4) != 1: sys.exit(f"{NAME} is taken.")
loop.run()
