/// The identifier of an item: 128 random bits.
struct ItemID: Hashable, Comparable {
    /// The first eight bytes, big-endian.
    ///
    /// `low` holds the others.
    let high: UInt64
    let low: UInt64

    static let size = 16
    static let smallest = ItemID(high: 0, low: 0)

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    static func random() -> ItemID {
        var random = SystemRandomNumberGenerator()
        return ItemID(high: random.next(), low: random.next())
    }

    /// Reads 32 lower-case hexadecimal digits; nil for any other text.
    init?(_ text: String) {
        let digits = text.utf8
        guard digits.count == 2 * Self.size else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for digit in digits {
            guard let value = Self.value(digit) else { return nil }
            high = high << 4 | low >> 60
            low = low << 4 | value
        }
        self.init(high: high, low: low)
    }

    /// Reads the bytes of a column; nil unless their count is right.
    init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.init(
            high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
        )
    }

    var bytes: [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: high >> $0) }
            + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: low >> $0) }
    }

    var text: String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    static func < (left: ItemID, right: ItemID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    private static func value(_ digit: UInt8) -> UInt64? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
        default: nil
        }
    }
}
