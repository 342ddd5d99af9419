#!/usr/bin/python3
"""A prompt on a terminal for the authentication service (needs python3-gi).

./prompt.py [--bus system|session|ADDRESS] [--process PID]: serves that process and its children; without it, the session.
Enter sends a password, confirms, or takes the fallback; Ctrl-C cancels.
"""
import os, signal, socket, sys, termios, unicodedata
from gi.repository import Gio, GLib
SERVICE, ROOT, PATH, LIMIT = "org.localauth.Authentication1", "/org/localauth/Authentication1", "/org/localauth/Agent1", 4
INTERFACE = Gio.DBusNodeInfo.new_for_xml("""<node><interface name="org.localauth.Agent1">
  <method name="Begin"><arg name="prompt" type="s"/><arg name="details" type="a{sv}"/><arg name="passcode" type="h"/></method>
  <method name="Update"><arg name="prompt" type="s"/><arg name="kind" type="s"/><arg name="detail" type="a{sv}"/></method>
  <method name="End"><arg name="prompt" type="s"/><arg name="outcome" type="s"/></method></interface></node>""").interfaces[0]
SENTENCES = {"sensor-ready": "The sensor looks.", "sensor-busy": "The sensor is in use.", "no-match": "No match.", "success": "It is you.",
             "passcode-required": "The password is needed.", "passcode-rejected": "Wrong password.", "canceled": "Canceled.",
             "failed": "Failed.", "lockout": "Too many attempts.", "fallback": "Another way.", "system": "It was ended."}

class Fault(Exception): pass  # the name of an error

def plain(value, limit):  # text that moves no cursor and changes no direction
    if not isinstance(value, str): raise Fault("InvalidArgs")
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in value[:4096])
    return "".join(c for c in text if unicodedata.category(c) != "Cf")[:limit].strip()

class Prompt:
    def __init__(self, details, channel):
        text, self.channel, self.typed, self.offer = lambda key, limit: plain(details.get(key, ""), limit), channel, bytearray(), None
        policy, stage, pid = details.get("policy", 0), text("stage", 32), details.get("pid", 0)
        self.reason, self.fallback = text("reason", 512), plain(details.get("fallback-title", "use another way"), 64)
        if not self.reason or stage not in ("biometry", "passcode", "application-password") or not isinstance(pid, int):
            raise Fault("InvalidArgs")
        try: program = os.readlink(f"/proc/{pid}/exe")
        except OSError: program = text("process", 128)
        self.app = text("app-name", 128) if details.get("app-verified") is True else f"{plain(program, 256)} (process {pid}, not verified)"
        requester = text("requester", 128)
        if requester: self.app += f", which says that it asks on behalf of {requester},"
        self.own = {}  # what a sensor has a person do, by its name: nobody vouches for it
        for sensor, texts in (own if isinstance(own := details.get("instructions"), dict) else {}).items():
            if not isinstance(texts, dict): raise Fault("InvalidArgs")
            self.own[sensor] = plain(texts.get("en") or next(iter(texts.values()), ""), 80).translate(dict.fromkeys(map(ord, '"“”„'), "'"))
        self.label = "Password of the item: " if stage == "application-password" else f"Password of {text('user', 64)}: "
        self.takes, self.waits = stage != "biometry" or policy == 2, False
    def wipe(self):
        for index in range(len(self.typed)): self.typed[index] = 0
        self.typed.clear()

