"""Imitates GDM's session worker, as PAM, the login manager and the lock screen see it.

Root opens the session of a user on the seat and stays in it. For each question of the lock screen it starts a worker,
which therefore is root in that session, too.

    gdm.py USER COMMANDS [HOST]    runs each line of the pipe COMMANDS in a worker

With HOST the session comes from that host. A worker's output goes to COMMANDS.out, then its status to COMMANDS.status.
"""

import ctypes
import os
import subprocess
import sys

user, commands, *host = sys.argv[1:]
pam = ctypes.CDLL("libpam.so.0")
CONVERSE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)


class Conversation(ctypes.Structure):
    _fields_ = [("converse", CONVERSE), ("data", ctypes.c_void_p)]


def check(result):
    if result != 0:
        sys.exit(f"PAM says {result}")


# No user is there to answer: PAM_CONV_ERR.
conversation = Conversation(CONVERSE(lambda *_: 19), None)
handle = ctypes.c_void_p()
check(
    pam.pam_start(
        b"gdm-fingerprint", user.encode(), ctypes.byref(conversation), ctypes.byref(handle)
    )
)
remote_host = 4
for name in host:
    check(pam.pam_set_item(handle, remote_host, name.encode()))
for variable in ["XDG_SESSION_TYPE=wayland", "XDG_SESSION_CLASS=user"] + (
    [] if host else ["XDG_SEAT=seat0"]
):
    check(pam.pam_putenv(handle, variable.encode()))
check(pam.pam_open_session(handle, 0))
print("opened", flush=True)
pipe = os.open(commands, os.O_RDWR)
with os.fdopen(pipe) as lines:
    for line in lines:
        with open(commands + ".out", "w") as out:
            status = subprocess.run(line, shell=True, stdout=out, stderr=out).returncode
        with open(commands + ".ends", "w") as ends:
            ends.write(f"{status}\n")
        os.rename(commands + ".ends", commands + ".status")
