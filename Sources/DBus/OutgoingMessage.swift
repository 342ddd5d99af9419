import CSystemd
import Glibc

/// Builds messages.
///
/// sd-bus checks names and paths and refuses what is not valid.
@BusActor
enum OutgoingMessage {
    /// Appends the body, and checks that it has the announced signature; says how large it is.
    static func fill(
        _ pointer: OpaquePointer,
        _ signature: String,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) -> Amount {
        var writer = MessageWriter(pointer)
        try encode(&writer)
        guard sd_bus_message_has_signature(pointer, signature) > 0 else {
            throw DBusError(.failed, "The values to send are not '\(signature)'.")
        }
        if writer.descriptors > 0, let bus = sd_bus_message_get_bus(pointer) {
            // sd-bus would block, and for ever if the other end is served by this loop too.
            EventSources.shared.finishOpening(bus)
        }
        return Amount(bytes: header + writer.size, descriptors: writer.descriptors)
    }

    /// About what the names in a message's header take.
    private static let header = 256

    /// Sends it, and returns the serial that a reply will carry, or 0 when none is expected.
    static func send(
        _ pointer: OpaquePointer,
        expectingReply: Bool
    ) throws(DBusError) -> UInt64 {
        var cookie: UInt64 = 0
        if expectingReply {
            try check(sd_bus_send(nil, pointer, &cookie))
        } else {
            // Without a place for the number sd-bus marks the message as one without a reply.
            try check(sd_bus_send(nil, pointer, nil))
        }
        return cookie
    }

    /// Sends the reply to a call, and charges it to the caller.
    private static func send(
        _ reply: OpaquePointer,
        _ amount: Amount,
        to call: Message
    ) throws(DBusError) {
        if let caller = call.caller, let receiver = caller.receiver,
            let connection = caller.connection
        {
            _ = try connection.send(reply, amount, to: receiver, asAnswer: true)
        } else {
            _ = try send(reply, expectingReply: false)
        }
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

    /// Whether somebody waits for the answer to a call.
    ///
    /// What is sent to who has left would be charged, and nothing would ever say that it was taken.
    private static func isAwaited(_ call: Message) -> Bool {
        call.expectsReply && call.caller?.hasLeft != true
    }

    /// Answers a call with an error, unless nobody waits for it.
    static func reply(to call: Message, with error: DBusError) {
        guard isAwaited(call) else { return }
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
                let amount = Amount(bytes: header + text.utf8.count)
                // Nobody is left to tell when this fails.
                try? send(reply, amount, to: call)
                sd_bus_message_unref(reply)
            }
        }
    }

    /// Answers a call.
    ///
    /// What is too large becomes `LimitsExceeded`, what cannot be encoded or sent `Failed`.
    static func reply(
        to call: Message,
        _ signature: String,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void
    ) {
        do throws(DBusError) {
            try tryReply(to: call, signature, encode)
        } catch {
            let isTooLarge = error.name == .limitsExceeded
            let failed = DBusError(.failed, "The answer cannot be sent.")
            reply(to: call, with: isTooLarge ? error : failed)
        }
    }

    /// Answers a call, or throws before anything is sent.
    static func tryReply(
        to call: Message,
        _ signature: String,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard isAwaited(call) else { return }
        var pointer: OpaquePointer?
        guard sd_bus_message_new_method_return(call.pointer, &pointer) >= 0, let pointer else {
            throw DBusError(.disconnected, "The connection is closed.")
        }
        defer { sd_bus_message_unref(pointer) }
        let amount = try fill(pointer, signature, encode)
        try send(pointer, amount, to: call)
    }
}
