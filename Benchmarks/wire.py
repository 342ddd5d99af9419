"""A small D-Bus client for measurements: the wire format, and connections of any user."""
import os
import select
import socket
import struct
import time

CALL, REPLY, ERROR, NO_REPLY = 1, 2, 3, 1
DRIVER = "org.freedesktop.DBus"


def align(out, size):
    out += bytes(-len(out) % size)


def put(out, kind, value):
    """Appends a value. A structure is a list of (kind, value), an array the alignment of its elements and the list."""
    if kind == "y":
        out.append(value)
    elif kind == "u":
        align(out, 4)
        out += struct.pack("<I", value)
    elif kind in "so":
        put(out, "u", len(value.encode()))
        out += value.encode() + b"\0"
    elif kind == "g":
        out += bytes([len(value)]) + value.encode() + b"\0"
    elif kind == "v":
        put(out, "g", value[0])
        put(out, *value)
    elif kind == "(":
        align(out, 8)
        for part in value:
            put(out, *part)
    elif kind == "a":
        put(out, "u", 0)
        place = len(out)
        align(out, value[0])
        start = len(out)
        for part in value[1]:
            put(out, *part)
        struct.pack_into("<I", out, place - 4, len(out) - start)


def encode(kind, flags, fields, signature, body):
    """A message without its serial."""
    content = bytearray()
    for part in body:
        put(content, *part)
    if signature:
        fields = [*fields, (8, "g", signature)]
    out = bytearray(b"l") + bytes([kind, flags, 1]) + struct.pack("<II", len(content), 0)
    put(out, "a", (8, [("(", [("y", code), ("v", value)]) for code, *value in fields]))
    align(out, 8)
    return out + content


def method(destination, path, interface, member, signature="", body=(), flags=0):
    return encode(CALL, flags, [(1, "o", path), (2, "s", interface), (3, "s", member), (6, "s", destination)],
                  signature, body)


class Connection:
    """A connection to a bus. With a uid, root opens it as that user."""

    def __init__(self, path, uid=None):
        self.socket, self.buffer, self.serial = socket.socket(socket.AF_UNIX), b"", 0
        self.socket.settimeout(60)
        try:
            if uid is not None:
                os.seteuid(uid)
            self.socket.connect(path)
            self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.geteuid()).encode().hex().encode() + b"\r\n")
        finally:
            if uid is not None:
                os.seteuid(0)
        if not self.socket.recv(4096).startswith(b"OK"):
            raise OSError("the bus refused the user")
        self.socket.sendall(b"BEGIN\r\n")
        kind, _, body = self.call(method(DRIVER, "/org/freedesktop/DBus", DRIVER, "Hello"))
        if kind != REPLY:
            raise OSError("the bus refused the connection")
        self.name = body[4:-1].decode()
        self.socket.settimeout(None)

    def send(self, message):
        self.serial += 1
        struct.pack_into("<I", message, 8, self.serial)
        self.socket.sendall(message)
        return self.serial

    def receive(self, end=None):
        """The next message: its kind, its serial, its header fields, its body. None once the time is up."""
        while True:
            if len(self.buffer) >= 16:
                length, serial, fields = struct.unpack_from("<III", self.buffer, 4)
                start = 16 + fields + -fields % 8
                if len(self.buffer) >= start + length:
                    message, self.buffer = self.buffer[:start + length], self.buffer[start + length:]
                    return message[1], serial, self.fields(message, 16 + fields), message[start:]
            if end is not None and not select.select([self.socket], [], [], max(0, end - time.monotonic()))[0]:
                return None
            data = self.socket.recv(65536)
            if not data:
                raise OSError("the bus closed the connection")
            self.buffer += data

    @staticmethod
    def fields(message, end):
        found, place = {}, 16
        while place < end:
            place += -place % 8
            code, kind, place = message[place], chr(message[place + 2]), place + 4
            if kind == "g":
                value, place = None, place + message[place] + 2
            else:
                number = struct.unpack_from("<I", message, place)[0]
                value, place = number, place + 4
                if kind != "u":
                    value, place = message[place:place + number].decode(), place + number + 1
            found[code] = value
        return found

    def call(self, message, patience=30):
        """The kind of reply, its error, and its body. None without a reply in so many seconds."""
        serial, end = self.send(message), time.monotonic() + patience
        while True:
            received = self.receive(end)
            if received is None:
                return None
            kind, _, fields, body = received
            if kind in (REPLY, ERROR) and fields.get(5) == serial:
                return kind, fields.get(4), body
