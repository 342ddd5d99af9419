"""A client with a single context: evaluates by biometry for each line of input, and prints `granted` with the
mechanism, or the name of the error."""
import ctypes
import sys

SERVICE = b"org.localauth.Authentication1"
CONTEXT = b"org.localauth.Context1"
MANAGER = b"/org/localauth/Authentication1"
systemd = ctypes.CDLL("libsystemd.so.0")


class Error(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("message", ctypes.c_char_p), ("free", ctypes.c_int)]


def call(path, interface, member, signature, *values):
    """Returns the reply; raises ValueError with the name of an error."""
    message, answer, error = ctypes.c_void_p(), ctypes.c_void_p(), Error()
    systemd.sd_bus_message_new_method_call(
        bus, ctypes.byref(message), SERVICE, path, interface, member
    )
    systemd.sd_bus_message_append(message, signature, *values, ctypes.c_int(0))
    patience = ctypes.c_uint64(300_000_000)
    if systemd.sd_bus_call(bus, message, patience, ctypes.byref(error), ctypes.byref(answer)) < 0:
        raise ValueError((error.name or b"?").decode())
    return answer


def mechanism(answer):
    """Returns the value of `mechanism` in a result."""
    key, word = ctypes.c_char_p(), ctypes.c_char_p()
    systemd.sd_bus_message_enter_container(answer, ctypes.c_char(b"a"), b"{sv}")
    while systemd.sd_bus_message_enter_container(answer, ctypes.c_char(b"e"), b"sv") > 0:
        systemd.sd_bus_message_read(answer, b"s", ctypes.byref(key))
        if key.value == b"mechanism":
            systemd.sd_bus_message_read(answer, b"v", b"s", ctypes.byref(word))
            return word.value.decode()
        systemd.sd_bus_message_skip(answer, b"v")
        systemd.sd_bus_message_exit_container(answer)
    return "?"


bus, context = ctypes.c_void_p(), ctypes.c_char_p()
if systemd.sd_bus_open_system(ctypes.byref(bus)) < 0:
    sys.exit("there is no bus")
made = call(MANAGER, SERVICE, b"CreateContext", b"a{sv}")
systemd.sd_bus_message_read(made, b"o", ctypes.byref(context))
for number, _ in enumerate(sys.stdin, 1):
    try:
        result = call(
            context.value, CONTEXT, b"Evaluate", b"usa{sv}", ctypes.c_uint32(1), b"keep this"
        )
        print(f"{number} granted {mechanism(result)}", flush=True)
    except ValueError as error:
        print(f"{number} {error}", flush=True)
