internal import Localization

/// What a sensor has a person do, in its own words; nil: it has none.
///
/// They are those in the user's language, else in English, else in the first of its languages.
/// Nobody vouches for a sensor's words, so they are shown in quotation marks; without such marks
/// of their own, they can't end the quotation.
func ownWords(_ texts: [String: String]) -> String? {
    let words = preferredLanguages().lazy.compactMap { texts[$0] }
    guard let text = words.first ?? texts.min(by: { $0.key < $1.key })?.value else { return nil }
    let plain = plainText(text, limit: 80)
    let quoted = String(plain.map { quotationMarks.contains($0) ? "'" : $0 })
    return quoted.contains { $0 != " " } ? quoted : nil
}

private let quotationMarks: Set<Character> = [
    "\"", "“", "”", "„", "‟", "«", "»", "‹", "›", "「", "」", "『", "』", "＂", "〝",
    "〞", "〟",
]
