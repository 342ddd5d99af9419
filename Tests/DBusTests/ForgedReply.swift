import CSystemd
import Testing

@testable import DBus

/// A method return, or an error, without a call.
@BusActor
enum ForgedReply {
    static func send(
        to destination: String,
        serial: UInt32,
        error: String? = nil,
        on connection: Connection
    ) throws {
        let reply = try make(to: destination, serial: serial, error: error, on: connection)
        defer { sd_bus_message_unref(reply) }
        try #require(sd_bus_send(connection.bus, reply, nil) >= 0)
    }

    /// Returns a method return as a connection receives it, without a bus between.
    static func received(
        from sender: String,
        serial: UInt32,
        on connection: Connection
    ) throws -> Message {
        let reply = try make(to: connection.uniqueName, serial: serial, on: connection)
        let message = Message(adopting: reply)
        try #require(sd_bus_message_set_sender(reply, sender) >= 0)
        try #require(sd_bus_message_seal(reply, 1, 0) >= 0)
        return message
    }

    private static func make(
        to destination: String,
        serial: UInt32,
        error: String? = nil,
        on connection: Connection
    ) throws -> OpaquePointer {
        var call: OpaquePointer?
        var reply: OpaquePointer?
        defer { sd_bus_message_unref(call) }
        // sd-bus makes a reply only from a call, so make a call of the destination with its serial.
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
        return try #require(reply)
    }
}
