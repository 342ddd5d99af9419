/// Base64 with padding, without Foundation.
enum Base64 {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    /// Encodes into bytes, not a String, so that an encoded secret can be overwritten afterwards.
    static func encode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        // Growing the array would leave copies of the secret in freed memory.
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.endIndex)]
            let value = (0..<3)
                .reduce(0) { value, offset in
                    let index = start + offset
                    return value << 8 | (index < bytes.endIndex ? Int(bytes[index]) : 0)
                }
            for place in 0..<4 {
                let digit = digits[value >> (18 - 6 * place) & 63]
                text.append(place <= group.count ? digit : UInt8(ascii: "="))
            }
        }
        return text
    }

    static func text(_ bytes: [UInt8]) -> String {
        String(decoding: encode(bytes[...]), as: UTF8.self)
    }

    /// Decodes a text; nil unless it is exactly what `encode` writes.
    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (value, bits) = (0, 0)
        for character in text.utf8.prefix(while: { $0 != UInt8(ascii: "=") }) {
            guard let digit = digits.firstIndex(of: character) else { return nil }
            value = (value << 6 | digit) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: value >> bits))
            }
        }
        return Self.text(bytes) == text ? bytes : nil
    }
}
