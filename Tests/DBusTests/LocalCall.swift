import CSystemd
import Testing

@testable import DBus

/// A call of `Hold` as a connection receives it, without a bus between.
@BusActor
enum LocalCall {
    static func make(
        on connection: Connection,
        from sender: String? = nil,
        _ signature: String = "",
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in }
    ) throws -> Message {
        var pointer: OpaquePointer?
        sd_bus_message_new_method_call(connection.bus, &pointer, nil, "/", nil, "Hold")
        let message = Message(adopting: try #require(pointer))
        _ = try OutgoingMessage.fill(message.pointer, signature, encode)
        if let sender { sd_bus_message_set_sender(message.pointer, sender) }
        sd_bus_message_seal(message.pointer, 1, 0)
        return message
    }
}
