internal import Localization

/// A sensor's own instructions for the user; nil without any.
///
/// Chooses the user's language, then English, then the first language available. A sensor's text is
/// unverified and therefore shown in quotation marks. Removing its own marks keeps it from ending
/// the quotation.
func ownWords(_ texts: [String: String]) -> String? {
    let words = preferredLanguages().lazy.compactMap { texts[$0] }
    guard let text = words.first ?? texts.min(by: { $0.key < $1.key })?.value else { return nil }
    let quoted = withoutQuotationMarks(plainText(text, limit: 80))
    return quoted.contains { $0 != " " } ? quoted : nil
}

/// Replaces quotation marks, so that the text cannot end a quotation around it.
func withoutQuotationMarks(_ text: String) -> String {
    // Compare scalars: a mark with a combining accent is another character, but looks alike.
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
