"""Follows a page literally: types each of its commands, and compares the output.

    python3 follow.py PAGE

Runs as root in the booted system. The commands are in blocks that begin with ```console. Root types lines that
begin with `# `, alice types `$ ` in a local session and `ssh$ ` over ssh. The lines below a command are its expected
output. There, a … matches any text in a line, and a line with only a … matches any lines. Where the output contains
"Enter your password", alice's password is typed.
"""
import os
import pty
import re
import select
import struct
import sys
import termios
import fcntl
import time

PATIENCE = 120
SHELLS = {
    "# ": ["bash", "--norc", "--noprofile", "--noediting"],
    # Without the capability, Debian 13's login does not hang up its terminal.
    "$ ": ["setpriv", "--bounding-set=-sys_tty_config", "login", "-f", "alice"],
    "ssh$ ": ["ssh", "-tt", "alice@127.0.0.1"],
}
PROMPT = re.compile(r"<<(\d+)>>$")
# The last line of a terminal that waits for a password.
QUESTION = re.compile(r"(?m)^.*[Pp]assword.*: ?$")
ASKS = "Enter your password"
PASSWORD = "alice"


class Shell:
    """A shell on a new terminal."""

    def __init__(self, words):
        # Kept open here as well, because login closes it for a moment.
        self.terminal, self.inner = pty.openpty()
        if os.fork() == 0:
            os.login_tty(self.inner)
            os.environ.update(TERM="dumb", LC_ALL="C.UTF-8", DEBIAN_FRONTEND="noninteractive")
            os.execvp(words[0], words)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        # login discards what was typed before.
        self.read([], re.compile(r"[#$] $"))
        self.type("exec env LC_ALL=C.UTF-8 bash --norc --noprofile --noediting")
        self.type("stty -echo; PS1='<''<$?>''>' PS2=")
        self.read([])

    def type(self, line):
        os.write(self.terminal, line.encode() + b"\n")

    def read(self, answers, prompt=PROMPT):
        """Returns the output up to the next prompt; each password question takes the next answer."""
        data, answered = b"", 0
        end = time.monotonic() + PATIENCE
        while True:
            ready = select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]
            if not ready:
                raise SystemExit(f"follow: nothing more came after: {plain(data)}")
            data += os.read(self.terminal, 65536)
            text = plain(data)
            if prompt.search(text):
                return prompt.sub("", text)
            question = QUESTION.search(text, answered)
            if question and question.end() == len(text):
                # A question drawn anew below its cause has been answered already.
                if answers:
                    self.type(answers.pop(0))
                elif not answered:
                    raise SystemExit(f"follow: nobody said that it asks: {text}")
                answered = question.end()


def plain(data):
    """Removes escape sequences, and keeps only the final text of overwritten lines."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\a]*\a", "", data.decode(errors="replace"))
    text = re.sub(r"\r+\n", "\n", text)
    return "\n".join(line.split("\r")[-1] for line in text.split("\n"))


def steps(page):
    """Returns each command as line number, shell, typed lines and expected output."""
    found, inside = [], False
    for number, line in enumerate(page.split("\n"), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside:
            who = next((who for who in SHELLS if line.startswith(who)), None)
            if who:
                found.append((number, who, [line[len(who):]], []))
            elif line.startswith("> ") and not found[-1][3]:
                found[-1][2].append(line[2:])
            else:
                found[-1][3].append(line)
    return found


def pattern(expected):
    parts = []
    for line in expected:
        if line == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(map(re.escape, line.rstrip().split("…"))) + r"[ ]*\n")
    return re.compile("".join(parts))


def main():
    shells, failures = {}, 0
    for number, who, typed, expected in steps(open(sys.argv[1], encoding="utf-8").read()):
        shell = shells.get(who) or shells.setdefault(who, Shell(SHELLS[who]))
        for line in typed:
            shell.type(line)
        answers = [PASSWORD for line in expected if line.startswith(ASKS)]
        said = shell.read(answers).strip("\n")
        print(f"{who}{typed[0]}\n{said}", flush=True)
        if not pattern(expected).fullmatch(said + "\n" if said else ""):
            wanted = "\n".join(expected)
            print(f"follow: line {number}: the page says:\n{wanted}", flush=True)
            failures += 1
    raise SystemExit(1 if failures else 0)


main()
