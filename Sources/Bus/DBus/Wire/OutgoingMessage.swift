import CSystemd
import Glibc

/// Builds messages.
///
/// sd-bus refuses invalid names and paths.
@BusActor
enum OutgoingMessage {
    /// Appends the body, checks its signature, and returns its size.
    static func fill(
        _ pointer: OpaquePointer,
        _ signature: String,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) -> Int {
        var writer = MessageWriter(pointer)
        try encode(&writer)
        guard sd_bus_message_has_signature(pointer, signature) > 0 else {
            throw DBusError(.failed, "The values to send are not '\(signature)'.")
        }
        return header + writer.size
    }

    /// Approximate bytes of the names in a message's header.
    private static let header = 256

    /// Sends a message, and returns the serial of the expected reply, or 0.
    static func send(
        _ pointer: OpaquePointer,
        expectingReply: Bool
    ) throws(DBusError) -> UInt64 {
        var cookie: UInt64 = 0
        if expectingReply {
            try check(sd_bus_send(nil, pointer, &cookie))
        } else {
            // Without a pointer for the cookie, sd-bus marks the message as a call without a reply.
            try check(sd_bus_send(nil, pointer, nil))
        }
        return cookie
    }

    private static func check(_ result: Int32) throws(DBusError) {
        switch -result {
        case ...0: return
        case ENOBUFS, E2BIG, EMSGSIZE:
            throw DBusError(.limitsExceeded, "The message is too large, or too many wait.")
        case ENOTCONN, ECONNRESET, EPIPE, ESHUTDOWN, ESTALE:
            throw DBusError(.disconnected, "The connection is closed.")
        default:
            throw DBusError(.failed, "The message cannot be sent.")
        }
    }

    /// Answers a call with an error, if its sender waits for an answer.
    static func reply(to call: Message, with error: DBusError, on connection: Connection?) {
        guard call.expectsReply, call.caller?.hasLeft != true else { return }
        let isValid = sd_bus_interface_name_is_valid(error.name.rawValue) > 0
        let name = isValid ? error.name : .failed
        let text = error.message.utf8.count <= MessageLimits.string ? error.message : ""
        name.rawValue.withCString { name in
            text.withCString { characters in
                var content = sd_bus_error(name: name, message: characters, _need_free: 0)
                var reply: OpaquePointer?
                guard sd_bus_message_new_method_error(call.pointer, &reply, &content) >= 0,
                    let reply
                else { return }
                // No caller is left to tell if this fails.
                _ = try? send(reply, expectingReply: false)
                connection?.callGuard?.sent(header + text.utf8.count, to: call.sender)
                sd_bus_message_unref(reply)
            }
        }
    }

    /// Answers a call, or throws before any message is sent.
    static func reply(
        to call: Message,
        _ signature: String,
        isSensitive: Bool,
        on connection: Connection?,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard call.expectsReply else { return }
        var pointer: OpaquePointer?
        guard sd_bus_message_new_method_return(call.pointer, &pointer) >= 0, let pointer else {
            throw DBusError(.disconnected, "The connection is closed.")
        }
        defer { sd_bus_message_unref(pointer) }
        if isSensitive { sd_bus_message_sensitive(pointer) }
        let size = try fill(pointer, signature, encode)
        if let callGuard = connection?.callGuard, let sender = call.sender,
            !callGuard.mayReceive(size, sender)
        {
            throw DBusError(.limitsExceeded, "Too many replies of this user are unread.")
        }
        _ = try send(pointer, expectingReply: false)
        connection?.callGuard?.sent(size, to: call.sender)
    }
}
