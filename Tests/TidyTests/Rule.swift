import Testing

/// A rule that checks a file at a time.
struct Rule: CustomTestStringConvertible, Sendable {
    let name: String
    let offences: @Sendable (SourceFile) -> [Offence]

    var testDescription: String { name }

    /// Creates a rule from a check that gets a line of code and returns the fault in it.
    static func code(
        _ name: String,
        in folder: String? = nil,
        _ check: @escaping @Sendable (String) -> String?
    ) -> Rule {
        Rule(name: name) { file in
            guard folder == nil || file.path.hasPrefix(folder ?? "") else { return [] }
            return file.code.enumerated()
                .compactMap { index, line in
                    check(line).map { file.offence(index, $0) }
                }
        }
    }
}

/// The words of a line: runs of letters, digits and `_`.
func words(of line: String) -> [Substring] {
    line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
}
