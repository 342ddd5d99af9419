"""A site that creates a passkey and signs in with it, in an unmodified browser. Run by passkey-clients.machine.

    webauthn.py firefox|chromium

Prints "passed" with what the site received. The browser is driven by Marionette (Firefox) or the DevTools protocol
(Chromium), on a display of its own. Each run takes two touches.
"""
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

SITE = 8080
PATIENCE = 600
# The page's own script. The browser calls it with a function that takes the result.
CEREMONY = """
const done = arguments[arguments.length - 1];
(async () => {
    const random = (size) => crypto.getRandomValues(new Uint8Array(size));
    const hash = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const bytes = (buffer) => new Uint8Array(buffer);
    const made = await navigator.credentials.create({ publicKey: {
        challenge: random(32), rp: { id: "localhost", name: "Example" },
        // The same account for each browser, so that the last passkey is the only one, without a picker.
        user: { id: new Uint8Array([54]), name: "ann@example.com", displayName: "Ann" },
        pubKeyCredParams: [{ type: "public-key", alg: -7 }], timeout: 120000, attestation: "none",
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
    } });
    const got = await navigator.credentials.get({ publicKey: {
        challenge: random(32), rpId: "localhost", userVerification: "required", timeout: 120000,
    } });
    const data = bytes(got.response.authenticatorData);
    const signed = new Uint8Array([...data, ...await hash(got.response.clientDataJSON)]);
    // DER to two numbers of 32 bytes.
    const der = bytes(got.response.signature);
    const number = (start) => {
        const digits = [...der.slice(start + 2, start + 2 + der[start + 1])];
        while (digits.length < 32) digits.unshift(0);
        return digits.slice(-32);
    };
    const signature = new Uint8Array([...number(2), ...number(4 + der[3])]);
    const kind = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("spki", made.response.getPublicKey(), kind, false, ["verify"]);
    return {
        attachment: made.authenticatorAttachment, created: bytes(made.response.getAuthenticatorData())[32],
        signed: data[32], counter: data[36] + 256 * data[35], same: got.id === made.id,
        valid: await crypto.subtle.verify(kind, key, signature, signed),
        platform: await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable(),
    };
})().then((result) => done(result), (error) => done({ error: String(error) }));
"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Example</title><p>Sign in")

    def log_message(self, *_):
        pass


class Firefox:
    def __init__(self, folder):
        self.program = subprocess.Popen(
            ["firefox-esr", "--marionette", "--no-remote", "--profile", folder], env={**os.environ, "HOME": folder}
        )
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", 2828), timeout=PATIENCE)
                break
            except OSError:
                assert self.program.poll() is None and time.monotonic() < end, "Firefox does not listen"
                time.sleep(5)
        self.file = self.socket.makefile("rwb")
        self.number = 0
        self.read()
        self.call("WebDriver:NewSession", {})
        self.call("WebDriver:SetTimeouts", {"script": PATIENCE * 1000, "pageLoad": PATIENCE * 1000})

    def read(self):
        size = b""
        while not size.endswith(b":"):
            byte = self.file.read(1)
            assert byte, "Firefox is gone"
            size += byte
        return json.loads(self.file.read(int(size[:-1])))

    def call(self, command, arguments):
        self.number += 1
        words = json.dumps([0, self.number, command, arguments]).encode()
        self.file.write(b"%d:%s" % (len(words), words))
        self.file.flush()
        _, number, error, result = self.read()
        assert number == self.number and error is None, error
        return result

    def run(self, address, script):
        self.call("WebDriver:Navigate", {"url": address})
        return self.call("WebDriver:ExecuteAsyncScript", {"script": script, "args": []})["value"]


class Chromium:
    def __init__(self, folder):
        theirs, ours = os.pipe()
        mine, its = os.pipe()
        # The protocol's descriptors: 3 for commands, 4 for answers.
        script = f"exec 3<&{theirs} 4>&{its}; exec chromium --remote-debugging-pipe --no-first-run --user-data-dir=$0"
        self.program = subprocess.Popen(["bash", "-c", script, folder], pass_fds=(theirs, its))
        os.close(theirs)
        os.close(its)
        self.commands, self.answers = os.fdopen(ours, "wb"), os.fdopen(mine, "rb")
        self.number, self.rest = 0, b""

    def call(self, method, session=None, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        self.commands.write(json.dumps(command).encode() + b"\0")
        self.commands.flush()
        while True:
            while b"\0" not in self.rest:
                more = os.read(self.answers.fileno(), 65536)
                assert more, "Chromium is gone"
                self.rest += more
            words, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(words)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def run(self, address, script):
        target = self.call("Target.createTarget", url=address)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.bringToFront", session)
        self.call("Emulation.setFocusEmulationEnabled", session, enabled=True)
        end = time.monotonic() + PATIENCE
        ready = f"document.readyState === 'complete' && location.href.startsWith('{address}')"
        while not self.evaluate(session, ready):
            assert time.monotonic() < end, "the page does not load"
            time.sleep(1)
        return self.evaluate(session, f"new Promise(function (done) {{ (function () {{ {script} }})(done) }})")

    def evaluate(self, session, script):
        result = self.call(
            "Runtime.evaluate", session, expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        assert "exceptionDetails" not in result, result
        return result["result"]["value"]


site = http.server.ThreadingHTTPServer(("127.0.0.1", SITE), Page)
threading.Thread(target=site.serve_forever, daemon=True).start()
os.environ["DISPLAY"] = ":54"
display = subprocess.Popen(["Xvfb", ":54", "-screen", "0", "1024x768x24", "-nolisten", "tcp"])
browser = None
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    try:
        begin = time.monotonic()
        browser = {"firefox": Firefox, "chromium": Chromium}[sys.argv[1]](folder)
        # Chromium gives a device three seconds to describe itself, which may pass in an emulated machine.
        for _ in range(3):
            result = browser.run(f"http://localhost:{SITE}/", CEREMONY)
            if "error" not in result:
                break
            print(result, file=sys.stderr)
        assert "error" not in result, result
        # Present and verified; the first answer also has the key, and extensions if the browser asked.
        assert result["created"] & 0x45 == 0x45 and result["signed"] == 0x05, result
        assert result["valid"] and result["same"] and result["platform"] is False, result
        print("passed:", sys.argv[1], json.dumps(result), f"after {time.monotonic() - begin:.0f} s")
    finally:
        if browser:
            browser.program.terminate()
            browser.program.wait()
        display.terminate()
