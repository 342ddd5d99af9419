import Localization

/// Translates a help text, including ArgumentParser's own words.
func translatedHelp(_ text: String) -> String {
    // Other output of the parser, such as completion scripts, is not for people.
    guard text.hasPrefix("OVERVIEW: ") else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(translated)
        .joined(separator: "\n")
}

private func translated(_ line: Substring) -> String {
    for (word, own) in titles where line.hasPrefix(word) { return own + line.dropFirst(word.count) }
    let (before, after) = ("  See '", "' for detailed help.")
    if line.hasPrefix(before), line.hasSuffix(after) {
        let command = line.dropFirst(before.count).dropLast(after.count)
        return "  " + localized("See '%1$s' for detailed help.", String(command))
    }
    return parts.reduce(String(line)) { $0.replacing($1.word, with: $1.own) }
}

/// Headings of paragraphs.
private let titles = [
    ("OVERVIEW:", localized("OVERVIEW:")), ("USAGE:", localized("USAGE:")),
    ("ARGUMENTS:", localized("ARGUMENTS:")), ("OPTIONS:", localized("OPTIONS:")),
    ("SUBCOMMANDS:", localized("SUBCOMMANDS:")),
]

/// Phrases inside a line.
private let parts: [(word: String, own: String)] = [
    ("Show help information.", localized("Show help information.")),
    ("Show the version.", localized("Show the version.")),
    ("(default:", localized("(default:")), ("(values:", localized("(values:")),
    ("; default:", localized("; default:")),
]
