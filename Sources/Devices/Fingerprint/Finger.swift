/// A finger, under fprintd's name for it.
package enum Finger: String, CaseIterable, Sendable {
    case leftThumb = "left-thumb"
    case leftIndex = "left-index-finger"
    case leftMiddle = "left-middle-finger"
    case leftRing = "left-ring-finger"
    case leftLittle = "left-little-finger"
    case rightThumb = "right-thumb"
    case rightIndex = "right-index-finger"
    case rightMiddle = "right-middle-finger"
    case rightRing = "right-ring-finger"
    case rightLittle = "right-little-finger"

    /// The order in which an enrolment without a named finger chooses fingers.
    package static let preferred: [Self] = [
        .rightIndex, .leftIndex, .rightThumb, .leftThumb, .rightMiddle, .leftMiddle, .rightRing,
        .leftRing, .rightLittle, .leftLittle,
    ]

    /// Parses a label such as "Right index" or "left thumb"; nil for other labels.
    package init?(label: String) {
        guard label.utf8.count <= 64 else { return nil }
        let word = label.lowercased().split { " -_".contains($0) }.joined(separator: "-")
        guard let finger = Self(rawValue: word) ?? Self(rawValue: word + "-finger") else {
            return nil
        }
        self = finger
    }

    /// The default label of its print.
    package var label: String {
        let words = rawValue.split(separator: "-").joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// The file name of its print: libfprint's number of the finger as a hexadecimal digit.
    var fileName: String {
        String((Self.allCases.firstIndex(of: self) ?? 0) + 1, radix: 16)
    }
}
