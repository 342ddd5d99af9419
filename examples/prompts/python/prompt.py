#!/usr/bin/python3
"""A prompt on a terminal for the authentication service (needs python3-gi and python3-cryptography).

./prompt.py [--bus system|session|ADDRESS] [--process PID]: serves that process and its children; without it, the session.
Enter sends a password, confirms, or takes the fallback; Ctrl-C cancels.
"""
import hmac, os, signal, sys, termios, unicodedata
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from gi.repository import Gio, GLib
SERVICE, ROOT, PATH, LIMIT = "org.localauth.Authentication1", "/org/localauth/Authentication1", "/org/localauth/Agent1", 4
KEYCHAIN, VERIFIER = "org.localauth.Keychain1", "org.localauth.Passcode1"
INTERFACE = Gio.DBusNodeInfo.new_for_xml("""<node><interface name="org.localauth.Agent1">
  <method name="Begin"><arg name="prompt" type="s"/><arg name="details" type="a{sv}"/></method>
  <method name="Update"><arg name="prompt" type="s"/><arg name="kind" type="s"/><arg name="detail" type="a{sv}"/></method>
  <method name="End"><arg name="prompt" type="s"/><arg name="outcome" type="s"/></method></interface></node>""").interfaces[0]
SENTENCES = {"sensor-ready": "The sensor looks.", "sensor-busy": "The sensor is in use.", "no-match": "No match.", "success": "It is you.",
             "passcode-required": "The password is needed.", "passcode-rejected": "Wrong password.", "canceled": "Canceled.",
             "failed": "Failed.", "lockout": "Too many attempts.", "fallback": "Another way.", "system": "It was ended."}

class Fault(Exception): pass  # the name of an error

KEM, SUITE = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x02"  # X25519, HKDF-SHA256, AES-256-GCM
def extract(suite, salt, label, data): return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + data, "sha256")
def expand(suite, secret, label, info, size):  # 32 bytes at most
    return hmac.digest(secret, size.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info + b"\1", "sha256")[:size]
def seal(public, secret, info, holder):  # HPKE (RFC 9180), base mode, one message
    sender = X25519PrivateKey.generate()
    enc = sender.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    agreed = extract(KEM, b"", b"eae_prk", sender.exchange(X25519PublicKey.from_public_bytes(public)))
    shared = expand(KEM, agreed, b"shared_secret", enc + public, 32)
    context = b"\0" + extract(SUITE, b"", b"psk_id_hash", b"") + extract(SUITE, b"", b"info_hash", info.encode())
    root = extract(SUITE, shared, b"secret", b"")
    key, nonce = expand(SUITE, root, b"key", context, 32), expand(SUITE, root, b"base_nonce", context, 12)
    return enc + AESGCM(key).encrypt(nonce, bytes(secret), holder.encode())

def plain(value, limit):  # text that moves no cursor and changes no direction
    if not isinstance(value, str): raise Fault("InvalidArgs")
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in value[:4096])
    return "".join(c for c in text if unicodedata.category(c) != "Cf")[:limit].strip()

def public_key(details):  # of the verifier
    if (key := details.get("passcode-key")) is None: return None
    try: return X25519PublicKey.from_public_bytes(bytes(list(key))) and bytes(key)
    except (TypeError, ValueError): raise Fault("InvalidArgs")

def proven(pid):  # the file of a program that can't pass as another one
    try:
        if os.readlink(f"/proc/{pid}/ns/mnt") != os.readlink("/proc/self/ns/mnt"): return None
        path = plain(os.readlink(f"/proc/{pid}/exe"), 256)
        return path if os.path.samefile(path, f"/proc/{pid}/exe") else None
    except (OSError, ValueError): return None

class Prompt:
    def __init__(self, details):
        text, self.typed, self.offer = lambda key, limit: plain(details.get(key, ""), limit), bytearray(), None
        policy, stage, pid = details.get("policy", 0), text("stage", 32), details.get("pid", 0)
        self.key, self.isItem = public_key(details), stage == "application-password"
        self.reason, self.fallback = text("reason", 512), plain(details.get("fallback-title", "use another way"), 64)
        if not self.reason or stage not in ("biometry", "passcode", "application-password") or not isinstance(pid, int):
            raise Fault("InvalidArgs")
        name, program = text("app-name", 128), proven(pid) if details.get("sandboxed") is False else None
        if details.get("sandboxed") is False: self.app = f"{program} (process {pid})" if program else "A program that hides what it is"
        else: self.app = f"The sandboxed app {name}" if name and text("sandbox-id", 255) else "A sandboxed app"
        requester = text("requester", 128)
        if requester: self.app += f", which says that it asks on behalf of {requester},"
        self.own = {}  # what a sensor has a person do, by its name: nobody vouches for it
        for sensor, texts in (own if isinstance(own := details.get("instructions"), dict) else {}).items():
            if not isinstance(texts, dict): raise Fault("InvalidArgs")
            self.own[sensor] = plain(texts.get("en") or next(iter(texts.values()), ""), 80).translate(dict.fromkeys(map(ord, '"“”„'), "'"))
        self.login = f"Password of {text('user', 64)}: "
        self.takes, self.waits = stage != "biometry" or policy == 2, False
    def label(self): return "Password of the item: " if self.isItem else self.login
    def wipe(self):
        for index in range(len(self.typed)): self.typed[index] = 0
        self.typed.clear()

