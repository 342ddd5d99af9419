package import Contract

/// The cause for which a password is asked for, or has to be given before biometry.
package struct PasscodeCause: Hashable, Sendable {
    package let word: PasscodeCauseWord
    /// An administrator's text, only with `remote`; nil: none.
    package let text: String?

    package init(_ word: PasscodeCauseWord) {
        self.word = word
        text = nil
    }

    /// The cause of an administrator's requirement; the text is cut at 64 characters.
    package static func remote(_ text: String) -> PasscodeCause {
        let cut = String(String.UnicodeScalarView(text.unicodeScalars.prefix(64)))
        return PasscodeCause(.remote, cut.isEmpty ? nil : cut)
    }

    private init(_ word: PasscodeCauseWord, _ text: String?) {
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
    package var stored: String {
        guard let text else { return word.rawValue }
        return word.rawValue + String(Self.separator) + text
    }

    /// Restores a cause that was stored.
    ///
    /// Earlier formats stored any program's text alone: a text that is no word counts as a
    /// program's.
    package init(stored: String) {
        let parts = stored.split(separator: Self.separator, maxSplits: 1).map(String.init)
        let word = parts.first.flatMap(PasscodeCauseWord.init(rawValue:)) ?? .program
        self.init(word, word == .remote && parts.count == 2 ? parts[1] : nil)
    }
}
