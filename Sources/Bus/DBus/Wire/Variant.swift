/// One value together with its type.
public enum Variant: Hashable, Sendable {
    /// One entry of a dictionary whose key is not a string, or whose values are of one type.
    public struct Entry: Hashable, Sendable {
        /// A value of a basic type.
        public let key: Variant
        /// A value of the dictionary's value type.
        public let value: Variant

        /// An entry; its types must be those of the dictionary.
        public init(key: Variant, value: Variant) {
            self.key = key
            self.value = value
        }
    }

    /// Signature `b`.
    case bool(Bool)
    /// Signature `y`.
    case uint8(UInt8)
    /// Signature `n`.
    case int16(Int16)
    /// Signature `q`.
    case uint16(UInt16)
    /// Signature `i`.
    case int32(Int32)
    /// Signature `u`.
    case uint32(UInt32)
    /// Signature `x`.
    case int64(Int64)
    /// Signature `t`.
    case uint64(UInt64)
    /// Signature `d`.
    case double(Double)
    /// Signature `s`.
    case string(String)
    /// Signature `o`.
    case objectPath(ObjectPath)
    /// Signature `g`.
    case signature(Signature)
    /// Signature `ay`.
    case bytes([UInt8])
    /// Signature `as`.
    case strings([String])
    /// Signature `a{sv}`.
    case dictionary([String: Variant])
    /// Any other array.
    indirect case array(element: Signature, [Variant])
    /// A structure; not empty.
    case structure([Variant])
    /// Any other dictionary.
    indirect case entries(key: Signature, value: Signature, [Entry])
    /// Signature `v`.
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
    /// The value, or nil when it is something else than `b`.
    public var asBool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The value, or nil when it is something else than `u`.
    public var asUInt32: UInt32? {
        if case .uint32(let value) = self { value } else { nil }
    }

    /// The value, or nil when it is something else than `i`.
    public var asInt32: Int32? {
        if case .int32(let value) = self { value } else { nil }
    }

    /// The value, or nil when it is something else than `t`.
    public var asUInt64: UInt64? {
        if case .uint64(let value) = self { value } else { nil }
    }

    /// The value, or nil when it is something else than `x`.
    public var asInt64: Int64? {
        if case .int64(let value) = self { value } else { nil }
    }

    /// The value, or nil when it is something else than `d`.
    public var asDouble: Double? {
        if case .double(let value) = self { value } else { nil }
    }

    /// The value, or nil when it is something else than `s`.
    public var asString: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The value, or nil when it is something else than `as`.
    public var asStrings: [String]? {
        if case .strings(let value) = self { value } else { nil }
    }

    /// The value, or nil when it is something else than `a{ss}`.
    ///
    /// Of a key that comes twice the first counts.
    public var asTexts: [String: String]? {
        guard case .entries(key: .string, value: .string, let entries) = self else { return nil }
        let pairs = entries.compactMap { entry in
            entry.key.asString.flatMap { key in entry.value.asString.map { (key, $0) } }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Texts by their keys, as `a{ss}`, in the order of the keys.
    public static func texts(_ texts: [String: String]) -> Variant {
        let entries = texts.sorted { $0.key < $1.key }
            .map { Entry(key: .string($0.key), value: .string($0.value)) }
        return .entries(key: .string, value: .string, entries)
    }

    /// The value, or nil when it is something else than `ay`.
    public var asBytes: [UInt8]? {
        if case .bytes(let value) = self { value } else { nil }
    }

    /// The value, or nil when it is something else than `o`.
    public var asObjectPath: ObjectPath? {
        if case .objectPath(let value) = self { value } else { nil }
    }

    /// The value, or nil when it is something else than `a{sv}`.
    public var asDictionary: [String: Variant]? {
        if case .dictionary(let value) = self { value } else { nil }
    }
}
