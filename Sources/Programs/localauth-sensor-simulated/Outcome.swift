import SensorKit

/// A queued outcome: the sensor's next action.
enum Outcome: Hashable {
    /// A match with a template; nil: the user's first.
    case match(String?)
    case noMatch
    case hint(SensorHint)
    case delay(milliseconds: UInt32)
    case hang
    case disconnect
    case crash

    static let longestDelay: UInt32 = 600_000
    static let longestTemplate = 256

    /// Fails for a word that is not in the contract.
    init?(_ word: String) {
        let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count > 1 ? String(parts[1]) : nil
        switch (parts[0], value) {
        case ("match", nil): self = .match(nil)
        case ("match", let template?):
            guard !template.isEmpty, template.utf8.count <= Self.longestTemplate else { return nil }
            self = .match(template)
        case ("no-match", nil): self = .noMatch
        case ("hint", let hint?):
            guard let hint = SensorHint(rawValue: hint) else { return nil }
            self = .hint(hint)
        case ("delay", let text?):
            guard let milliseconds = UInt32(text), milliseconds <= Self.longestDelay else {
                return nil
            }
            self = .delay(milliseconds: milliseconds)
        case ("hang", nil): self = .hang
        case ("disconnect", nil): self = .disconnect
        case ("crash", nil): self = .crash
        default: return nil
        }
    }

    var word: String {
        switch self {
        case .match(let template): template.map { "match:\($0)" } ?? "match"
        case .noMatch: "no-match"
        case .hint(let hint): "hint:\(hint.rawValue)"
        case .delay(let milliseconds): "delay:\(milliseconds)"
        case .hang: "hang"
        case .disconnect: "disconnect"
        case .crash: "crash"
        }
    }
}
