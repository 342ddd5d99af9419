import CSystemd
import Glibc

/// Reads the values of a received message in order, within ``MessageLimits``.
public struct MessageReader {
    /// Borrowed from the message, which outlives the closure with the reader.
    private let message: OpaquePointer
    private var elements = 0
    /// Values in variants so far.
    private var values = 0
    /// Approximate bytes of the values so far.
    private(set) var size = 0
    /// Whether the stricter limits apply, because the sender may want to keep the loop busy.
    private let isBounded: Bool
    var variantDepth = 0

    init(_ message: OpaquePointer, isBounded: Bool = false) {
        self.message = message
        self.isBounded = isBounded
    }

    /// Reads the next value.
    ///
    /// - Throws: `InvalidArgs` when the value has another type, is malformed or exceeds a limit.
    public mutating func read<Value: WireType>(
        _ type: Value.Type
    ) throws(DBusError) -> Value {
        try Value(from: &self)
    }

    /// Reads the fields of a structure.
    ///
    /// `signature` lists the fields without the parentheses.
    public mutating func structure<Value>(
        _ signature: String,
        _ body: (inout MessageReader) throws(DBusError) -> Value
    ) throws(DBusError) -> Value {
        try container("r", signature, body)
    }

    // MARK: Containers

    package mutating func entry<Value>(
        _ signature: String,
        _ body: (inout MessageReader) throws(DBusError) -> Value
    ) throws(DBusError) -> Value {
        try container("e", signature, body)
    }

    var longestDictionary: Int {
        isBounded ? MessageLimits.dictionaryOfCall : MessageLimits.dictionary
    }

    /// Refuses a long key in a dictionary of a call.
    ///
    /// Comparing keys takes long if they are spelt differently in Unicode and differ only at their
    /// ends. Thousands of keys of a thousand bytes kept the loop busy for seconds.
    func check(name: String) throws(DBusError) {
        guard !isBounded || name.utf8.count <= MessageLimits.nameOfCall else {
            throw DBusError(.invalidArgs, "A name in a dictionary is too long.")
        }
    }

    package mutating func array(
        _ element: String,
        limit: Int,
        _ body: (inout MessageReader) throws(DBusError) -> Void
    ) throws(DBusError) {
        try container("a", element) { (reader: inout MessageReader) throws(DBusError) in
            var count = 0
            while sd_bus_message_at_end(reader.message, 0) == 0 {
                count += 1
                try reader.countElement(count, limit: limit)
                try body(&reader)
            }
        }
    }

    mutating func texts(_ type: Unicode.Scalar) throws(DBusError) -> [String] {
        try container("a", String(type)) { (reader: inout MessageReader) throws(DBusError) in
            var texts: [String] = []
            while sd_bus_message_at_end(reader.message, 0) == 0 {
                try reader.countElement(texts.count + 1, limit: MessageLimits.array)
                texts.append(try reader.text(type))
            }
            return texts
        }
    }

    /// Counts an element of an array or dictionary.
    private mutating func countElement(_ count: Int, limit: Int) throws(DBusError) {
        elements += 1
        let most = isBounded ? MessageLimits.elementsOfCall : MessageLimits.elements
        guard count <= limit, elements <= most else {
            throw DBusError(.invalidArgs, "An array or dictionary is too long.")
        }
        size += MessageLimits.bytesOfElement
        if variantDepth > 0 { try countValue() }
    }

    /// Counts a value in a variant.
    ///
    /// Reading values of any type one by one is slow: a message full of them keeps the loop busy
    /// for seconds. Only replies to a process without neighbours may be full of them.
    mutating func countValue() throws(DBusError) {
        values += 1
        size += MessageLimits.bytesOfElement
        guard !isBounded || values <= MessageLimits.valuesOfCall else {
            throw DBusError(.invalidArgs, "There are too many values in variants.")
        }
    }

    /// Calls `body` with the signature of the value inside.
    mutating func variant<Value>(
        _ body: (inout MessageReader, String) throws(DBusError) -> Value
    ) throws(DBusError) -> Value {
        variantDepth += 1
        defer { variantDepth -= 1 }
        guard variantDepth <= MessageLimits.variantDepth else {
            throw DBusError(.invalidArgs, "Variants are nested too deep.")
        }
        var type = CChar()
        // SAFETY: points into the message, and is copied before the next peek.
        var contents: UnsafePointer<CChar>?
        guard sd_bus_message_peek_type(message, &type, &contents) > 0,
            type == CChar(UInt8(ascii: "v")), let contents
        else { throw Self.malformed }
        // Copied, because sd-bus frees its string at the next peek.
        let signature = String(cString: contents)
        return try container("v", signature) { (reader: inout MessageReader) throws(DBusError) in
            try body(&reader, signature)
        }
    }

    package mutating func skipVariant() throws(DBusError) {
        guard sd_bus_message_skip(message, "v") >= 0 else { throw Self.malformed }
    }

    private mutating func container<Value>(
        _ type: Unicode.Scalar,
        _ contents: String,
        _ body: (inout MessageReader) throws(DBusError) -> Value
    ) throws(DBusError) -> Value {
        let code = CChar(truncatingIfNeeded: type.value)
        guard sd_bus_message_enter_container(message, code, contents) > 0 else {
            throw Self.malformed
        }
        let value = try body(&self)
        guard sd_bus_message_exit_container(message) >= 0 else { throw Self.malformed }
        return value
    }

    // MARK: Basic types

    /// Reads a number.
    ///
    /// `start` only selects the type.
    mutating func basic<Number: BitwiseCopyable>(
        _ type: Unicode.Scalar,
        _ start: Number
    ) throws(DBusError) -> Number {
        var value = start
        let code = CChar(truncatingIfNeeded: type.value)
        guard sd_bus_message_read_basic(message, code, &value) > 0 else { throw Self.malformed }
        return value
    }

    /// Reads a string, path or signature.
    ///
    /// sd-bus checks its syntax and its UTF-8.
    mutating func text(_ type: Unicode.Scalar) throws(DBusError) -> String {
        // SAFETY: points into the message, and is copied before the message is released.
        var value: UnsafePointer<CChar>?
        let code = CChar(truncatingIfNeeded: type.value)
        guard sd_bus_message_read_basic(message, code, &value) > 0, let value else {
            throw Self.malformed
        }
        let length = strnlen(value, MessageLimits.string + 1)
        guard length <= MessageLimits.string else {
            throw DBusError(.invalidArgs, "A string is too long.")
        }
        size += length
        return String(cString: value)
    }

    mutating func bytes() throws(DBusError) -> [UInt8] {
        // SAFETY: points into the message, and the bytes are copied before the message is released.
        var start: UnsafeRawPointer?
        var count = 0
        let code = CChar(UInt8(ascii: "y"))
        guard sd_bus_message_read_array(message, code, &start, &count) >= 0 else {
            throw Self.malformed
        }
        guard count <= MessageLimits.bytes else {
            throw DBusError(.invalidArgs, "A byte array is too long.")
        }
        size += count
        // SAFETY: points into the message, and the bytes are copied before the message is released.
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    static var malformed: DBusError {
        DBusError(.invalidArgs, "A value is malformed or has another type than expected.")
    }
}
