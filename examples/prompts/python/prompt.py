#!/usr/bin/python3
"""A prompt on a terminal: ./prompt.py [--bus system|session|ADDRESS].

Enter sends a password, confirms a match or takes the fallback; Ctrl-C cancels."""
import base64, os, signal, subprocess, sys, termios
from gi.repository import Gio, GLib
SERVICE, KEYCHAIN = "org.localauth.Authentication1", "org.localauth.Keychain1"
ROOT, ITEM, ERROR = "/org/localauth/", "application-password", "org.freedesktop.DBus.Error."
SEALED = {"sealed": GLib.Variant("b", True)}
INTERFACE = Gio.DBusNodeInfo.new_for_xml("""<node><interface name="org.localauth.Agent1">
  <method name="Begin"><arg type="s"/><arg type="a{sv}"/></method>
  <method name="Update"><arg type="s"/><arg type="s"/><arg type="a{sv}"/></method>
  <method name="End"><arg type="s"/><arg type="s"/></method></interface></node>""").interfaces[0]
SENTENCES = {"program": "A program of yours asked for the password.", "success": "It is you.",
             "remote": "Your administrator asked for the password.", "no-match": "No match.",
             "passcode-required": "Type the password.", "passcode-rejected": "Wrong password.",
             "confirmation-required": "Press Enter to confirm.", "sensor-ready": "Sensor ready."}

def plain(text, limit=512):
    """Removes control characters, changes of direction and quotation marks."""
    return "".join(c for c in text if c.isprintable() and c != "”")[:limit]

def caller(details):
    """Names the caller by facts from the service or the kernel, never by its own claim."""
    if details["sandboxed"]:
        name = plain(details.get("app-name", ""), 128)
        return f"The sandboxed app “{name}”" if name else "A sandboxed app"
    file, space = f"/proc/{details['pid']}/exe", f"/proc/{details['pid']}/ns/mnt"
    try:
        path = os.readlink(file)
        if os.path.samefile(path, file) and os.path.samefile(space, "/proc/self/ns/mnt"):
            return plain(path)
    except OSError: pass
    return "A program that hides what it is"

