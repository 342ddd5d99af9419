/// A value of the part of CBOR that CTAP uses, written in CTAP's canonical form.
package indirect enum CBOR: Hashable, Sendable {
    case number(Int)
    case bytes([UInt8])
    case text(String)
    case array([CBOR])
    case map([CBOR: CBOR])
    case flag(Bool)
    case null

    /// CTAP allows four levels of maps and arrays.
    private static let deepest = 4
    private static let mostEntries = 1024

    package subscript(number: Int) -> CBOR? { asMap?[.number(number)] }
    package subscript(word: String) -> CBOR? { asMap?[.text(word)] }

    package var asNumber: Int? { if case .number(let number) = self { number } else { nil } }
    package var asBytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    package var asText: String? { if case .text(let text) = self { text } else { nil } }
    package var asArray: [CBOR]? { if case .array(let values) = self { values } else { nil } }
    package var asMap: [CBOR: CBOR]? { if case .map(let values) = self { values } else { nil } }
    package var asFlag: Bool? { if case .flag(let flag) = self { flag } else { nil } }

    // MARK: Writing

    package var encoded: [UInt8] {
        switch self {
        case .number(let number) where number < 0: Self.head(1, UInt64(-1 - number))
        case .number(let number): Self.head(0, UInt64(number))
        case .bytes(let bytes): Self.head(2, UInt64(bytes.count)) + bytes
        case .text(let text): Self.head(3, UInt64(text.utf8.count)) + text.utf8
        case .array(let values): Self.head(4, UInt64(values.count)) + values.flatMap(\.encoded)
        case .map(let values):
            // The canonical order of keys is the order of their encodings.
            Self.head(5, UInt64(values.count))
                + values.map { (key: $0.encoded, value: $1.encoded) }
                .sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap { $0.key + $0.value }
        case .flag(let flag): [flag ? 0xf5 : 0xf4]
        case .null: [0xf6]
        }
    }

    private static func head(_ kind: UInt8, _ value: UInt64) -> [UInt8] {
        switch value {
        case ..<24: [kind << 5 | UInt8(value)]
        case ..<0x100: [kind << 5 | 24] + bigEndian(UInt8(value))
        case ..<0x1_0000: [kind << 5 | 25] + bigEndian(UInt16(value))
        case ..<0x1_0000_0000: [kind << 5 | 26] + bigEndian(UInt32(value))
        default: [kind << 5 | 27] + bigEndian(value)
        }
    }

    // MARK: Reading

    /// Reads a single value.
    ///
    /// Returns nil for malformed or truncated content, longer forms of a number, repeated keys of a
    /// map, invalid UTF-8, more than four levels and everything that CTAP does not use. Maps may
    /// have their keys in any order.
    package init?(_ content: [UInt8]) {
        var rest = content[...]
        guard let value = Self.read(&rest, depth: 0), rest.isEmpty else { return nil }
        self = value
    }

    private static func read(_ rest: inout ArraySlice<UInt8>, depth: Int) -> CBOR? {
        guard let first = rest.popFirst() else { return nil }
        switch first {
        case 0xf4, 0xf5: return .flag(first == 0xf5)
        case 0xf6: return .null
        default: break
        }
        guard let value = number(first & 0x1f, &rest) else { return nil }
        switch first >> 5 {
        case 0: return .number(value)
        case 1: return .number(-1 - value)
        case 2: return take(value, &rest).map { .bytes(Array($0)) }
        case 3:
            guard let bytes = take(value, &rest) else { return nil }
            return String(validating: bytes, as: UTF8.self).map { .text($0) }
        case 4: return values(value, &rest, depth + 1).map { .array($0) }
        case 5: return entries(value, &rest, depth + 1).map { .map($0) }
        default: return nil
        }
    }

    private static func values(
        _ count: Int,
        _ rest: inout ArraySlice<UInt8>,
        _ depth: Int
    ) -> [CBOR]? {
        guard depth <= deepest, count <= mostEntries else { return nil }
        var values: [CBOR] = []
        for _ in 0..<count {
            guard let value = read(&rest, depth: depth) else { return nil }
            values.append(value)
        }
        return values
    }

    private static func entries(
        _ count: Int,
        _ rest: inout ArraySlice<UInt8>,
        _ depth: Int
    ) -> [CBOR: CBOR]? {
        guard depth <= deepest, count <= mostEntries else { return nil }
        var entries: [CBOR: CBOR] = [:]
        for _ in 0..<count {
            guard let key = read(&rest, depth: depth), let value = read(&rest, depth: depth),
                entries.updateValue(value, forKey: key) == nil
            else { return nil }
        }
        return entries
    }

    private static func number(_ head: UInt8, _ rest: inout ArraySlice<UInt8>) -> Int? {
        guard head >= 24 else { return Int(head) }
        guard head <= 27, let bytes = take(1 << (Int(head) - 24), &rest) else { return nil }
        let value = bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        // Each length has a value from which on it is the shortest.
        let least: [UInt64] = [24, 0x100, 0x1_0000, 0x1_0000_0000]
        guard value >= least[Int(head) - 24] else { return nil }
        return Int(exactly: value)
    }

    private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

/// The bytes of a number, the highest first.
func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
}

/// Random bytes of the kernel.
func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in generator.next() }
}
