/// Takes values from the front of foreign bytes, and zeros after their end.
struct Foreign {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
        (0..<Number.bitWidth / 8)
            .reduce(0) { sum, _ in sum << 8 | Number(truncatingIfNeeded: byte()) }
    }

    mutating func one<Value>(of values: [Value]) -> Value { values[Int(byte()) % values.count] }

    /// Takes as many bytes as the first byte says.
    mutating func bytes() -> [UInt8] { take(Int(byte())) }

    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    mutating func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Takes the remaining bytes.
    mutating func all() -> [UInt8] { take(rest.count) }
}
