import CSystemd
import Testing

@testable import DBus

/// A method return, or an error, that nobody asked its sender for.
@BusActor
enum ForgedReply {
    static func send(
        to destination: String,
        serial: UInt32,
        error: String? = nil,
        on connection: Connection
    ) throws {
        var call: OpaquePointer?
        var reply: OpaquePointer?
        defer {
            sd_bus_message_unref(reply)
            sd_bus_message_unref(call)
        }
        // sd-bus makes a reply from a call only: one from the destination, with its serial.
        try #require(
            sd_bus_message_new_method_call(
                connection.bus,
                &call,
                connection.uniqueName,
                "/",
                "org.example.Test1",
                "Hold"
            )
                >= 0
        )
        try #require(sd_bus_message_set_sender(call, destination) >= 0)
        try #require(sd_bus_message_seal(call, UInt64(serial), 0) >= 0)
        if let error {
            let made = error.withCString { name in
                var value = sd_bus_error(name: name, message: nil, _need_free: 0)
                return sd_bus_message_new_method_error(call, &reply, &value)
            }
            try #require(made >= 0)
        } else {
            try #require(sd_bus_message_new_method_return(call, &reply) >= 0)
        }
        try #require(sd_bus_send(connection.bus, reply, nil) >= 0)
    }
}
