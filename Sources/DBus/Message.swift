import CSystemd

/// A received message.
@BusActor
public final class Message {
    /// Fixed for the object's life, and used on the loop's thread only: `deinit` sees to its part.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// How many descriptors came with it; 0 over a socket pair.
    let descriptors: Int
    /// How many bytes it has; 0 over a socket pair.
    let size: Int
    /// The sender of a call, once it is known.
    var caller: Peer?
    /// Whether its values are as few as a call's may be.
    var isBounded = false

    /// Takes over a reference.
    nonisolated init(adopting pointer: OpaquePointer, descriptors: Int = 0, size: Int = 0) {
        self.pointer = pointer
        self.descriptors = descriptors
        self.size = size
    }

    /// Takes a reference of its own.
    convenience init?(sharing pointer: OpaquePointer) {
        guard let pointer = sd_bus_message_ref(pointer) else { return nil }
        self.init(adopting: pointer)
    }

    deinit {
        // Reference counts in sd-bus are not atomic, so the reference is released on the loop's
        // thread.
        if EventLoop.shared.isCurrentThread {
            sd_bus_message_unref(pointer)
        } else {
            let reference = UInt(bitPattern: pointer)
            onLoop { sd_bus_message_unref(OpaquePointer(bitPattern: reference)) }
        }
    }

    /// The unique name of the sender as the bus states it; nil over a socket pair.
    public var sender: String? {
        guard let sender = sd_bus_message_get_sender(pointer) else { return nil }
        return String(cString: sender)
    }

    /// The object that is called, or that sends the signal.
    public var path: String? { sd_bus_message_get_path(pointer).map { String(cString: $0) } }

    /// The interface of the member.
    public var interface: String? {
        sd_bus_message_get_interface(pointer).map { String(cString: $0) }
    }

    /// The method or signal.
    public var member: String? { sd_bus_message_get_member(pointer).map { String(cString: $0) } }

    /// The signature of the whole body.
    public var signature: String {
        sd_bus_message_get_signature(pointer, 1).map { String(cString: $0) } ?? ""
    }

    /// The sender's number of this message; unique on its connection.
    public var serial: UInt32 {
        var cookie: UInt64 = 0
        sd_bus_message_get_cookie(pointer, &cookie)
        return UInt32(truncatingIfNeeded: cookie)
    }

    /// Whether this is an error reply.
    public var isError: Bool { type == UInt8(SD_BUS_MESSAGE_METHOD_ERROR) }

    /// What an error reply says; nil for any other message.
    public var error: DBusError? {
        guard isError, let error = sd_bus_message_get_error(pointer)?.pointee,
            let name = error.name
        else { return nil }
        let text = error.message.map { String(cString: $0) } ?? ""
        guard text.utf8.count <= MessageLimits.string else {
            return DBusError(DBusError.Name(rawValue: String(cString: name)), "")
        }
        return DBusError(DBusError.Name(rawValue: String(cString: name)), text)
    }

    /// Reads the body, whose signature must be exactly `signature`.
    ///
    /// - Throws: `InvalidArgs` when the signature differs, a value is malformed or too large, or
    ///   the message has descriptors that no value uses; `LimitsExceeded` when its sender has too
    ///   many descriptors held already.
    public func read<Value>(
        _ signature: String,
        _ body: (inout MessageReader) throws(DBusError) -> Value
    ) throws(DBusError) -> Value {
        guard sd_bus_message_has_signature(pointer, signature) > 0 else {
            throw DBusError(
                .invalidArgs,
                "The arguments are '\(self.signature)' instead of '\(signature)'."
            )
        }
        guard sd_bus_message_rewind(pointer, 1) >= 0 else { throw MessageReader.malformed }
        var reader = MessageReader(pointer, for: caller?.user, isBounded: isBounded)
        let value = try body(&reader)
        guard descriptors <= reader.descriptors else { throw Self.uselessDescriptors }
        return value
    }

    private static var uselessDescriptors: DBusError {
        DBusError(.invalidArgs, "There are file descriptors that no argument uses.")
    }

    /// Refuses a call with descriptors and nothing that could use them; ``read(_:_:)`` counts those
    /// of the others.
    ///
    /// Of some arguments only a part may use them: `part` is that one's signature.
    func refuseUselessDescriptors(in part: String? = nil) throws(DBusError) {
        guard descriptors > 0 else { return }
        let signature = (part ?? signature).utf8
        guard signature.contains(UInt8(ascii: "h")) || signature.contains(UInt8(ascii: "v")) else {
            throw Self.uselessDescriptors
        }
    }

    // MARK: For the runtime

    var type: UInt8 {
        var type: UInt8 = 0
        sd_bus_message_get_type(pointer, &type)
        return type
    }

    /// The number of the call that this message replies to.
    var replySerial: UInt64 {
        var cookie: UInt64 = 0
        sd_bus_message_get_reply_cookie(pointer, &cookie)
        return cookie
    }

    var expectsReply: Bool { sd_bus_message_get_expect_reply(pointer) > 0 }

    /// A call with the same sender, number and path and nothing else, from which a reply can be
    /// made later; nil when there is no memory.
    ///
    /// A message that waits would keep its body and its descriptors.
    func replySlip() -> Message? {
        var slip: OpaquePointer?
        guard
            sd_bus_message_new_method_call(
                sd_bus_message_get_bus(pointer),
                &slip,
                nil,
                sd_bus_message_get_path(pointer),
                nil,
                sd_bus_message_get_member(pointer)
            ) >= 0,
            let slip
        else { return nil }
        let message = Message(adopting: slip)
        message.caller = caller
        let sender = sd_bus_message_get_sender(pointer)
        guard sender == nil || sd_bus_message_set_sender(slip, sender) >= 0,
            sd_bus_message_set_expect_reply(slip, expectsReply ? 1 : 0) >= 0,
            sd_bus_message_seal(slip, UInt64(serial), 0) >= 0
        else { return nil }
        return message
    }
}
