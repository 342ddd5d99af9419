// The types that D-Bus calls basic.

extension Bool: BasicWireType {
    /// `b`.
    public static var signature: String { "b" }

    /// Takes the next value of a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        // D-Bus allows only 0 and 1, as four bytes.
        self = try reader.basic("b", Int32(0)) != 0
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("b", Int32(self ? 1 : 0))
    }
}

extension UInt8: BasicWireType {
    /// `y`.
    public static var signature: String { "y" }

    /// Takes the next value of a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("y", UInt8(0))
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("y", self)
    }

    /// All bytes at once.
    public static func readArray(
        from reader: inout MessageReader
    ) throws(DBusError) -> [UInt8] {
        try reader.bytes()
    }

    /// All bytes at once.
    public static func writeArray(
        _ values: [UInt8],
        to writer: inout MessageWriter
    ) throws(DBusError) {
        try writer.bytes(values)
    }
}

extension Int16: BasicWireType {
    /// `n`.
    public static var signature: String { "n" }

    /// Takes the next value of a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("n", Int16(0))
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("n", self)
    }
}

extension UInt16: BasicWireType {
    /// `q`.
    public static var signature: String { "q" }

    /// Takes the next value of a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("q", UInt16(0))
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("q", self)
    }
}

extension Int32: BasicWireType {
    /// `i`.
    public static var signature: String { "i" }

    /// Takes the next value of a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("i", Int32(0))
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("i", self)
    }
}

extension UInt32: BasicWireType {
    /// `u`.
    public static var signature: String { "u" }

    /// Takes the next value of a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("u", UInt32(0))
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("u", self)
    }
}

extension Int64: BasicWireType {
    /// `x`.
    public static var signature: String { "x" }

    /// Takes the next value of a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("x", Int64(0))
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("x", self)
    }
}

extension UInt64: BasicWireType {
    /// `t`.
    public static var signature: String { "t" }

    /// Takes the next value of a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("t", UInt64(0))
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("t", self)
    }
}

extension Double: BasicWireType {
    /// `d`.
    public static var signature: String { "d" }

    /// Takes the next value of a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("d", Double(0))
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("d", self)
    }
}

extension String: BasicWireType {
    /// `s`.
    public static var signature: String { "s" }

    /// Takes the next value of a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.text("s")
    }

    /// One after the other, without what each costs that is of some type.
    public static func readArray(
        from reader: inout MessageReader
    ) throws(DBusError) -> [String] {
        try reader.texts("s")
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.text("s", self)
    }
}

extension ObjectPath: BasicWireType {
    /// `o`.
    public static var signature: String { "o" }

    /// Takes the next value of a message; sd-bus has validated it.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self.init(unchecked: try reader.text("o"))
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.text("o", rawValue)
    }
}

extension Signature: BasicWireType {
    /// `g`.
    public static var signature: String { "g" }

    /// Takes the next value of a message; sd-bus has validated it.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self.init(unchecked: try reader.text("g"))
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.text("g", rawValue)
    }
}
