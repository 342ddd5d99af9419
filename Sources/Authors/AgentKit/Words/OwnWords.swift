internal import Localization

/// What a sensor has a person do, in its own words; nil: it has none.
///
/// They are those in the user's language, else in English, else in the first of its languages.
/// Nobody vouches for a sensor's words, so they are shown in quotation marks; without such marks
/// of their own, they can't end the quotation.
func ownWords(_ texts: [String: String]) -> String? {
    let words = preferredLanguages().lazy.compactMap { texts[$0] }
    guard let text = words.first ?? texts.min(by: { $0.key < $1.key })?.value else { return nil }
    let quoted = withoutQuotationMarks(plainText(text, limit: 80))
    return quoted.contains { $0 != " " } ? quoted : nil
}

/// A text that can't end the quotation that it is shown in.
func withoutQuotationMarks(_ text: String) -> String {
    // A mark with an accent is another character, and looks the same.
    var quoted = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        quoted.append(quotationMarks.contains(scalar) ? "'" : scalar)
    }
    return String(quoted)
}

private let quotationMarks: Set<Unicode.Scalar> = [
    "\"", "“", "”", "„", "‟", "«", "»", "‹", "›", "「", "」",
    "『", "』", "＂", "〝", "〞", "〟", "❝", "❞", "❠", "🙶", "🙷", "🙸",
    "″", "ʺ", "˝",
]
