/// Marks a literal for extraction into the catalogues, without translating it here.
public func marked(_ message: String) -> String { message }

/// Translates a sentence of another program to the user's language.
///
/// Looks up the whole sentence first, then a pattern that it follows. The arguments of a pattern
/// are translated in turn.
///
/// - Parameters:
///   - sentence: plain text in English.
///   - patterns: sentences with placeholders `%1$s`, `%2$s` …
/// - Returns: The sentence itself without a translation.
public func translation(of sentence: String, like patterns: [String]) -> String {
    let whole = translation(of: sentence)
    guard whole == sentence else { return whole }
    for pattern in patterns {
        guard let arguments = arguments(of: sentence, in: pattern) else { continue }
        return filled(
            translation(of: pattern),
            arguments.map { translation(of: $0, like: patterns) }
        )
    }
    return sentence
}

/// Extracts the arguments of a sentence that follows a pattern.
///
/// - Parameters:
///   - sentence: a text that may follow the pattern.
///   - pattern: a text with placeholders in ascending order, each followed by a fixed text or the
///     end.
/// - Returns: nil if the sentence does not follow the pattern.
public func arguments(of sentence: String, in pattern: String) -> [String]? {
    var rest = sentence[...]
    var fixed = pattern[...]
    var arguments: [String] = []
    while let mark = fixed.firstRange(of: "%\(arguments.count + 1)$s") {
        let before = fixed[..<mark.lowerBound]
        guard rest.hasPrefix(before) else { return nil }
        rest = rest.dropFirst(before.count)
        fixed = fixed[mark.upperBound...]
        let next = fixed.prefix { $0 != "%" }
        let end = next.isEmpty ? rest.endIndex : rest.firstRange(of: next)?.lowerBound
        guard let end, end > rest.startIndex else { return nil }
        arguments.append(String(rest[..<end]))
        rest = rest[end...]
    }
    return rest == fixed && !arguments.isEmpty ? arguments : nil
}
