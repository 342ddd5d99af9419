"""Plugs in a keyboard (uhid), types letters on it, and pulls it out."""
import os
import select
import struct
import sys

DESTROY, START, OPEN, CREATE, INPUT = 1, 2, 4, 11, 12
# Eight bytes: modifiers, a reserved one, six keys; as every keyboard has it at start-up.
REPORT = bytes.fromhex(
    "05010906a101050719e029e71500250175019508810295017508810395067508"
    "150025650507190029658100c0"
)
device = os.open("/dev/uhid", os.O_RDWR)


def send(kind, data):
    os.write(device, struct.pack("<I", kind) + data)


def wait_for(kind):
    while True:
        if not select.select([device], [], [], 60)[0]:
            sys.exit(f"keyboard: the kernel did not come to {kind}")
        if struct.unpack_from("<I", os.read(device, 4380))[0] == kind:
            return


name = b"test keyboard"
send(CREATE, struct.pack("<128s64s64sHHIIII4096s", name, b"", b"", len(REPORT), 3, 1, 1, 1, 0, REPORT))
# Opened: somebody listens, here the virtual terminals.
wait_for(OPEN)
for letter in sys.argv[1]:
    for key in (ord(letter) - ord("a") + 4, 0):
        send(INPUT, struct.pack("<H8s", 8, bytes([0, 0, key])))
send(DESTROY, b"")
