/// Encodes values injectively: different sequences of values never produce equal bytes.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Begins with the name of a purpose (domain separation).
    ///
    /// Bytes for one purpose are invalid for another.
    init(_ use: String) {
        add(use)
    }

    init() {}

    mutating func add(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }

    mutating func add(_ value: [UInt8]) {
        add(UInt32(value.count))
        bytes += value
    }

    mutating func add(_ text: String) {
        add(Array(text.utf8))
    }
}

/// Decodes the bytes of `ByteWriter`, which it does not trust.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number<Number: FixedWidthInteger>(
        _ type: Number.Type = Number.self
    ) throws(KeychainError) -> Number {
        // SAFETY: `take` returns exactly the bytes of the number, and the load may be unaligned.
        Number(
            bigEndian: try take(Number.bitWidth / 8)
                .withUnsafeBytes { $0.loadUnaligned(as: Number.self) }
        )
    }

    mutating func value() throws(KeychainError) -> [UInt8] {
        Array(try take(Int(try number(UInt32.self))))
    }

    mutating func text() throws(KeychainError) -> String {
        guard let text = String(validating: try value(), as: UTF8.self) else {
            throw .changed
        }
        return text
    }

    private mutating func take(_ count: Int) throws(KeychainError) -> ArraySlice<UInt8> {
        guard rest.count >= count else { throw .changed }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
