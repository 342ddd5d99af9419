/// The part of CBOR that CTAP2 uses.
indirect enum CBOR: Hashable {
    case number(Int)
    case bytes([UInt8])
    case text(String)
    case list([CBOR])
    /// Pairs in the order of their encoding.
    case map([Pair])
    case flag(Bool)

    struct Pair: Hashable {
        let key: CBOR
        let value: CBOR
    }

    static func object(_ pairs: (CBOR, CBOR)...) -> CBOR {
        .map(pairs.map { Pair(key: $0.0, value: $0.1) })
    }

    subscript(number: Int) -> CBOR? { value(of: .number(number)) }
    subscript(word: String) -> CBOR? { value(of: .text(word)) }

    private func value(of key: CBOR) -> CBOR? {
        if case .map(let pairs) = self { pairs.first { $0.key == key }?.value } else { nil }
    }

    var asBytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var asText: String? { if case .text(let text) = self { text } else { nil } }
    var asFlag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    var asList: [CBOR] { if case .list(let list) = self { list } else { [] } }

    // MARK: Writing

    var content: [UInt8] {
        switch self {
        case .number(let number) where number < 0: Self.head(1, -1 - number)
        case .number(let number): Self.head(0, number)
        case .bytes(let bytes): Self.head(2, bytes.count) + bytes
        case .text(let text): Self.head(3, text.utf8.count) + text.utf8
        case .list(let list): Self.head(4, list.count) + list.flatMap(\.content)
        case .map(let pairs):
            Self.head(5, pairs.count) + pairs.flatMap { $0.key.content + $0.value.content }
        case .flag(let flag): [flag ? 0xf5 : 0xf4]
        }
    }

    private static func head(_ kind: UInt8, _ value: Int) -> [UInt8] {
        switch value {
        case ..<24: [kind << 5 | UInt8(value)]
        case ..<0x100: [kind << 5 | 24, UInt8(value)]
        default: [kind << 5 | 25, UInt8(value >> 8), UInt8(value & 0xff)]
        }
    }

    // MARK: Reading

    /// Returns nil if the content is malformed, or uses CBOR features that CTAP2 does not need.
    init?(_ content: [UInt8]) {
        var rest = content[...]
        guard let value = Self.read(&rest), rest.isEmpty else { return nil }
        self = value
    }

    private static func read(_ rest: inout ArraySlice<UInt8>) -> CBOR? {
        guard let first = rest.popFirst() else { return nil }
        if first == 0xf4 || first == 0xf5 { return .flag(first == 0xf5) }
        guard let value = number(first & 0x1f, &rest) else { return nil }
        switch first >> 5 {
        case 0: return .number(value)
        case 1: return .number(-1 - value)
        case 2: return take(value, &rest).map { .bytes($0) }
        case 3: return take(value, &rest).map { .text(String(decoding: $0, as: UTF8.self)) }
        case 4:
            var list: [CBOR] = []
            for _ in 0..<value {
                guard let item = read(&rest) else { return nil }
                list.append(item)
            }
            return .list(list)
        case 5:
            var pairs: [Pair] = []
            for _ in 0..<value {
                guard let key = read(&rest), let item = read(&rest) else { return nil }
                pairs.append(Pair(key: key, value: item))
            }
            return .map(pairs)
        default: return nil
        }
    }

    private static func number(_ head: UInt8, _ rest: inout ArraySlice<UInt8>) -> Int? {
        guard head >= 24 else { return Int(head) }
        guard head <= 26 else { return nil }
        return take(1 << (Int(head) - 24), &rest).map { $0.reduce(0) { $0 << 8 | Int($1) } }
    }

    private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