class Agent:
    def __init__(self, bus):
        self.bus, self.owner, self.handle = bus, None, None
        bus.register_object(ROOT + "Agent1", INTERFACE, self.called)
        Gio.bus_watch_name_on_connection(bus, SERVICE, 0, self.meet, self.meet)
    def meet(self, bus, name, owner=None):  # another service than before, or none
        self.End(self.handle, "system")
        self.owner = owner
        if owner: self.ask("RegisterAgent", "(oa{sv})", ROOT + "Agent1", {})
    def ask(self, member, kinds, *words, path=ROOT + "Authentication1", interface=SERVICE):
        try: return self.bus.call_sync(self.owner, path, interface, member,
                                       GLib.Variant(kinds, words), None, 0, 5000, None).unpack()
        except GLib.Error as error: self.say(plain(error.message))
    def say(self, text):
        print(f"\n{text}\n{self.label if self.handle and self.takes else ''}", end="", flush=True)

    def called(self, bus, sender, path, interface, member, words, call):
        if sender != self.owner: return call.return_dbus_error(ERROR + "AccessDenied", "Not yours.")
        try: call.return_value(getattr(self, member)(*words))
        except Exception as error: call.return_dbus_error(ERROR + "InvalidArgs", repr(error))
    def Begin(self, handle, details):
        if self.handle: raise ValueError("Another prompt is up.")
        stage, text = details["stage"], f"{caller(details)} wants to: {plain(details['reason'])}"
        if name := plain(details.get("requester", ""), 128): text += f" (for “{name}”, it says)"
        self.takes = {"biometry": details["policy"] == 2, "passcode": True, ITEM: True}[stage]
        self.isItem, self.offer, self.own = stage == ITEM, None, details.get("instructions", {})
        self.fallback = plain(details.get("fallback-title", "use another way"), 64)
        self.label, self.key = f"{plain(details['user'])}'s password: ", details.get("passcode-key")
        self.handle, self.saved, mode = handle, termios.tcgetattr(0), termios.tcgetattr(0)
        mode[3] &= ~(termios.ECHO | termios.ISIG)
        mode[6][termios.VEOL] = b"\3"  # Ctrl-C ends a line, as Enter does
        termios.tcsetattr(0, termios.TCSAFLUSH, mode)  # drops what was typed before
        self.keys = GLib.unix_fd_add_full(0, 0, GLib.IO_IN, self.typed)
        self.say(text)
    def Update(self, handle, kind, detail):
        if handle != self.handle or kind == "success": return  # End follows
        hint = plain(detail.get("hint", ""))
        text = SENTENCES.get(detail.get("cause"), SENTENCES.get(kind, hint))
        if kind in ("passcode-required", ITEM + "-required"):
            self.takes, self.isItem, self.offer = True, kind != "passcode-required", None
            self.key = detail.get("passcode-key", self.key)
            termios.tcflush(0, termios.TCIFLUSH)  # drops what was typed so far
        if "delay" in detail:
            self.takes, text = False, f"Too many wrong passwords: wait {detail['delay'] // 1000} s."
        if kind == "confirmation-required": self.offer = "SubmitConfirm"
        if kind == "fallback-available" and self.fallback and not self.offer:
            self.offer, text = "SubmitFallback", f"Press Enter to {self.fallback}."
        if kind == "sensor-ready" and (own := self.own.get(detail["sensor"])):
            text = f"“{plain(own.get('en') or min(own.values()))}” ({plain(detail['sensor'])})"
        if "text" in detail: text += f" “{plain(detail['text'], 64)}”"
        if "attempts-left" in detail: text += f" Attempts left: {detail['attempts-left']:d}."
        self.say(text)
    def End(self, handle, outcome):
        if not self.handle or handle != self.handle: return
        GLib.source_remove(self.keys)
        termios.tcsetattr(0, termios.TCSAFLUSH, self.saved)
        self.handle = None
        self.say(SENTENCES.get(outcome, "It has ended."))
    def typed(self, *_):
        line = os.read(0, 4096)
        if not line.endswith(b"\n"): self.ask("SubmitCancel", "(s)", self.handle)
        elif line != b"\n" and self.takes: self.submit(line[:-1])
        elif line == b"\n" and self.offer:
            self.ask(self.offer, "(s)", self.handle)
            self.offer = None
        return True
    def submit(self, secret):
        key, info, aad = self.key, "org.localauth.Passcode1", self.handle
        if self.isItem:  # sealed to the service, which has a new key at each start
            [key] = self.ask("Get", "(ss)", KEYCHAIN, "SealingKey", path=ROOT + "Keychain1",
                             interface="org.freedesktop.DBus.Properties") or [None]
            info, aad = KEYCHAIN, self.bus.get_unique_name()
        words = ["--key", base64.b64encode(bytes(key or [])), "--info", info, "--aad", aad]
        try: sealed = subprocess.check_output(["localauthctl", "seal", *words], input=secret)
        except (OSError, subprocess.CalledProcessError) as error: return self.say(str(error))
        if self.isItem: self.ask("SubmitPassword", "(saya{sv})", self.handle, sealed, SEALED)
        else: self.ask("SubmitPasscode", "(say)", self.handle, sealed)
def main(where="session"):
    if ":" in where: os.environ["DBUS_SESSION_BUS_ADDRESS"] = where
    kind = Gio.BusType.SYSTEM if where == "system" else Gio.BusType.SESSION
    agent, loop = Agent(Gio.bus_get_sync(kind, None)), GLib.MainLoop()
    for number in (signal.SIGINT, signal.SIGTERM): GLib.unix_signal_add(0, number, loop.quit)
    loop.run()
    agent.End(agent.handle, "system")
main(*sys.argv[2:])
