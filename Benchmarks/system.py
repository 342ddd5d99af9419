"""Measures calls of a user's session in the system that it runs in: see Benchmarks/system.

    system.py SESSION [--rounds N] [--calls N]

It is run by root. Clients and the prompt agent are processes of the session, as logind sees them; what
drives the simulated sensor is root.
"""
import argparse
import contextlib
import os
import pathlib
import pwd
import statistics
import subprocess
import types

from rig import ROOT, SERVICE, Rig, machine

USER = pwd.getpwnam("alice").pw_uid
SIMULATED = ("org.localauth.Sensor1.Simulated", "/org/localauth/Sensor1", "org.localauth.SimulatedSensor1")
# Services that end when idle. The simulated sensor stays, because its templates are in memory alone.
SLEEPERS = ["localauth-passcode", "localauth-sensor-fingerprint", "localauth-sensor-face",
            "localauth-sensor-fido2"]
SERVICES = {"localauthd": "localauthd", "sensor": "localauth-sensor-simulated", "verifier": "localauth-passcode",
            "polkit": "polkit"}
CASES = {"echo": "C echo on sd-bus", "can-evaluate-1": "CanEvaluate(1)", "can-evaluate-2": "CanEvaluate(2)",
         "polkit": "polkitd 122, CheckAuthorization"}


def show(unit, name):
    return subprocess.run(["systemctl", "show", "-P", name, unit], capture_output=True, text=True).stdout.strip()


class System(Rig):
    """The system bus, and the services that systemd runs."""

    def __init__(self, session):
        self.tools, self.processes = os.path.dirname(os.path.abspath(__file__)), {}
        self.address, self.quiet = "unix:path=/run/dbus/system_bus_socket", open(os.devnull, "w")
        self.scope = "/sys/fs/cgroup" + show(show_session(session), "ControlGroup") + "/cgroup.procs"

    def client(self, *words, uid=None, into=subprocess.PIPE):
        def join():
            with open(self.scope, "w") as members:
                members.write(str(os.getpid()))
        return subprocess.Popen([f"{self.tools}/bench-client", words[0], self.address, *map(str, words[1:])],
                                stdin=subprocess.PIPE, stdout=into, text=True, preexec_fn=join,
                                env=dict(os.environ, BENCH_UID=str(uid or USER)))

    def look(self):
        """Finds the running processes."""
        for name, unit in SERVICES.items():
            self.processes[name] = types.SimpleNamespace(pid=int(show(unit, "MainPID")))
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                # The user's own bus has another cgroup.
                is_bus = (process / "comm").read_text().strip() in ("dbus-daemon", "dbus-broker")
                if is_bus and "/system.slice/dbus" in (process / "cgroup").read_text():
                    self.processes["bus"] = types.SimpleNamespace(pid=int(process.name))

    def knows_user(self):
        words = ["runuser", "-u", "alice", "--", "busctl", "call", SERVICE, ROOT, SERVICE, "CanEvaluate", "u", "1"]
        return "bis true" in subprocess.run(words, capture_output=True, text=True).stdout

    def sleep(self, is_before):
        """Ends the services, as after a minute without work."""
        if is_before:
            subprocess.run(["systemctl", "stop", *SLEEPERS], check=True)


def show_session(session):
    done = subprocess.run(["loginctl", "show-session", "-P", "Scope", session], capture_output=True, text=True)
    return done.stdout.strip()


def middle(rounds, *keys):
    def value(one):
        for key in keys:
            one = one.get(key, 0)
        return one
    return statistics.median(value(one) for one in rounds)


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def calls(system, options):
    found, first = {shape: [] for shape in CASES}, {shape: [] for shape in CASES}
    for number in range(options.rounds):
        for shape in list(CASES)[::1 if number % 2 else -1]:
            system.look()
            count = options.calls // (10 if shape == "polkit" else 1)
            found[shape].append(system.round("calls", shape, count, 1, count=count))
            count = max(10, options.calls // 50)
            first[shape].append(system.round("first", shape, count, count=count))
    rows = []
    for shape, title in CASES.items():
        own = shape if shape in ("echo", "polkit") else "localauthd"
        ratio = statistics.median(a["cpu"][own] / b["cpu"]["echo"] for a, b in zip(found[shape], found["echo"]))
        rows.append([title, f"{middle(found[shape], 'cpu', own):.0f} µs", f"{ratio:.2f} x",
                     f"{middle(found[shape], 'cpu', 'bus'):.0f} µs",
                     f"{middle(found[shape], 'p50'):.0f} / {middle(found[shape], 'p99'):.0f} µs",
                     f"{middle(first[shape], 'p50'):.0f} / {middle(first[shape], 'p99'):.0f} µs"])
    table(["one call at a time", "CPU of the service", "of the echo's", "CPU of the bus", "p50 / p99",
           "first call, with connecting: p50 / p99"], rows)


def evaluations(system, options):
    agent = system.client("agent")
    agent.stdout.readline()
    system.processes["agent"] = agent
    count, rounds, cold = max(10, options.calls // 40), [], []
    for _ in range(options.rounds):
        system.look()
        rounds.append(system.round("evaluate", count, "queued", count=count))
        cold.append(system.round("evaluate", 1, "queued", count=1, between=system.sleep)["p50"] / 1e3)
    cpu = ", ".join(f"{name} {middle(rounds, 'cpu', name):.0f}"
                    for name in ("bus", "localauthd", "sensor", "verifier", "agent", "client"))
    table(["", "p50", "p99", "CPU of each process, µs"], [
        ["Evaluate(1): call to reply, prompt included", f"{middle(rounds, 'p50') / 1e3:.2f} ms",
         f"{middle(rounds, 'p99') / 1e3:.2f} ms", cpu],
        ["the same, while the verifier and three sensors sleep", f"{statistics.median(cold):.0f} ms",
         f"{max(cold):.0f} ms (the longest)", "systemd starts them in their sandboxes"]])
    agent.stdin.close()
    agent.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("session")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=2000)
    options = parser.parse_args()
    system = System(options.session)
    print(f"{machine()}; {options.rounds} rounds of {options.calls} calls.\n")
    system.start("echo", [f"{system.tools}/csdbus-service", system.address, "org.localauth.Yardstick"])
    system.owned("org.localauth.Yardstick")
    system.call(*SIMULATED, "AddTemplate", "us", USER, "right thumb")
    system.until(system.knows_user)
    calls(system, options)
    evaluations(system, options)
    system.processes["echo"].terminate()


if __name__ == "__main__":
    main()
