/// Unguessable names of contexts and prompts.
enum Handle {
    /// Returns 128 random bits as 32 hexadecimal digits.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        var result: [UInt8] = []
        for _ in 0..<2 {
            var bits: UInt64 = generator.next()
            for _ in 0..<16 {
                result.append(digits[Int(bits & 15)])
                bits >>= 4
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
