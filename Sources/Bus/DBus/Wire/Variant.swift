/// A value together with its type.
public enum Variant: Hashable, Sendable {
    /// An entry of a dictionary that is not `a{sv}`.
    public struct Entry: Hashable, Sendable {
        /// A value of a basic type.
        public let key: Variant
        public let value: Variant

        /// Creates an entry.
        ///
        /// Its types must be the dictionary's.
        public init(key: Variant, value: Variant) {
            self.key = key
            self.value = value
        }
    }

    case bool(Bool)
    case uint8(UInt8)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(ObjectPath)
    case signature(Signature)
    /// Signature `ay`.
    case bytes([UInt8])
    /// Signature `as`.
    case strings([String])
    /// Signature `a{sv}`.
    case dictionary([String: Variant])
    /// Any other array.
    indirect case array(element: Signature, [Variant])
    /// A structure with at least one field.
    case structure([Variant])
    /// Any other dictionary.
    indirect case entries(key: Signature, value: Signature, [Entry])
    indirect case variant(Variant)

    /// The D-Bus signature of the value: one complete type.
    public var signature: String {
        switch self {
        case .bool: "b"
        case .uint8: "y"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .strings: "as"
        case .dictionary: "a{sv}"
        case .array(let element, _): "a" + element.rawValue
        case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
        case .entries(let key, let value, _): "a{" + key.rawValue + value.rawValue + "}"
        case .variant: "v"
        }
    }
}

extension Variant {
    public var asBool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    public var asUInt32: UInt32? {
        if case .uint32(let value) = self { value } else { nil }
    }

    public var asInt32: Int32? {
        if case .int32(let value) = self { value } else { nil }
    }

    public var asUInt64: UInt64? {
        if case .uint64(let value) = self { value } else { nil }
    }

    public var asInt64: Int64? {
        if case .int64(let value) = self { value } else { nil }
    }

    public var asDouble: Double? {
        if case .double(let value) = self { value } else { nil }
    }

    public var asString: String? {
        if case .string(let value) = self { value } else { nil }
    }

    public var asStrings: [String]? {
        if case .strings(let value) = self { value } else { nil }
    }

    /// The value as `a{ss}`, or nil for another type.
    ///
    /// The first of equal keys counts.
    public var asTexts: [String: String]? {
        guard case .entries(key: .string, value: .string, let entries) = self else { return nil }
        let pairs = entries.compactMap { entry in
            entry.key.asString.flatMap { key in entry.value.asString.map { (key, $0) } }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Creates an `a{ss}`, sorted by key.
    public static func texts(_ texts: [String: String]) -> Variant {
        let entries = texts.sorted { $0.key < $1.key }
            .map { Entry(key: .string($0.key), value: .string($0.value)) }
        return .entries(key: .string, value: .string, entries)
    }

    public var asBytes: [UInt8]? {
        if case .bytes(let value) = self { value } else { nil }
    }

    public var asObjectPath: ObjectPath? {
        if case .objectPath(let value) = self { value } else { nil }
    }

    public var asDictionary: [String: Variant]? {
        if case .dictionary(let value) = self { value } else { nil }
    }
}
