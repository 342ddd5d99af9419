import CSystemd

@BusActor
public final class Message {
    // SAFETY: fixed for the object's life, and used on the loop's thread alone: see `deinit`.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// The sender of a call, once it is known.
    var caller: Peer?
    /// Whether the stricter limits of calls apply to the values.
    var isBounded = false

    /// Takes over a reference.
    nonisolated init(adopting pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Takes a reference of its own.
    convenience init?(sharing pointer: OpaquePointer) {
        guard let pointer = sd_bus_message_ref(pointer) else { return nil }
        self.init(adopting: pointer)
    }

    deinit {
        // Reference counts in sd-bus are not atomic, so only the loop's thread may release them.
        if EventLoop.shared.isCurrentThread {
            sd_bus_message_unref(pointer)
        } else {
            let reference = UInt(bitPattern: pointer)
            onLoop { sd_bus_message_unref(OpaquePointer(bitPattern: reference)) }
        }
    }

    /// The unique name of the sender, as the bus states it.
    public var sender: String? {
        guard let sender = sd_bus_message_get_sender(pointer) else { return nil }
        return String(cString: sender)
    }

    /// The object that is called, or that sends the signal.
    public var path: String? { sd_bus_message_get_path(pointer).map { String(cString: $0) } }

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

    public var isError: Bool { type == UInt8(SD_BUS_MESSAGE_METHOD_ERROR) }

    /// The error of an error reply; nil for any other message.
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
    /// - Throws: `InvalidArgs` when the signature differs, or a value is malformed or too large.
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
        var reader = MessageReader(pointer, isBounded: isBounded)
        return try body(&reader)
    }

    // MARK: For the runtime

    var type: UInt8 {
        var type: UInt8 = 0
        sd_bus_message_get_type(pointer, &type)
        return type
    }

    /// The serial of the call that this message answers.
    var replySerial: UInt64 {
        var cookie: UInt64 = 0
        sd_bus_message_get_reply_cookie(pointer, &cookie)
        return cookie
    }

    /// Whether the sender waits for an answer.
    package var expectsReply: Bool { sd_bus_message_get_expect_reply(pointer) > 0 }

    /// Returns a copy of a call without its arguments, for a later refusal, or nil on failure.
    package func withoutArguments() -> Message? {
        var copy: OpaquePointer?
        let made = sd_bus_message_new_method_call(
            sd_bus_message_get_bus(pointer),
            &copy,
            nil,
            sd_bus_message_get_path(pointer),
            sd_bus_message_get_interface(pointer),
            sd_bus_message_get_member(pointer)
        )
        guard made >= 0, let copy else { return nil }
        let call = Message(adopting: copy)
        guard sd_bus_message_set_sender(copy, sd_bus_message_get_sender(pointer)) >= 0,
            sd_bus_message_seal(copy, UInt64(serial), 0) >= 0
        else { return nil }
        return call
    }

    /// Makes sd-bus erase the message from memory when it is released, because it carries a secret.
    func markSensitive() { sd_bus_message_sensitive(pointer) }

    /// The approximate bytes of the values; nil beyond ``MessageLimits/elementsOfCall`` values.
    package lazy var size: Int? = {
        guard sd_bus_message_rewind(pointer, 1) >= 0 else { return nil }
        var measure = MessageMeasure(pointer)
        return measure.values() ? measure.bytes : nil
    }()
}

/// Adds up the bytes of a message's values without copies.
///
/// sd-bus does not report the size.
private struct MessageMeasure {
    private let message: OpaquePointer
    private var count = 0
    private(set) var bytes = 0

    init(_ message: OpaquePointer) { self.message = message }

    /// Measures the values up to the end of the container; false if too many or malformed.
    mutating func values() -> Bool {
        while true {
            var type = CChar()
            // SAFETY: sd-bus sets it to memory of the message, which outlives this call.
            var contents: UnsafePointer<CChar>?
            let found = sd_bus_message_peek_type(message, &type, &contents)
            if found == 0 { return true }
            count += 1
            guard found > 0, count <= MessageLimits.elementsOfCall, value(type, contents) else {
                return false
            }
        }
    }

    // SAFETY: `contents` points into the message until the next peek.
    private mutating func value(_ type: CChar, _ contents: UnsafePointer<CChar>?) -> Bool {
        bytes += 8
        switch Unicode.Scalar(UInt8(bitPattern: type)) {
        case "s", "o", "g":
            // SAFETY: points into the message, which outlives this call.
            var text: UnsafePointer<CChar>?
            guard sd_bus_message_read_basic(message, type, &text) > 0, let text else {
                return false
            }
            bytes += strlen(text)
            return true
        case "a":
            guard let contents else { return false }
            return array(contents)
        case "r", "e", "v":
            // Copied, because sd-bus frees its string at the next peek.
            guard let inner = contents.map({ String(cString: $0) }),
                sd_bus_message_enter_container(message, type, inner) > 0
            else { return false }
            return values() && sd_bus_message_exit_container(message) >= 0
        default:
            var number: UInt64 = 0
            return sd_bus_message_read_basic(message, type, &number) > 0
        }
    }

    // SAFETY: `contents` is a string that sd-bus keeps until the next peek.
    private mutating func array(_ contents: UnsafePointer<CChar>) -> Bool {
        let inner = String(cString: contents)
        if inner.utf8.count == 1, "ybnqiuxtd".contains(inner) {
            var length = 0
            // SAFETY: points into the message, which outlives this call.
            var start: UnsafeRawPointer?
            guard sd_bus_message_read_array(message, contents[0], &start, &length) >= 0 else {
                return false
            }
            bytes += length
            return true
        }
        guard sd_bus_message_enter_container(message, CChar(UInt8(ascii: "a")), inner) > 0 else {
            return false
        }
        return values() && sd_bus_message_exit_container(message) >= 0
    }
}
