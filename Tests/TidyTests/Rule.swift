import Testing

/// One rule of the house, for one file at a time.
struct Rule: CustomTestStringConvertible, Sendable {
    let name: String
    let offences: @Sendable (SourceFile) -> [Offence]

    var testDescription: String { name }

    /// Offences line by line: the check gets a line of code and says what is wrong with it.
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
