extension Variant: WireType {
    public static var signature: String { "v" }

    /// Reads the next variant, at most ``MessageLimits/variantDepth`` deep.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.variant {
            (reader: inout MessageReader, signature: String) throws(DBusError) in
            try Variant(bare: signature, from: &reader)
        }
    }

    public func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.variant(signature) { (writer: inout MessageWriter) throws(DBusError) in
            try writeBare(to: &writer)
        }
    }

    // MARK: Without the variant around it

    /// Reads a value of a single complete type.
    init(bare signature: String, from reader: inout MessageReader) throws(DBusError) {
        try reader.countValue()
        switch signature {
        case "b": self = .bool(try reader.read(Bool.self))
        case "y": self = .uint8(try reader.read(UInt8.self))
        case "n": self = .int16(try reader.read(Int16.self))
        case "q": self = .uint16(try reader.read(UInt16.self))
        case "i": self = .int32(try reader.read(Int32.self))
        case "u": self = .uint32(try reader.read(UInt32.self))
        case "x": self = .int64(try reader.read(Int64.self))
        case "t": self = .uint64(try reader.read(UInt64.self))
        case "d": self = .double(try reader.read(Double.self))
        case "s": self = .string(try reader.read(String.self))
        case "o": self = .objectPath(try reader.read(ObjectPath.self))
        case "g": self = .signature(try reader.read(Signature.self))
        case "v": self = .variant(try reader.read(Variant.self))
        case "ay": self = .bytes(try reader.read([UInt8].self))
        case "as": self = .strings(try reader.read([String].self))
        case "a{sv}": self = .dictionary(try reader.read([String: Variant].self))
        default: self = try Self.container(signature, from: &reader)
        }
    }

    private static func container(
        _ signature: String,
        from reader: inout MessageReader
    ) throws(DBusError) -> Variant {
        if signature.hasPrefix("a{") {
            return try entries(String(signature.dropFirst(2).dropLast()), from: &reader)
        }
        if signature.hasPrefix("a") {
            let element = Signature(unchecked: String(signature.dropFirst()))
            var values: [Variant] = []
            try reader.array(element.rawValue, limit: MessageLimits.array) {
                (reader: inout MessageReader) throws(DBusError) in
                values.append(try Variant(bare: element.rawValue, from: &reader))
            }
            return .array(element: element, values)
        }
        guard signature.hasPrefix("(") else { throw MessageReader.malformed }
        let fields = Signature(unchecked: String(signature.dropFirst().dropLast()))
        return try reader.structure(fields.rawValue) {
            (reader: inout MessageReader) throws(DBusError) in
            var values: [Variant] = []
            for field in fields.elements {
                values.append(try Variant(bare: field.rawValue, from: &reader))
            }
            return .structure(values)
        }
    }

    private static func entries(
        _ types: String,
        from reader: inout MessageReader
    ) throws(DBusError) -> Variant {
        let key = Signature(unchecked: String(types.prefix(1)))
        let value = Signature(unchecked: String(types.dropFirst()))
        var entries: [Entry] = []
        try reader.array("{" + types + "}", limit: reader.longestDictionary) {
            (reader: inout MessageReader) throws(DBusError) in
            let entry = try reader.entry(types) {
                (reader: inout MessageReader) throws(DBusError) in
                let key = try Variant(bare: key.rawValue, from: &reader)
                if case .string(let name) = key { try reader.check(name: name) }
                return Entry(key: key, value: try Variant(bare: value.rawValue, from: &reader))
            }
            entries.append(entry)
        }
        return .entries(key: key, value: value, entries)
    }

    func writeBare(to writer: inout MessageWriter) throws(DBusError) {
        switch self {
        case .bool(let value): try writer.write(value)
        case .uint8(let value): try writer.write(value)
        case .int16(let value): try writer.write(value)
        case .uint16(let value): try writer.write(value)
        case .int32(let value): try writer.write(value)
        case .uint32(let value): try writer.write(value)
        case .int64(let value): try writer.write(value)
        case .uint64(let value): try writer.write(value)
        case .double(let value): try writer.write(value)
        case .string(let value): try writer.write(value)
        case .objectPath(let value): try writer.write(value)
        case .signature(let value): try writer.write(value)
        case .bytes(let value): try writer.write(value)
        case .strings(let value): try writer.write(value)
        case .dictionary(let value): try writer.write(value)
        case .variant(let value): try writer.write(value)
        default: try writeContainer(to: &writer)
        }
    }

    private func writeContainer(to writer: inout MessageWriter) throws(DBusError) {
        switch self {
        case .array(let element, let values):
            try writer.array(element.rawValue, count: values.count, limit: MessageLimits.array) {
                (writer: inout MessageWriter) throws(DBusError) in
                for value in values {
                    try value.writeBare(to: &writer)
                }
            }
        case .structure(let fields):
            try writer.structure(fields.map(\.signature).joined()) {
                (writer: inout MessageWriter) throws(DBusError) in
                for field in fields {
                    try field.writeBare(to: &writer)
                }
            }
        case .entries(let key, let value, let entries):
            let types = key.rawValue + value.rawValue
            let limit = MessageLimits.dictionary
            try writer.array("{" + types + "}", count: entries.count, limit: limit) {
                (writer: inout MessageWriter) throws(DBusError) in
                for entry in entries {
                    try writer.entry(types) { (writer: inout MessageWriter) throws(DBusError) in
                        try entry.key.writeBare(to: &writer)
                        try entry.value.writeBare(to: &writer)
                    }
                }
            }
        default:
            throw MessageWriter.refused
        }
    }
}
