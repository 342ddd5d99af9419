"""A bus with Debian's limits, and the programs that a measurement starts on it."""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

NOBODY = 65534
SERVICE, ROOT = "org.localauth.Authentication1", "/org/localauth/Authentication1"
BUS = """<busconfig><type>session</type><listen>unix:path={0}/bus</listen><auth>EXTERNAL</auth>
<servicedir>{0}</servicedir><policy context="default"><allow user="*"/><allow own="*"/>
<allow send_type="method_call"/><allow send_type="signal"/>
<allow send_requested_reply="true" send_type="method_return"/>
<allow send_requested_reply="true" send_type="error"/>
<allow receive_type="signal"/><allow receive_type="method_call"/>
<allow receive_type="error"/><allow receive_type="method_return"/></policy></busconfig>
"""


class Rig:
    """A bus, and the programs on it."""

    def __init__(self, programs, tools):
        self.programs, self.tools = programs, tools
        self.folder = tempfile.mkdtemp(prefix="bench-")
        os.chmod(self.folder, 0o755)
        self.address = f"unix:path={self.folder}/bus"
        self.processes, self.quiet = {}, open(os.devnull, "w")
        path = pathlib.Path(self.folder, "bus.conf")
        path.write_text(BUS.format(self.folder))
        self.start_bus(path)
        self.until(lambda: os.path.exists(f"{self.folder}/bus"))

    def start_bus(self, configuration):
        self.start("dbus-daemon", ["/usr/bin/dbus-daemon", "--nofork", "--nopidfile",
                                   f"--config-file={configuration}"])

    def until(self, holds, seconds=30):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise SystemExit("measure: waited in vain")
            time.sleep(0.01)

    def start(self, name, words, listener=None, **more):
        """Starts a program. A listening socket becomes its descriptor 3."""
        environment = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=self.address, **more)
        if listener is not None:
            words = ["sh", "-c", f'exec 3<&{listener}; exec "$@"', "sh", *words]
        self.processes[name] = subprocess.Popen(words, stdout=self.quiet, stderr=self.quiet, env=environment,
                                                pass_fds=[] if listener is None else [listener])
        return self.processes[name]

    def call(self, name, path, interface, member, *arguments):
        words = ["busctl", f"--address={self.address}", "--timeout=5", "call", name, path, interface, member]
        done = subprocess.run(words + [str(a) for a in arguments], capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else None

    def offer(self, name, words):
        """Makes the bus start a program when its name is called."""
        text = f"[D-BUS Service]\nName={name}\nExec={' '.join(words)}\n"
        pathlib.Path(self.folder, f"{name}.service").write_text(text)
        self.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ReloadConfig")

    def owned(self, name):
        bus = "org.freedesktop.DBus"
        self.until(lambda: "true" in (self.call(bus, "/", bus, "NameHasOwner", "s", name) or ""))

    def service(self, sensors, wrap=(), uids=(), settings=""):
        """Starts the daemon with a verifier and sensors. Sensors know root and `nobody`, or their entry of `uids`."""
        self.start("localauth-passcode", [f"{self.programs}/localauth-passcode", "--bus", self.address,
                                          "--passcode-set", "always"])
        for number in range(1, sensors + 1):
            name = "Simulated" + ("" if number == 1 else str(number))
            self.start(f"sensor {number}", [f"{self.programs}/localauth-sensor-simulated", "--bus",
                                            self.address, "--name", name])
            self.owned(f"org.localauth.Sensor1.{name}")
            for uid in uids[number - 1] if uids else (0, NOBODY):
                self.call(f"org.localauth.Sensor1.{name}", "/org/localauth/Sensor1",
                          "org.localauth.SimulatedSensor1", "AddTemplate", "us", uid, "right thumb")
        pathlib.Path(self.folder, "localauth.conf").write_text(settings)
        self.start("localauthd", [*wrap, f"{self.programs}/localauthd", "--bus", self.address,
                                  "--state-directory", f"{self.folder}/state",
                                  "--config", f"{self.folder}/localauth.conf"])
        # Where sensors know other users, root has no finger. CanEvaluate then waits for the verifier's answer alone.
        policy = 2 if uids else 1
        self.until(lambda: "bis true" in (self.call(SERVICE, ROOT, SERVICE, "CanEvaluate", "u", policy) or ""), 120)

    def client(self, *words, uid=None, into=subprocess.PIPE):
        environment = dict(os.environ, **({"BENCH_UID": str(uid)} if uid else {}))
        return subprocess.Popen([f"{self.tools}/bench-client", words[0], self.address, *map(str, words[1:])],
                                stdin=subprocess.PIPE, stdout=into, text=True, env=environment)

    def cpu(self):
        """Nanoseconds of processor time that each process has used so far."""
        used = {}
        for name, process in self.processes.items():
            with contextlib.suppress(OSError):
                used[name] = sum(int(open(f"/proc/{process.pid}/task/{task}/schedstat").read().split()[0])
                                 for task in os.listdir(f"/proc/{process.pid}/task"))
        return used

    def round(self, *words, count, uid=None, between=lambda before: None):
        """One run of the client: (p50, p99) in µs, and CPU in µs a call of each process."""
        client = self.client(*words, uid=uid)
        if client.stdout.readline() != "ready\n":
            raise SystemExit(f"measure: bench-client {' '.join(map(str, words))} failed")
        before = self.cpu()
        between(True)
        print(file=client.stdin, flush=True)
        figures = client.stdout.readline().split()
        client.stdout.readline()
        between(False)
        after = self.cpu()
        print(file=client.stdin, flush=True)
        client.wait()
        if len(figures) != 3:
            raise SystemExit(f"measure: bench-client {' '.join(map(str, words))} said {figures}")
        cpu = {name: (after[name] - before[name]) / 1e3 / count for name in before if name in after}
        return {"p50": int(figures[0]) / 1e3, "p99": int(figures[1]) / 1e3,
                "cpu": dict(cpu, client=int(figures[2]) / 1e3)}

    def memory(self, name):
        """Proportional set size in MB."""
        for line in open(f"/proc/{self.processes[name].pid}/smaps_rollup"):
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024

    def end(self):
        for name in reversed(list(self.processes)):
            self.processes[name].send_signal(signal.SIGTERM)
            try:
                self.processes[name].wait(5)
            except subprocess.TimeoutExpired:
                self.processes[name].kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class BrokerRig(Rig):
    """A rig on dbus-broker, without systemd."""

    def start_bus(self, configuration):
        # The launcher needs a journal, and takes its socket as from systemd.
        journal, place = pathlib.Path(self.folder, "journal"), f"{self.folder}/bus"
        journal.mkdir()
        self.sockets = [socket.socket(socket.AF_UNIX, kind) for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM)]
        self.sockets[0].bind(f"{journal}/socket")
        self.sockets[1].bind(place)
        os.chmod(place, 0o666)
        self.sockets[1].listen(128)
        # A full journal would stop the bus.
        reader = "import socket\njournal = socket.socket(fileno=3)\nwhile True: journal.recv(65536)"
        self.start("journal", [sys.executable, "-c", reader], listener=self.sockets[0].fileno())
        script = (f"mount -t tmpfs none /run/systemd && mkdir /run/systemd/journal && "
                  f"mount --bind {journal} /run/systemd/journal && export LISTEN_FDS=1 LISTEN_PID=$$ && exec \"$@\"")
        self.start("dbus-broker", ["unshare", "-m", "sh", "-c", script, "sh", "dbus-broker-launch", "--scope", "system",
                                   "--config-file", str(configuration)], listener=self.sockets[1].fileno())


