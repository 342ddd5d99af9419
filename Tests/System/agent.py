"""A prompt agent without a window: accepts every prompt, and prints "Ready" after registering.

Runs as a unit of a user's service manager, like a desktop's agent. After a restart of the service it registers
again, and prints "Ready" or exits with the error.
"""
import ctypes
import sys

SERVICE = b"org.localauth.Authentication1"
systemd = ctypes.CDLL("libsystemd.so.0")


class Error(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("message", ctypes.c_char_p), ("free", ctypes.c_int)]


bus, comes = ctypes.c_void_p(), []


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
def answer(message, _data, _error):
    message = ctypes.c_void_p(message)
    if systemd.sd_bus_message_is_signal(message, b"org.freedesktop.DBus", b"NameOwnerChanged") > 0:
        words = [ctypes.c_char_p() for _ in range(3)]
        systemd.sd_bus_message_read(message, b"sss", *map(ctypes.byref, words))
        if words[0].value == SERVICE and words[2].value:
            comes.append(words[2].value)
        return 0
    if systemd.sd_bus_message_is_method_call(message, b"org.localauth.Agent1", None) <= 0:
        return 0
    return systemd.sd_bus_reply_method_return(message, None)


def register():
    error = Error()
    registered = systemd.sd_bus_call_method(
        bus, SERVICE, b"/org/localauth/Authentication1", SERVICE, b"RegisterAgent",
        ctypes.byref(error), None, b"oa{sv}", b"/agent", ctypes.c_int(0),
    )
    if registered < 0:
        sys.exit((error.message or b"?").decode())
    print("Ready", flush=True)


if systemd.sd_bus_open_system(ctypes.byref(bus)) < 0:
    sys.exit("there is no bus")
systemd.sd_bus_add_filter(bus, None, answer, None)
systemd.sd_bus_add_match(
    bus, None, b"type='signal',member='NameOwnerChanged',arg0='%s'" % SERVICE, None, None
)
register()
while systemd.sd_bus_process(bus, None) >= 0:
    if comes:
        comes.clear()
        register()
    systemd.sd_bus_wait(bus, ctypes.c_uint64(2**64 - 1))
sys.exit("the bus is gone")
