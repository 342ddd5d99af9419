/// Takes values from the front of bytes from outside; behind their end all is zero.
struct Foreign {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
        (0..<Number.bitWidth / 8)
            .reduce(0) { sum, _ in sum << 8 | Number(truncatingIfNeeded: byte()) }
    }

    /// One of some values.
    mutating func one<Value>(of values: [Value]) -> Value { values[Int(byte()) % values.count] }

    /// Some, of which the first byte says how many.
    mutating func bytes() -> [UInt8] { take(Int(byte())) }

    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    mutating func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// All that are left.
    mutating func all() -> [UInt8] { take(rest.count) }
}