def plot(path, title, across, series):
    """A line for each series of (x, y), x by its logarithm in even steps; as SVG."""
    ticks = sorted({x for points in series.values() for x, _ in points})
    top = max(y for points in series.values() for _, y in points) * 1.1 or 1
    def place(x, y):
        return 60 + 480 * ticks.index(x) / max(1, len(ticks) - 1), 260 - 220 * y / top
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 310" font-family="sans-serif" '
           'font-size="12">', '<rect width="700" height="310" fill="white"/>',
           f'<text x="60" y="24" font-size="14">{title}</text>',
           '<path d="M60 40V260H540" fill="none" stroke="#444"/>',
           f'<text x="300" y="300" text-anchor="middle">{across}</text>']
    for x in ticks:
        out.append(f'<text x="{place(x, 0)[0]:.0f}" y="278" text-anchor="middle">{x}</text>')
    for part in range(1, 5):
        y = place(ticks[0], top * part / 4)[1]
        out.append(f'<path d="M60 {y:.0f}H540" stroke="#ddd"/><text x="54" y="{y + 4:.0f}" '
                   f'text-anchor="end">{top * part / 4:.3g}</text>')
    colours = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e"]
    for number, (name, points) in enumerate(series.items()):
        colour = colours[number % len(colours)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
                   f'<text x="550" y="{60 + 20 * number}" fill="{colour}">{name}</text>')
    path.write_text("\n".join(out + ["</svg>", ""]))


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), "")
    return f"{model}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the start"


class Tables:
    """Tables to print, and to write between marks of a file."""

    def __init__(self):
        self.texts = {}

    def add(self, name, head, rows):
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        self.texts[name] = "\n".join(lines)
        print(self.texts[name] + "\n", flush=True)

    def write(self, folder):
        path = pathlib.Path(folder, "benchmarks.md")
        text = path.read_text()
        for name, table in self.texts.items():
            begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
            if begin in text:
                head, rest = text.split(begin, 1)
                text = head + begin + "\n" + table + "\n" + end + rest.split(end, 1)[1]
        path.write_text(text)
