import CSystemd

/// Appends values to a message, within ``MessageLimits``.
public struct MessageWriter {
    /// Borrowed from the function that builds the message and lends out the writer.
    let message: OpaquePointer
    var variantDepth = 0
    /// Upper bound of the message's bytes so far.
    private(set) var size = 0

    init(_ message: OpaquePointer) {
        self.message = message
    }

    /// Appends a value.
    ///
    /// - Throws: `InvalidArgs` when the value does not fit the signature or exceeds a limit,
    ///   `LimitsExceeded` when the message gets too large.
    public mutating func write<Value: WireType>(_ value: Value) throws(DBusError) {
        try value.write(to: &self)
    }

    /// Appends a structure.
    ///
    /// `signature` lists the fields without the parentheses.
    public mutating func structure(
        _ signature: String,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try container("r", signature, body)
    }

    /// Throws `LimitsExceeded` if a value makes the message too large.
    private mutating func grow(by count: Int) throws(DBusError) {
        // The value's length field and alignment.
        size += count + 16
        guard size <= MessageLimits.sent else {
            throw DBusError(.limitsExceeded, "The message is too large: ask for less at once.")
        }
    }

    // MARK: Containers

    mutating func entry(
        _ signature: String,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try container("e", signature, body)
    }

    mutating func array(
        _ element: String,
        count: Int,
        limit: Int,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard count <= limit else {
            throw DBusError(.invalidArgs, "An array or dictionary is too long.")
        }
        try container("a", element, body)
    }

    mutating func variant(
        _ signature: String,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        variantDepth += 1
        defer { variantDepth -= 1 }
        guard variantDepth <= MessageLimits.variantDepth else {
            throw DBusError(.invalidArgs, "Variants are nested too deep.")
        }
        try container("v", signature, body)
    }

    private mutating func container(
        _ type: Unicode.Scalar,
        _ contents: String,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try grow(by: contents.utf8.count)
        let code = CChar(truncatingIfNeeded: type.value)
        guard sd_bus_message_open_container(message, code, contents) >= 0 else {
            throw Self.refused
        }
        try body(&self)
        guard sd_bus_message_close_container(message) >= 0 else { throw Self.refused }
    }

    // MARK: Basic types

    mutating func basic<Number: BitwiseCopyable>(
        _ type: Unicode.Scalar,
        _ number: Number
    ) throws(DBusError) {
        try grow(by: MemoryLayout<Number>.size)
        let code = CChar(truncatingIfNeeded: type.value)
        let result = withUnsafePointer(to: number) {
            sd_bus_message_append_basic(message, code, $0)
        }
        guard result >= 0 else { throw Self.refused }
    }

    mutating func text(_ type: Unicode.Scalar, _ text: String) throws(DBusError) {
        // A zero byte would silently truncate the string.
        guard text.utf8.count <= MessageLimits.string, !text.utf8.contains(0) else {
            throw DBusError(.invalidArgs, "A string is too long or contains a zero byte.")
        }
        try grow(by: text.utf8.count)
        let code = CChar(truncatingIfNeeded: type.value)
        let result = text.withCString { sd_bus_message_append_basic(message, code, $0) }
        guard result >= 0 else { throw Self.refused }
    }

    /// Appends a string of any length, for introspection data of a large tree.
    mutating func longText(_ text: String) throws(DBusError) {
        try grow(by: text.utf8.count)
        let result = text.withCString {
            sd_bus_message_append_basic(message, CChar(UInt8(ascii: "s")), $0)
        }
        guard result >= 0 else { throw Self.refused }
    }

    mutating func bytes(_ bytes: [UInt8]) throws(DBusError) {
        guard bytes.count <= MessageLimits.bytes else {
            throw DBusError(.invalidArgs, "A byte array is too long.")
        }
        try grow(by: bytes.count)
        let result = bytes.withUnsafeBytes {
            sd_bus_message_append_array(
                message,
                CChar(UInt8(ascii: "y")),
                $0.baseAddress,
                $0.count
            )
        }
        guard result >= 0 else { throw Self.refused }
    }

    static var refused: DBusError {
        DBusError(.invalidArgs, "A value cannot be put into this message.")
    }
}
