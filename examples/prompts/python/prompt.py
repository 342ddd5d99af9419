#!/usr/bin/python3
"""A prompt on a terminal: ./prompt.py [--bus system|session|ADDRESS].

Enter sends a password, confirms a match or takes the fallback; Ctrl-C cancels.
"""
import base64
import os
import signal
import subprocess
import sys
import termios

from gi.repository import Gio, GLib

SERVICE = "org.localauth.Authentication1"
KEYCHAIN = "org.localauth.Keychain1"
ROOT = "/org/localauth/"
ITEM = "application-password"
ERROR = "org.freedesktop.DBus.Error."
SEALED = {"sealed": GLib.Variant("b", True)}
INTERFACE = Gio.DBusNodeInfo.new_for_xml("""<node><interface name="org.localauth.Agent1">
  <method name="Begin"><arg type="s"/><arg type="a{sv}"/></method>
  <method name="Update"><arg type="s"/><arg type="s"/><arg type="a{sv}"/></method>
  <method name="End"><arg type="s"/><arg type="s"/></method>
</interface></node>""").interfaces[0]
SENTENCES = {
    "program": "A program of yours asked for the password.",
    "remote": "Your administrator asked for the password.",
    "success": "Recognized.",
    "no-match": "Not recognized.",
    "passcode-required": "Type the password.",
    "passcode-rejected": "Wrong password.",
    "confirmation-required": "Press Enter to confirm.",
    "sensor-ready": "Sensor ready.",
}


def plain(text, limit=512):
    """Removes control characters, changes of direction and quotation marks."""
    return "".join(c for c in text if c.isprintable() and c != "”")[:limit]


def caller(details):
    """Names the caller by facts from the service or the kernel, never by its own claim."""
    if details["sandboxed"]:
        name = plain(details.get("app-name", ""), 128)
        return f"The sandboxed app “{name}”" if name else "A sandboxed app"
    file = f"/proc/{details['pid']}/exe"
    space = f"/proc/{details['pid']}/ns/mnt"
    try:
        path = os.readlink(file)
        if os.path.samefile(path, file) and os.path.samefile(space, "/proc/self/ns/mnt"):
            return plain(path)
    except OSError:
        pass
    return "A program that hides what it is"


