#!/usr/bin/python3
"""Doorbell: a sensor for the authentication service (needs python3-dbus-next).

./sensor.py [--bus system|session|ADDRESS]. A touch is a line on standard input, match or no-match;
unplug and plug take its device away and give it back. Put your hardware in the place of touched().
"""
import asyncio, os, signal, sys, time, uuid
from dbus_next import BusType, ErrorType, Message, MessageType, NameFlag, RequestNameReply, Variant
from dbus_next.aio import MessageBus

DAEMON, SENSOR = "org.localauth.Authentication1", "org.localauth.Sensor1"
NAME, PATH, STAGES = SENSOR + ".Doorbell", "/org/localauth/Sensor1", 3
METHODS = {  # what goes in, what comes out
    "Verify": ("tua{sv}", "s"), "Enroll": ("tusa{sv}", "s"), "Cancel": ("t", ""),
    "ListTemplates": ("u", "a(ssx)"), "RenameTemplate": ("uss", ""), "RemoveTemplate": ("us", ""),
    "RemoveAllTemplates": ("u", "u"), "Health": ("", "ss")}
XML = f'<node><interface name="{SENSOR}">' + "".join(f'<method name="{name}"/>' for name in METHODS) + (
    '<signal name="Event"/><signal name="TemplatesChanged"/></interface></node>')

class Fault(Exception):
    def __init__(self, name, text="The sensor can't do this."):
        super().__init__(text)
        self.name = name if "." in name else f"{SENSOR}.Error.{name}"

class Operation:
    def __init__(self, number, caller):
        self.number, self.caller, self.end, self.touch = number, caller, None, None

