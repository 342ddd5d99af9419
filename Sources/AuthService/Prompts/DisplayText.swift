/// Untrusted text on its way to a prompt (L14).
enum DisplayText {
    /// The longest reason that is shown, in characters.
    static let reasonLimit = 512
    /// The longest title, name or label that is shown, in characters.
    static let titleLimit = 128

    /// The text without control and bidirectional-override characters, cut at `limit` characters.
    ///
    /// A character here is a Unicode scalar, so that a heap of combining marks can't hide text.
    static func cleaned(_ text: String, limit: Int) -> String {
        var result = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars where isShown(scalar) {
            if count == limit { break }
            result.append(scalar)
            count += 1
        }
        return String(result)
    }

    /// What somebody says of a fault, fit to be shown; nil: nothing that a person could read.
    static func reason(_ text: String) -> String? {
        let reason = cleaned(text, limit: reasonLimit)
        return isBlank(reason) ? nil : reason
    }

    /// Whether anything is left that a person could read.
    static func isBlank(_ text: String) -> Bool {
        !text.unicodeScalars.contains { isShown($0) && !$0.properties.isWhitespace }
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: false
        // Marks, embeddings, overrides and isolates that turn the direction of text.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false
        // Line and paragraph separators, and invisible format characters.
        case 0x2028, 0x2029, 0x200B, 0x2060, 0xFEFF: false
        default: true
        }
    }
}