class Agent:
    def __init__(self, bus, process):
        self.bus, self.process, self.owner, self.prompts, self.saved = bus, process, None, {}, None  # the first prompt is shown
        self.terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        bus.register_object(PATH, INTERFACE, self.asked, None, None)
        Gio.bus_watch_name_on_connection(bus, SERVICE, 0, lambda bus, name, owner: self.serve(owner), lambda bus, name: self.serve(None))
        GLib.timeout_add_seconds(60, self.look)  # that signal can get lost
    def ask(self, to, path, member, kinds, words, answered):
        def reply(bus, result):
            try: answered(bus.call_finish(result).unpack())
            except GLib.Error as error: answered(error)
        self.bus.call(to, path, to, member, GLib.Variant(kinds, words), None, 0, -1, None, reply)
    def look(self):
        self.ask("org.freedesktop.DBus", "/org/freedesktop/DBus", "GetNameOwner", "(s)", [SERVICE],
                 lambda answer: self.serve(None if isinstance(answer, GLib.Error) else answer[0]))
        return True
    def serve(self, owner):  # another service than before, or none
        if owner == self.owner: return
        for handle in list(self.prompts): self.over(handle, "system")
        self.owner = owner
        options = {"process": GLib.Variant("u", self.process)} if self.process else {}
        if owner: self.ask(SERVICE, ROOT, "RegisterAgent", "(oa{sv})", [PATH, options], lambda answer: self.say(f"Registered: {answer}\n"))
    def submit(self, member): self.ask(SERVICE, ROOT, member, "(s)", [next(iter(self.prompts))], lambda answer: None)
    def say(self, text): os.write(self.terminal, text.encode())

    def asked(self, bus, caller, path, interface, member, words, call):
        list = call.get_message().get_unix_fd_list()
        fds = list.steal_fds() if list else []  # PyGObject keeps the call, and with it what it doesn't let go of
        try:
            if caller != self.owner: raise Fault("AccessDenied")
            getattr(self, member)(words, fds, *words.unpack())
            call.return_value(None)
        except Fault as fault: call.return_dbus_error(f"org.freedesktop.DBus.Error.{fault}", "It can't be shown.")
        except OSError: call.return_dbus_error("org.freedesktop.DBus.Error.InvalidArgs", "This is no channel.")
        finally:
            for fd in fds: fd < 0 or os.close(fd)
    def channel(self, fds, index):
        channel = socket.socket(fileno=fds[index]) if 0 <= index < len(fds) else None
        if channel: fds[index] = -1
        if not channel or (channel.family, channel.type) != (socket.AF_UNIX, socket.SOCK_SEQPACKET): raise Fault("InvalidArgs")
        channel.setblocking(False)
        return channel
    def Begin(self, words, fds, handle, details, index):
        if not 0 < len(handle) <= 128 or handle in self.prompts: raise Fault("InvalidArgs")
        if len(self.prompts) >= LIMIT: raise Fault("LimitsExceeded")
        self.prompts[handle] = Prompt(details, self.channel(fds, index))
        if len(self.prompts) == 1: self.show()
    def Update(self, words, fds, handle, kind, detail):
        if not (prompt := self.prompts.get(handle)): return
        if kind == "application-password-required":
            index = words.get_child_value(2).lookup_value("channel", GLib.VariantType("h"))
            if index is None: raise Fault("InvalidArgs")
            prompt.channel, prompt.label = self.channel(fds, index.get_handle()), "Password of the item: "
        if kind in ("application-password-required", "passcode-required"): prompt.takes, prompt.offer = True, None
        if "password" in kind or "passcode" in kind: prompt.waits = detail.get("delay", 0) > 0  # till delay-over
        if kind == "fallback-available" and prompt.fallback and not prompt.offer: prompt.offer = "SubmitFallback"
        if kind == "confirmation-required": prompt.offer = "SubmitConfirm"
        if prompt is self.shown():
            if prompt.waits or kind in ("application-password-required", "passcode-required"): self.forget()
            left = f" Attempts left: {detail['attempts-left']}." if isinstance(detail.get("attempts-left"), int) else ""
            sentence = f"Enter: {prompt.fallback}." if kind == "fallback-available" and prompt.fallback else "Press Enter to confirm." \
                if kind == "confirmation-required" else plain(detail.get("hint", ""), 64) if kind == "hint" else SENTENCES.get(kind, "")
            if kind == "sensor-ready" and prompt.own.get(detail.get("sensor")):
                sentence = f"“{prompt.own[detail['sensor']]}” ({plain(detail['sensor'], 64)})."
            if prompt.waits and "delay" in detail: sentence, left = f"Too many wrong passwords: wait {-(-detail['delay'] // 1000)} s.", ""
            self.say(f"\r\n{sentence}{left}\r\n{prompt.label if prompt.takes and not prompt.waits else ''}")
    def End(self, words, fds, handle, outcome): self.over(handle, outcome)

    def shown(self): return next(iter(self.prompts.values()), None)
    def show(self):
        if not self.saved:
            self.saved = termios.tcgetattr(self.terminal)
            mode = termios.tcgetattr(self.terminal)
            mode[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
            termios.tcsetattr(self.terminal, termios.TCSAFLUSH, mode)  # what was typed before is dropped
            self.source = GLib.unix_fd_add_full(0, self.terminal, GLib.IO_IN | GLib.IO_HUP, self.keys)
        prompt = self.shown()
        self.forget()
        self.say(f"\r\n{prompt.app} wants to: {prompt.reason}\r\nCtrl-C cancels. {prompt.label if prompt.takes else ''}")
    def forget(self):
        self.shown().wipe()
        termios.tcflush(self.terminal, termios.TCIFLUSH)
    def over(self, handle, outcome):
        prompt, isShown = self.prompts.get(handle), self.prompts.get(handle) is self.shown()
        if not prompt: return
        prompt.wipe()
        prompt.channel.close()
        del self.prompts[handle]
        if isShown: self.say(f"\r\n{SENTENCES.get(outcome, 'It was ended.')}\r\n")
        if isShown and self.prompts: self.show()
        if not self.prompts: self.restore()
    def restore(self):
        if not self.saved: return
        GLib.source_remove(self.source)
        termios.tcsetattr(self.terminal, termios.TCSAFLUSH, self.saved)
        self.saved = None
    def keys(self, terminal, condition):
        for byte in (keys := os.read(terminal, 1024)):
            if not (prompt := self.shown()): break
            if byte == 3: self.submit("SubmitCancel"), self.over(next(iter(self.prompts)), "canceled")
            elif byte in (10, 13) and prompt.typed: self.send(prompt)
            elif byte in (10, 13) and prompt.offer: self.submit(prompt.offer), setattr(prompt, "offer", None)
            elif byte == 127:  # a character, not a byte of it
                while prompt.typed and prompt.typed.pop() & 0xC0 == 0x80: pass
            elif byte >= 32 and prompt.takes and not prompt.waits and len(prompt.typed) < 1024: prompt.typed.append(byte)
        return bool(keys)
    def send(self, prompt):
        try: prompt.channel.send(prompt.typed)
        except OSError: self.say("\r\nThe service did not take it.\r\n")
        prompt.wipe()

def main(words):
    options = dict(zip(words[::2], words[1::2]))
    where = options.get("--bus", "session" if os.getuid() else "system")
    if where in ("system", "session"): where = Gio.dbus_address_get_for_bus_sync(getattr(Gio.BusType, where.upper()), None)
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    bus, loop = Gio.DBusConnection.new_for_address_sync(where, flags, None, None), GLib.MainLoop()
    agent = Agent(bus, int(options.get("--process", 0)))
    GLib.unix_signal_add(GLib.PRIORITY_HIGH, signal.SIGTERM, loop.quit)
    bus.connect("closed", lambda *_: loop.quit())
    loop.run()
    agent.restore()
main(sys.argv[1:])
