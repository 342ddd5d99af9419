/// Untrusted text on its way to a prompt or a message (L35, contract 5.3).
package enum DisplayText {
    /// The longest reason that is shown, in characters.
    package static let reasonLimit = 512
    /// The longest title, name or label that is shown, in characters.
    package static let titleLimit = 128
    /// The longest text of an administrator that is shown, in characters.
    package static let causeLimit = 64
    /// The most combining marks behind a base character.
    private static let mostMarks = 2

    /// The text without invisible characters and surplus combining marks, of at most `limit`
    /// characters; empty if only spaces and marks are left.
    ///
    /// A character here is a Unicode scalar.
    package static func cleaned(_ text: String, limit: Int) -> String {
        var result = String.UnicodeScalarView()
        // Without a base character before it, a mark goes.
        var marks = mostMarks
        for scalar in text.unicodeScalars where !isInvisible(scalar) {
            if result.count == limit { break }
            if isMark(scalar) {
                guard marks < mostMarks else { continue }
                marks += 1
            } else {
                marks = 0
            }
            result.append(scalar)
        }
        return result.contains { !isBlank($0) } ? String(result) : ""
    }

    /// A sensor's words about a fault, cleaned for display; nil: no readable text.
    package static func reason(_ text: String) -> String? {
        let reason = cleaned(text, limit: reasonLimit)
        return reason.isEmpty ? nil : reason
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return properties.isDefaultIgnorableCodePoint
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        // The Braille blank is a symbol without a visible dot.
        scalar.properties.generalCategory == .spaceSeparator || scalar.value == 0x2800
            || isMark(scalar)
    }
}