class Agent:
    def __init__(self, bus, process):
        self.bus, self.process, self.owner, self.prompts, self.saved = bus, process, None, {}, None  # the first prompt is shown
        self.key = None  # of the service
        self.terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        bus.register_object(PATH, INTERFACE, self.asked, None, None)
        Gio.bus_watch_name_on_connection(bus, SERVICE, 0, lambda bus, name, owner: self.serve(owner), lambda bus, name: self.serve(None))
        GLib.timeout_add_seconds(60, self.look)  # that signal can get lost
    def ask(self, to, path, interface, member, kinds, words, answered):
        def reply(bus, result):
            try: answered(bus.call_finish(result).unpack())
            except GLib.Error as error: answered(error)
        self.bus.call(to, path, interface, member, GLib.Variant(kinds, words), None, 0, -1, None, reply)
    def look(self):
        self.ask("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner", "(s)", [SERVICE],
                 lambda answer: self.serve(None if isinstance(answer, GLib.Error) else answer[0]))
        return True
    def serve(self, owner):  # another service than before, or none
        if owner == self.owner: return
        for handle in list(self.prompts): self.over(handle, "system")
        self.owner, self.key = owner, None
        options = {"process": GLib.Variant("u", self.process)} if self.process else {}
        if owner: self.ask(owner, ROOT, SERVICE, "RegisterAgent", "(oa{sv})", [PATH, options], self.registered)
    def registered(self, answer):
        self.say(f"Registered: {answer}\n")
        if self.owner and not isinstance(answer, GLib.Error): self.read_key(lambda: None)
    def read_key(self, then):
        def answered(answer, owner=self.owner):
            if owner == self.owner and not isinstance(answer, GLib.Error): self.key = bytes(answer[0])
            then()
        if self.key: then()
        else: self.ask(self.owner, "/org/localauth/Keychain1", "org.freedesktop.DBus.Properties", "Get", "(ss)", [KEYCHAIN, "SealingKey"], answered)
    def submit(self, member, kinds="(s)", *words):
        def answered(answer):
            if isinstance(answer, GLib.Error) and member.startswith("SubmitPass") and self.prompts:
                self.say(f"\r\nThe service did not take it. Type it again.\r\n{self.shown().label()}")
        self.ask(self.owner, ROOT, SERVICE, member, kinds, [next(iter(self.prompts)), *words], answered)
    def say(self, text): os.write(self.terminal, text.encode())

    def asked(self, bus, caller, path, interface, member, words, call):
        try:
            if caller != self.owner: raise Fault("AccessDenied")
            getattr(self, member)(*words.unpack())
            call.return_value(None)
        except Fault as fault: call.return_dbus_error(f"org.freedesktop.DBus.Error.{fault}", "It can't be shown.")
    def Begin(self, handle, details):
        if not 0 < len(handle) <= 128 or handle in self.prompts: raise Fault("InvalidArgs")
        if len(self.prompts) >= LIMIT: raise Fault("LimitsExceeded")
        self.prompts[handle] = Prompt(details)
        if len(self.prompts) == 1: self.show()
    def Update(self, handle, kind, detail):
        if not (prompt := self.prompts.get(handle)): return
        if kind in ("application-password-required", "passcode-required"):
            prompt.isItem, prompt.key = kind[0] == "a", public_key(detail) or prompt.key
            prompt.takes, prompt.offer = True, None
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
            if kind == "passcode-required" and detail.get("cause") == "program": sentence = "A program of yours asked for the password."
            if kind == "passcode-required" and detail.get("cause") == "remote":
                quote = plain(detail.get("text", ""), 64).translate(dict.fromkeys(map(ord, '"“”„'), "'"))
                sentence = "Your administrator asked for the password" + (f": “{quote}”." if quote else ".")
            if prompt.waits and "delay" in detail: sentence, left = f"Too many wrong passwords: wait {-(-detail['delay'] // 1000)} s.", ""
            self.say(f"\r\n{sentence}{left}\r\n{prompt.label() if prompt.takes and not prompt.waits else ''}")
    def End(self, handle, outcome): self.over(handle, outcome)

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
        self.say(f"\r\n{prompt.app} wants to: {prompt.reason}\r\nCtrl-C cancels. {prompt.label() if prompt.takes else ''}")
    def forget(self):
        self.shown().wipe()
        termios.tcflush(self.terminal, termios.TCIFLUSH)
    def over(self, handle, outcome):
        prompt, isShown = self.prompts.get(handle), self.prompts.get(handle) is self.shown()
        if not prompt: return
        prompt.wipe()
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
        if prompt.isItem: return self.read_key(lambda: self.send_password(prompt))
        if prompt.key: self.submit("SubmitPasscode", "(say)", seal(prompt.key, prompt.typed, VERIFIER, next(iter(self.prompts))))
        prompt.wipe()
    def send_password(self, prompt):
        if self.key and prompt is self.shown():
            sealed = seal(self.key, prompt.typed, KEYCHAIN, self.bus.get_unique_name())
            self.submit("SubmitPassword", "(saya{sv})", sealed, {"sealed": GLib.Variant("b", True)})
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
