import Crypto
import Sealing

/// The master key as text that people can write down and type.
///
/// The text has 56 letters and digits in groups of 4, with five bits each: 32 bytes of key and 3
/// bytes of a digest that detects typing errors. Case, spaces and dashes are ignored; O reads as 0,
/// I and L as 1.
package enum RecoveryKey {
    private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let checkSize = 3
    private static let length = (MasterKey.size + checkSize) * 8 / 5

    static func text(for key: [UInt8]) -> String {
        var text: [UInt8] = []
        var (bits, value) = (0, 0)
        for byte in key + check(key) {
            value = value << 8 | Int(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                if text.count % 5 == 4 { text.append(UInt8(ascii: "-")) }
                text.append(digits[value >> bits & 31])
            }
            value &= 1 << bits - 1
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the key of a text.
    ///
    /// - Throws: `parameter`, with the fault in the text.
    static func key(of text: String) throws(KeychainError) -> SecretBytes {
        var bytes: [UInt8] = []
        defer { wipe(&bytes) }
        var (bits, value, count) = (0, 0, 0)
        for character in text.utf8 where !" -\t\r\n".utf8.contains(character) {
            guard let digit = digit(character) else {
                let shown = String(decoding: [character], as: UTF8.self)
                throw .parameter("a recovery key has no character \(shown)")
            }
            count += 1
            guard count <= length else { break }
            value = value << 5 | digit
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(value >> bits))
                value &= 1 << bits - 1
            }
        }
        guard count == length else {
            let found = count > length ? "more" : "\(count)"
            throw .parameter("a recovery key has \(length) letters and digits, this has \(found)")
        }
        var key = Array(bytes.prefix(MasterKey.size))
        guard check(key) == Array(bytes.suffix(checkSize)) else {
            wipe(&key)
            throw .parameter("the recovery key's check digits don't match: something is mistyped")
        }
        return SecretBytes(wiping: &key)
    }

    private static func check(_ key: [UInt8]) -> [UInt8] {
        let use = Array("org.localauth.RecoveryKey.1".utf8)
        return Array(SHA256.hash(data: use + key).prefix(checkSize))
    }

    private static func digit(_ character: UInt8) -> Int? {
        let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character)
        switch isLower ? character - 32 : character {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        case let upper: return digits.firstIndex(of: upper)
        }
    }
}