class Agent:
    """The object that the service calls, with at most one prompt on the terminal."""

    def __init__(self, bus):
        self.bus = bus
        self.owner = None
        self.handle = None
        bus.register_object(ROOT + "Agent1", INTERFACE, self.called)
        Gio.bus_watch_name_on_connection(bus, SERVICE, 0, self.meet, self.meet)

    def meet(self, bus, name, owner=None):
        """Registers with a new owner of the service's name; None is no owner."""
        self.End(self.handle, "system")
        self.owner = owner
        if owner:
            self.ask("RegisterAgent", "(oa{sv})", ROOT + "Agent1", {})

    def ask(self, member, kinds, *words, path=ROOT + "Authentication1", interface=SERVICE):
        """Calls the service; shows an error and returns None for it."""
        values = GLib.Variant(kinds, words)
        try:
            reply = self.bus.call_sync(
                self.owner, path, interface, member, values, None, 0, 5000, None
            )
        except GLib.Error as error:
            self.say(plain(error.message))
            return None
        return reply.unpack()

    def say(self, text):
        """Prints a line, and the password's label if the prompt takes a password."""
        label = self.label if self.handle and self.takes else ""
        print(f"\n{text}\n{label}", end="", flush=True)

    def called(self, bus, sender, path, interface, member, words, call):
        """Answers a call; only the service may call."""
        if sender != self.owner:
            call.return_dbus_error(ERROR + "AccessDenied", "Not yours.")
            return
        try:
            call.return_value(getattr(self, member)(*words))
        except Exception as error:
            call.return_dbus_error(ERROR + "InvalidArgs", repr(error))

    def Begin(self, handle, details):
        """Shows a prompt and reads the terminal."""
        if self.handle:
            raise ValueError("Another prompt is up.")
        text = f"{caller(details)} wants to: {plain(details['reason'])}"
        name = plain(details.get("requester", ""), 128)
        if name:
            text += f" (for “{name}”, it says)"
        stage = details["stage"]
        takes = {"biometry": details["policy"] == 2, "passcode": True, ITEM: True}
        self.takes = takes[stage]
        self.is_item = stage == ITEM
        self.offer = None
        self.instructions = details.get("instructions", {})
        self.fallback = plain(details.get("fallback-title", "use another way"), 64)
        self.label = f"{plain(details['user'])}'s password: "
        self.key = details.get("passcode-key")
        self.handle = handle
        self.open_terminal()
        self.say(text)

    def open_terminal(self):
        """Turns echo and signals off, and drops letters typed before the prompt."""
        self.saved = termios.tcgetattr(0)
        mode = termios.tcgetattr(0)
        mode[3] &= ~(termios.ECHO | termios.ISIG)
        # Ctrl-C ends a line, as Enter does.
        mode[6][termios.VEOL] = b"\3"
        termios.tcsetattr(0, termios.TCSAFLUSH, mode)
        self.keys = GLib.unix_fd_add_full(0, 0, GLib.IO_IN, self.typed)

    def Update(self, handle, kind, detail):
        """Shows progress. After success End follows."""
        if handle != self.handle or kind == "success":
            return
        hint = plain(detail.get("hint", ""))
        text = SENTENCES.get(detail.get("cause"), SENTENCES.get(kind, hint))
        if kind in ("passcode-required", ITEM + "-required"):
            self.require_password(kind == ITEM + "-required", detail)
        if "delay" in detail:
            self.takes = False
            text = f"Too many wrong passwords: wait {detail['delay'] // 1000} s."
        if kind == "confirmation-required":
            self.offer = "SubmitConfirm"
        if kind == "fallback-available" and self.fallback and not self.offer:
            self.offer = "SubmitFallback"
            text = f"Press Enter to {self.fallback}."
        if kind == "sensor-ready":
            text = self.instruction(detail["sensor"]) or text
        if "text" in detail:
            text += f" “{plain(detail['text'], 64)}”"
        if "attempts-left" in detail:
            text += f" Attempts left: {detail['attempts-left']:d}."
        self.say(text)

    def require_password(self, is_item, detail):
        """Takes a password of the login or of an item; drops letters typed so far."""
        self.takes = True
        self.is_item = is_item
        self.offer = None
        self.key = detail.get("passcode-key", self.key)
        termios.tcflush(0, termios.TCIFLUSH)

    def instruction(self, sensor):
        """Quotes a sensor's own instruction, with its name; None without an instruction."""
        words = self.instructions.get(sensor)
        if not words:
            return None
        return f"“{plain(words.get('en') or min(words.values()))}” ({plain(sensor)})"

    def End(self, handle, outcome):
        """Takes the prompt down and restores the terminal."""
        if not self.handle or handle != self.handle:
            return
        GLib.source_remove(self.keys)
        termios.tcsetattr(0, termios.TCSAFLUSH, self.saved)
        self.handle = None
        self.say(SENTENCES.get(outcome, "The prompt has ended."))

    def typed(self, *_):
        """Handles a line: a password, an empty line for the offer, or Ctrl-C without a line end."""
        line = os.read(0, 4096)
        if not line.endswith(b"\n"):
            self.ask("SubmitCancel", "(s)", self.handle)
        elif line != b"\n" and self.takes:
            self.submit(line[:-1])
        elif line == b"\n" and self.offer:
            self.ask(self.offer, "(s)", self.handle)
            self.offer = None
        return True

    def submit(self, secret):
        """Seals a password and sends it."""
        if self.is_item:
            # The service has a new key at each start.
            key = self.service_key()
            sealed = self.seal(secret, key, KEYCHAIN, self.bus.get_unique_name())
            if sealed:
                self.ask("SubmitPassword", "(saya{sv})", self.handle, sealed, SEALED)
        else:
            sealed = self.seal(secret, self.key, "org.localauth.Passcode1", self.handle)
            if sealed:
                self.ask("SubmitPasscode", "(say)", self.handle, sealed)

    def service_key(self):
        """Returns the service's public key; None if the service does not answer."""
        reply = self.ask(
            "Get", "(ss)", KEYCHAIN, "SealingKey",
            path=ROOT + "Keychain1", interface="org.freedesktop.DBus.Properties",
        )
        return reply[0] if reply else None

    def seal(self, secret, key, info, aad):
        """Seals a password with localauthctl; shows an error and returns None for it."""
        key = base64.b64encode(bytes(key or []))
        command = ["localauthctl", "seal", "--key", key, "--info", info, "--aad", aad]
        try:
            return subprocess.check_output(command, input=secret)
        except (OSError, subprocess.CalledProcessError) as error:
            self.say(str(error))
            return None


def main(where="system"):
    """Serves until SIGINT or SIGTERM."""
    if ":" in where:
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = where
    kind = Gio.BusType.SYSTEM if where == "system" else Gio.BusType.SESSION
    agent = Agent(Gio.bus_get_sync(kind, None))
    loop = GLib.MainLoop()
    for number in (signal.SIGINT, signal.SIGTERM):
        GLib.unix_signal_add(0, number, loop.quit)
    loop.run()
    agent.End(agent.handle, "system")


main(*sys.argv[2:])
