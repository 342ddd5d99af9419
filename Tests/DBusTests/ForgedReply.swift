import CSystemd
import Testing

@testable import DBus

/// A method return that nobody asked its sender for.
@BusActor
enum ForgedReply {
    static func send(to destination: String, serial: UInt32, on connection: Connection) throws {
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
        try #require(sd_bus_message_new_method_return(call, &reply) >= 0)
        try #require(sd_bus_send(connection.bus, reply, nil) >= 0)
    }
}
