"""A program that only reads, as a baseline: no service can answer earlier.

Takes the service's name on the system bus, reads all input a megabyte at a time, and answers only calls of a member
"Honest". For each of these it prints the number of bytes before it.
"""

import os
import socket
import struct

NAME = "org.localauth.Authentication1"


def padded(data, size=8):
    return data + bytes(-len(data) % size)


def string(value):
    return struct.pack("<I", len(value)) + value.encode() + b"\0"


def field(code, kind, value):
    return bytes([code, 1]) + kind.encode() + b"\0" + value


def message(kind, serial, fields, body=b""):
    header = b""
    for part in fields:
        header = padded(header) + part
    start = bytes([ord("l"), kind, 0, 1]) + struct.pack("<III", len(body), serial, len(header))
    return padded(start + header) + body


def call(serial, member, signature=None, body=b""):
    bus = "org.freedesktop.DBus"
    fields = [
        field(1, "o", string("/org/freedesktop/DBus")),
        field(2, "s", string(bus)),
        field(3, "s", string(member)),
        field(6, "s", string(bus)),
    ]
    if signature:
        fields.append(field(8, "g", bytes([len(signature)]) + signature.encode() + b"\0"))
    return message(1, serial, fields, body)


def sizes(data, at):
    body, _, fields = struct.unpack_from("<III", data, at + 4)
    header = 16 + fields + -fields % 8
    return header, header + body


def main():
    bus = socket.socket(socket.AF_UNIX)
    bus.connect("/run/dbus/system_bus_socket")
    bus.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\nBEGIN\r\n")
    request = padded(string(NAME), 4) + struct.pack("<I", 0)
    bus.sendall(call(1, "Hello") + call(2, "RequestName", "su", request))
    data = b""
    while b"\r\n" not in data:
        data += bus.recv(4096)
    data = data[data.index(b"\r\n") + 2 :]
    print("ready", flush=True)
    serial, before = 2, 0
    while True:
        at = 0
        while len(data) - at >= 16:
            header, size = sizes(data, at)
            if len(data) - at < size:
                break
            head = data[at : at + header]
            if head[1] == 1 and b"Honest" in head:
                # The sender is the last field, and the only unique name before the body.
                start = head.rindex(b"\x07\x01s\0") + 4
                length = struct.unpack_from("<I", head, start)[0]
                sender = head[start + 4 : start + 4 + length].decode()
                serial += 1
                answer = field(5, "u", head[8:12])
                bus.sendall(message(2, serial, [answer, field(6, "s", string(sender))]))
                print(f"behind {before + at} bytes", flush=True)
                before = -at
            at += size
        before += at
        data = data[at:] + bus.recv(1 << 20)


main()
