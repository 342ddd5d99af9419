/// A Swift type with a D-Bus signature.
public protocol WireType: Sendable {
    /// A single complete type.
    static var signature: String { get }
    init(from reader: inout MessageReader) throws(DBusError)
    func write(to writer: inout MessageWriter) throws(DBusError)
    /// Reads an array.
    ///
    /// Only types that can be read in bulk implement it.
    static func readArray(from reader: inout MessageReader) throws(DBusError) -> [Self]
    /// Writes an array.
    ///
    /// Only types that can be written in bulk implement it.
    static func writeArray(_ values: [Self], to writer: inout MessageWriter) throws(DBusError)
}

extension WireType {
    public static func readArray(
        from reader: inout MessageReader
    ) throws(DBusError) -> [Self] {
        var values: [Self] = []
        try reader.array(signature, limit: MessageLimits.array) {
            (reader: inout MessageReader) throws(DBusError) in
            values.append(try Self(from: &reader))
        }
        return values
    }

    public static func writeArray(
        _ values: [Self],
        to writer: inout MessageWriter
    ) throws(DBusError) {
        try writer.array(signature, count: values.count, limit: MessageLimits.array) {
            (writer: inout MessageWriter) throws(DBusError) in
            for value in values {
                try value.write(to: &writer)
            }
        }
    }
}

/// A type that can be the key of a D-Bus dictionary.
public protocol BasicWireType: WireType {}

extension Array: WireType where Element: WireType {
    public static var signature: String { "a" + Element.signature }

    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try Element.readArray(from: &reader)
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try Element.writeArray(self, to: &writer)
    }
}

extension Dictionary: WireType where Key: BasicWireType, Value: WireType {
    public static var signature: String { "a{" + Key.signature + Value.signature + "}" }

    /// Reads a dictionary.
    ///
    /// A duplicate key is an error.
    public init(from reader: inout MessageReader) throws(DBusError) {
        var entries: [Key: Value] = [:]
        let types = Key.signature + Value.signature
        try reader.array("{" + types + "}", limit: reader.longestDictionary) {
            (reader: inout MessageReader) throws(DBusError) in
            try reader.entry(types) { (reader: inout MessageReader) throws(DBusError) in
                let key = try Key(from: &reader)
                if let name = key as? String { try reader.check(name: name) }
                guard entries.updateValue(try Value(from: &reader), forKey: key) == nil else {
                    throw DBusError(.invalidArgs, "A dictionary has the same key twice.")
                }
            }
        }
        self = entries
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        let types = Key.signature + Value.signature
        try writer.array("{" + types + "}", count: count, limit: MessageLimits.dictionary) {
            (writer: inout MessageWriter) throws(DBusError) in
            for (key, value) in self {
                try writer.entry(types) { (writer: inout MessageWriter) throws(DBusError) in
                    try key.write(to: &writer)
                    try value.write(to: &writer)
                }
            }
        }
    }
}
