// The types that D-Bus calls basic.

extension Bool: BasicWireType {
    public static var signature: String { "b" }

    public init(from reader: inout MessageReader) throws(DBusError) {
        // D-Bus allows only 0 and 1, as four bytes.
        self = try reader.basic("b", Int32(0)) != 0
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("b", Int32(self ? 1 : 0))
    }
}

extension UInt8: BasicWireType {
    public static var signature: String { "y" }

    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("y", UInt8(0))
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("y", self)
    }

    /// Reads all bytes at once.
    public static func readArray(
        from reader: inout MessageReader
    ) throws(DBusError) -> [UInt8] {
        try reader.bytes()
    }

    /// Writes all bytes at once.
    public static func writeArray(
        _ values: [UInt8],
        to writer: inout MessageWriter
    ) throws(DBusError) {
        try writer.bytes(values)
    }
}

extension Int16: BasicWireType {
    public static var signature: String { "n" }

    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("n", Int16(0))
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("n", self)
    }
}

extension UInt16: BasicWireType {
    public static var signature: String { "q" }

    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("q", UInt16(0))
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("q", self)
    }
}

extension Int32: BasicWireType {
    public static var signature: String { "i" }

    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("i", Int32(0))
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("i", self)
    }
}

extension UInt32: BasicWireType {
    public static var signature: String { "u" }

    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("u", UInt32(0))
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("u", self)
    }
}

extension Int64: BasicWireType {
    public static var signature: String { "x" }

    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("x", Int64(0))
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("x", self)
    }
}

extension UInt64: BasicWireType {
    public static var signature: String { "t" }

    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("t", UInt64(0))
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("t", self)
    }
}

extension Double: BasicWireType {
    public static var signature: String { "d" }

    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.basic("d", Double(0))
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.basic("d", self)
    }
}

extension String: BasicWireType {
    public static var signature: String { "s" }

    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.text("s")
    }

    /// Reads the strings without the generic cost of an element.
    public static func readArray(
        from reader: inout MessageReader
    ) throws(DBusError) -> [String] {
        try reader.texts("s")
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.text("s", self)
    }
}

extension ObjectPath: BasicWireType {
    public static var signature: String { "o" }

    /// Reads a path, which sd-bus has validated.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self.init(unchecked: try reader.text("o"))
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.text("o", rawValue)
    }
}

extension Signature: BasicWireType {
    public static var signature: String { "g" }

    /// Reads a signature, which sd-bus has validated.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self.init(unchecked: try reader.text("g"))
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.text("g", rawValue)
    }
}