class Sensor:
    def __init__(self, bus):
        self.bus, self.templates, self.operation, self.early, self.present = bus, {}, None, [], True

    def properties(self):
        return {"ProtocolVersions": Variant("au", [1]), "Description": Variant("s", "A doorbell"),
                "BiometryType": Variant("u", 1), "Strength": Variant("s", "convenience"), "Present": Variant("b", self.present),
                "Unavailability": Variant("s", "" if self.present else "no-hardware"), "EnrollStages": Variant("i", STAGES),
                "MaxTemplates": Variant("u", 4)}

    def receive(self, m):  # every message comes here first; True: it is dealt with
        if m.message_type == MessageType.SIGNAL and m.member == "NameOwnerChanged":
            if self.operation and m.body[0] == self.operation.caller and not m.body[2]: self.stop("Canceled")
        if m.message_type != MessageType.METHOD_CALL or m.path != PATH: return None
        if m.member == "Introspect": return Message.new_method_return(m, "s", [XML])
        if m.interface == "org.freedesktop.DBus.Properties":
            if m.member == "GetAll": return Message.new_method_return(m, "a{sv}", [self.properties()])
            if m.member == "Get" and m.signature == "ss" and m.body[1] in self.properties():
                return Message.new_method_return(m, "v", [self.properties()[m.body[1]]])
        if m.interface != SENSOR or m.member not in METHODS: return None
        if m.signature != METHODS[m.member][0]: return Message.new_error(m, ErrorType.INVALID_ARGS, "Other arguments.")
        if m.member == "Cancel" and self.operation and (self.operation.number, self.operation.caller) == (m.body[0], m.sender):
            self.stop("Canceled")  # at once: no match is reported from here on
            return Message.new_method_return(m)
        asyncio.ensure_future(self.serve(m))
        return True

    async def serve(self, m):
        try:
            if await self.owner(DAEMON) != m.sender: raise Fault(ErrorType.ACCESS_DENIED.value, "Only the service may ask.")
            if any(isinstance(x, str) and len(x.encode()) > 256 for x in m.body) or 2**32 - 1 in m.body[:2]:
                raise Fault(ErrorType.INVALID_ARGS.value, "No uid, or too long.")
            result = await getattr(self, m.member)(m, *m.body)
            await self.bus.send(Message.new_method_return(m, METHODS[m.member][1], result or []))
        except Fault as fault: await self.bus.send(Message.new_error(m, fault.name, str(fault)))

    async def owner(self, name):  # asked each time: the signal of a change can get lost
        reply = await self.bus.call(Message("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                            "GetNameOwner", signature="s", body=[name]))
        return reply.body[0] if reply.message_type == MessageType.METHOD_RETURN else None

    def signal(self, member, signature, body, to=None, interface=SENSOR):
        self.bus.send(Message(to, PATH, interface, member, MessageType.SIGNAL, signature=signature, body=body))

    def tell(self, kind, **detail): self.signal("Event", "tsa{sv}", [self.operation.number, kind, detail], self.operation.caller)

    async def run(self, m, number, body, *words):  # one operation at a time; an answer, or why there is none
        if self.operation and await self.owner(self.operation.caller) is None: self.stop("Canceled")
        while self.operation and self.operation.end: await asyncio.sleep(0)
        if self.operation: raise Fault("Busy")
        if (number, m.sender) in self.early: raise Fault("Canceled")
        if not self.present: raise Fault("Disconnected")
        self.operation = operation = Operation(number, m.sender)
        operation.task = asyncio.ensure_future(body(*words))
        await asyncio.wait([operation.task])
        self.operation = None
        if operation.end: raise Fault(operation.end)
        return operation.task.result()

    def stop(self, why):
        if self.operation and not self.operation.end:
            self.operation.end = why
            self.operation.task.cancel()

    async def touched(self):  # the next touch; what comes while nobody waits for it is none
        self.operation.touch = asyncio.get_event_loop().create_future()
        return await self.operation.touch

    async def Verify(self, m, number, uid, options):
        if not self.templates.get(uid): raise Fault("NoTemplates")
        return [await self.run(m, number, self.look, uid)]

    async def look(self, uid):
        self.tell("ready")
        attempt = 0
        while not await self.touched():
            attempt += 1
            while True:  # told until it is counted; nothing is looked at meanwhile
                call = self.bus.call(Message(self.operation.caller, "/org/localauth/Authentication1", "org.localauth.SensorHost1",
                                             "NoMatch", signature="tu", body=[self.operation.number, attempt]))
                try: reply = await asyncio.wait_for(call, 5)
                except asyncio.TimeoutError: continue
                if reply.message_type == MessageType.METHOD_RETURN: break
                await asyncio.sleep(0.25)
            if reply.body[0] == 0: await asyncio.Event().wait()  # Cancel follows
        return self.templates[uid][0][0]

    async def Enroll(self, m, number, uid, label, options):
        if len(self.templates.get(uid, [])) >= 4: raise Fault("Full")
        await self.run(m, number, self.learn)
        template = [uuid.uuid4().hex, label, int(time.time())]
        self.templates.setdefault(uid, []).append(template)
        self.signal("TemplatesChanged", "u", [uid])
        return [template[0]]

    async def learn(self):
        self.tell("ready")
        for stage in range(1, STAGES + 1):
            while not await self.touched(): self.tell("hint", hint=Variant("s", "lift-and-retry"))
            self.tell("stage", stage=Variant("u", stage), stages=Variant("i", STAGES))

    async def Cancel(self, m, number): self.early = (self.early + [(number, m.sender)])[-16:]
    async def ListTemplates(self, m, uid): return [self.templates.get(uid, [])]
    async def Health(self, m): return ["ok", ""]

    def one(self, uid, id):
        for template in self.templates.get(uid, []):
            if template[0] == id: return template
        raise Fault("NoTemplates")

    async def RenameTemplate(self, m, uid, id, label): self.one(uid, id)[1] = label

    async def RemoveTemplate(self, m, uid, id):
        self.templates[uid].remove(self.one(uid, id))
        self.signal("TemplatesChanged", "u", [uid])

    async def RemoveAllTemplates(self, m, uid):
        removed = self.templates.pop(uid, [])
        if removed: self.signal("TemplatesChanged", "u", [uid])
        return [len(removed)]

    def line(self, word):  # the hardware
        if word in ("match", "no-match") and self.operation and self.operation.touch and not self.operation.touch.done():
            self.operation.touch.set_result(word == "match")
        if word in ("plug", "unplug"):
            self.present = word == "plug"
            changed = {name: self.properties()[name] for name in ("Present", "Unavailability")}
            self.signal("PropertiesChanged", "sa{sv}as", [SENSOR, changed, []], interface="org.freedesktop.DBus.Properties")
            if not self.present: self.stop("Disconnected")

def read(sensor, loop):
    text = os.read(0, 4096)
    if not text: loop.remove_reader(0)
    for word in text.decode(errors="replace").split(): sensor.line(word)

async def main(where):
    loop, done = asyncio.get_event_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, done.set)
    kinds = {"system": BusType.SYSTEM, "session": BusType.SESSION}
    bus = await MessageBus(None if where in kinds else where, kinds.get(where, BusType.SESSION)).connect()
    sensor = Sensor(bus)
    bus.add_message_handler(sensor.receive)
    await bus.call(Message("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", signature="s",
                           body=["type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'"]))
    try: loop.add_reader(0, read, sensor, loop)
    except PermissionError: pass  # /dev/null touches nothing
    if await bus.request_name(NAME, NameFlag.DO_NOT_QUEUE) != RequestNameReply.PRIMARY_OWNER:
        sys.exit(f"{NAME} is taken.")
    await done.wait()
    bus.disconnect()

if __name__ == "__main__":
    asyncio.run(main(sys.argv[2] if sys.argv[1:2] == ["--bus"] else "session" if os.getuid() else "system"))
