/// The cause for which a password is asked for, or has to be given before biometry.
public struct PasscodeCause: Hashable, Sendable {
    /// A word of the contract, never a word from outside.
    public enum Word: String, Sendable, CaseIterable {
        /// A boot or a logout (L11).
        case boot
        /// Too long without any unlock (L11).
        case hours
        /// Too long without a password, whatever biometry did (L11).
        case hoursWithBiometry = "hours-with-biometry"
        /// An administrator required it.
        case remote
        /// A program of the user required it.
        case program
        /// The stored state was damaged (L17).
        case damaged
        /// Too many attempts failed, over all evaluations (R3).
        case lockout
        /// The attempts of this evaluation are used up.
        case attempts
        /// The person chose it.
        case fallback
        /// No sensor looks any more.
        case sensorFailed = "sensor-failed"
        /// The password could not be checked.
        case verifierFailed = "verifier-failed"
        /// The delay after wrong passwords is over (L10).
        case delayOver = "delay-over"
        /// The app's own password is asked for.
        case applicationPassword = "application-password"
        /// The access control asks for it as well.
        case accessControl = "access-control"
    }

    /// The word on the wire.
    public let word: Word
    /// An administrator's text, only with ``Word/remote``; nil: none.
    public let text: String?

    /// A cause without a text.
    public init(_ word: Word) {
        self.word = word
        text = nil
    }

    /// The cause of an administrator's requirement; the text is cut at 64 characters.
    public static func remote(_ text: String) -> PasscodeCause {
        let cut = String(String.UnicodeScalarView(text.unicodeScalars.prefix(64)))
        return PasscodeCause(.remote, cut.isEmpty ? nil : cut)
    }

    private init(_ word: Word, _ text: String?) {
        self.word = word
        self.text = text
    }

    /// Whether another requirement replaces this requirement: an administrator's replaces a
    /// program's, and an administrator's earlier requirement.
    func givesWay(to other: PasscodeCause) -> Bool {
        other.word == .remote && (word == .program || word == .remote) && other != self
    }

    // MARK: On the disk

    /// Separates word and text on the disk; display text has no control characters.
    private static let separator: Character = "\u{1F}"

    /// The word, and behind a separator the text.
    public var stored: String {
        guard let text else { return word.rawValue }
        return word.rawValue + String(Self.separator) + text
    }

    /// Restores a cause that was stored.
    ///
    /// Earlier formats stored any program's text alone: a text that is no word counts as a
    /// program's.
    public init(stored: String) {
        let parts = stored.split(separator: Self.separator, maxSplits: 1).map(String.init)
        let word = parts.first.flatMap(Word.init(rawValue:)) ?? .program
        self.init(word, word == .remote && parts.count == 2 ? parts[1] : nil)
    }
}
