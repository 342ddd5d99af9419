/// Marks a literal for the catalogues without translating it here.
public func marked(_ message: String) -> String { message }

/// A sentence of another program in the user's language.
///
/// The catalogue is asked for the sentence itself, then for a pattern that it follows; the
/// arguments of a pattern are translated in the same way.
/// - Parameters:
///   - sentence: plain text in English.
///   - patterns: sentences with `%1$s`, `%2$s` … in them.
/// - Returns: the sentence itself where there is no translation.
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

/// What stands in the places of a pattern.
///
/// - Parameters:
///   - sentence: a text that may follow the pattern.
///   - pattern: a text with places in their order, each followed by a fixed text or the end.
/// - Returns: nil when the sentence follows another pattern.
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
