/// The identifier of an item: 128 random bits.
struct ItemID: Hashable, Comparable {
    let bytes: [UInt8]

    static let size = 16

    /// A new one.
    static func random() -> ItemID {
        ItemID(unchecked: SecretBytes.random(count: size))
    }

    /// Reads 32 lower-case hexadecimal digits; nil for any other text.
    init?(_ text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 2 * Self.size else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.digit(digits[index]), let low = Self.digit(digits[index + 1])
            else { return nil }
            bytes.append(high << 4 | low)
        }
        self.bytes = bytes
    }

    /// One from the bytes of a column; nil: they are none.
    init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The text of it.
    var text: String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    static func < (left: ItemID, right: ItemID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
