/// A Swift type with a D-Bus signature.
public protocol WireType: Sendable {
    /// One complete type.
    static var signature: String { get }
    /// Takes the next value of a message.
    init(from reader: inout MessageReader) throws(DBusError)
    /// Appends the value to a message.
    func write(to writer: inout MessageWriter) throws(DBusError)
    /// Takes an array of values. Only types that can be read in bulk implement it.
    static func readArray(from reader: inout MessageReader) throws(DBusError) -> [Self]
    /// Appends an array of values. Only types that can be written in bulk implement it.
    static func writeArray(_ values: [Self], to writer: inout MessageWriter) throws(DBusError)
}

extension WireType {
    /// One value after the other.
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

    /// One value after the other.
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
    /// `a` and the element's.
    public static var signature: String { "a" + Element.signature }

    /// Takes the next value of a message.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try Element.readArray(from: &reader)
    }

    /// Appends the value to a message.
    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try Element.writeArray(self, to: &writer)
    }
}

extension Dictionary: WireType where Key: BasicWireType, Value: WireType {
    /// `a{`, the key's, the value's and `}`.
    public static var signature: String { "a{" + Key.signature + Value.signature + "}" }

    /// Takes the next value of a message.
    ///
    /// A key that comes twice is an error.
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

    /// Appends the value to a message.
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
