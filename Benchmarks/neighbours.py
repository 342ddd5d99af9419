"""Processes of other users on a bus, and the flood that they make."""
import os
import pwd
import select
import signal
import struct
import sys
import time

from rig import NOBODY
from wire import Connection

# dbus-daemon closes connections of a uid without a name.
NEIGHBOURS = sorted({entry.pw_uid for entry in pwd.getpwall()} - {0, NOBODY})
# Pairs of calls that a connection sends in one block.
PAIRS = 32


def child(work, *arguments):
    """The pid of a process that works until it is ended."""
    pid = os.fork()
    if pid == 0:
        try:
            work(*arguments)
        except (OSError, KeyboardInterrupt) as error:
            print(f"flood: {work.__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(1)
    return pid


def end(pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def become(uid):
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


class Flooder:
    """A connection that calls as fast as the bus takes the calls, and drops the replies."""

    def __init__(self, path, make_call):
        self.connection, self.rest, self.offsets = Connection(path), b"", []
        pair = [make_call(self.connection.name, is_second) for is_second in (False, True)]
        self.block = bytearray()
        for message in pair * PAIRS:
            self.offsets.append(len(self.block) + 8)
            self.block += message
        self.connection.socket.setblocking(False)

    def push(self):
        """Sends a part of a block. True at the end of a block, None when the bus takes nothing."""
        link = self.connection
        try:
            while link.socket.recv(1 << 18):
                continue
            raise ConnectionResetError
        except BlockingIOError:
            pass
        if not self.rest:
            for offset in self.offsets:
                link.serial = link.serial % 0xffffffff + 1
                struct.pack_into("<I", self.block, offset, link.serial)
            self.rest = bytes(self.block)
        try:
            self.rest = self.rest[link.socket.send(self.rest):]
        except BlockingIOError:
            return None
        return not self.rest


def flood(path, number, connections, make_call, counts):
    """Floods as one user until its process ends. The calls that the bus took are counted in its place."""
    become(NEIGHBOURS[number])
    flooders, place, parent = [], 8 * number, os.getppid()
    while os.getppid() == parent:
        try:
            while len(flooders) < connections:
                flooders.append(Flooder(path, make_call))
        except OSError:
            time.sleep(0.01)
        is_full = True
        for flooder in list(flooders):
            try:
                pushed = flooder.push()
            except OSError:
                flooders.remove(flooder)
                continue
            is_full = is_full and pushed is None
            if pushed:
                struct.pack_into("<Q", counts, place, struct.unpack_from("<Q", counts, place)[0] + 2 * PAIRS)
        if is_full:
            sockets = [flooder.connection.socket for flooder in flooders]
            select.select(sockets, sockets, [], 0.01)
