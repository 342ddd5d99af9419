package import Contract

/// Why a password is asked for, or required before biometry.
package struct PasscodeCause: Hashable, Sendable {
    package let word: PasscodeCauseWord
    /// The text of an administrator (`remote`) or of the system (`verifier-failed`), if there is one.
    package let text: String?

    package init(_ word: PasscodeCauseWord) {
        self.word = word
        text = nil
    }

    /// Creates the cause of an administrator's requirement.
    ///
    /// The text is cut at 64 characters.
    package static func remote(_ text: String) -> PasscodeCause {
        let cut = String(String.UnicodeScalarView(text.unicodeScalars.prefix(64)))
        return PasscodeCause(.remote, cut.isEmpty ? nil : cut)
    }

    /// Creates the cause of a password that could not be checked; `reason` may be empty.
    package static func verifierFailed(_ reason: String) -> PasscodeCause {
        PasscodeCause(.verifierFailed, reason.isEmpty ? nil : reason)
    }

    private init(_ word: PasscodeCauseWord, _ text: String?) {
        self.word = word
        self.text = text
    }

    /// Whether another cause replaces this cause.
    ///
    /// An administrator's requirement replaces a program's, and an administrator's earlier
    /// requirement.
    func givesWay(to other: PasscodeCause) -> Bool {
        other.word == .remote && (word == .program || word == .remote) && other != self
    }

    // MARK: Stored form

    /// Separates the word from the text.
    ///
    /// Display text has no control characters.
    private static let separator: Character = "\u{1F}"

    /// The word, followed by a separator and the text if there is one.
    package var stored: String {
        guard let text else { return word.rawValue }
        return word.rawValue + String(Self.separator) + text
    }

    /// Restores a stored cause.
    ///
    /// Earlier formats stored only a program's text. A text that is no known word therefore counts
    /// as a program's cause.
    package init(stored: String) {
        let parts = stored.split(separator: Self.separator, maxSplits: 1).map(String.init)
        let word = parts.first.flatMap(PasscodeCauseWord.init(rawValue:)) ?? .program
        self.init(word, word == .remote && parts.count == 2 ? parts[1] : nil)
    }
}
