/// `SECURITY.md`: which test proves which promise.
struct ThreatModel {
    static let path = "SECURITY.md"

    /// One test that the page names, as `[File](Tests/Folder/File.swift): its name`.
    struct Entry: Hashable {
        let test: String
        /// Relative to `Tests/`.
        let file: String
        let line: Int
    }

    private(set) var entries: [Entry] = []
    private(set) var offences: [Offence] = []

    /// Reads the page.
    ///
    /// An attack is a paragraph that begins in bold type, below "Promises"; a lesson is a row of
    /// the table below "What was learned". Each has a test before the next one begins.
    init(_ file: SourceFile) {
        var chapter: Substring = ""
        var attack: Int?
        for (index, line) in file.lines.enumerated() {
            if line.hasPrefix("## ") { chapter = line.dropFirst(3) }
            let isAttack = chapter.hasPrefix("Promises") && line.hasPrefix("**")
            if isAttack || line.hasPrefix("#"), let open = attack {
                offences.append(file.offence(open, "an attack without a test"))
                attack = nil
            }
            if isAttack { attack = index }
            let found = Self.entries(in: line, index + 1)
            if !found.isEmpty { attack = nil }
            entries += found
            let isRow = line.hasPrefix("|") && !line.hasPrefix("|---")
            if chapter.hasPrefix("What was learned"), isRow, found.isEmpty,
                !line.hasPrefix("| found")
            {
                offences.append(file.offence(index, "a lesson without a test"))
            }
        }
        if let attack { offences.append(file.offence(attack, "an attack without a test")) }
    }

    private static func entries(in line: String, _ number: Int) -> [Entry] {
        line.matches(of: /\[(\w+)\]\(Tests\/([^)]+\/\1\.swift)\): (.+?)\s*(?:$|\||<br>)/)
            .map { Entry(test: String($0.3), file: String($0.2), line: number) }
    }

    /// What the page and the tests don't agree on.
    func offences(in tests: [TestName]) -> [Offence] {
        offences
            + entries.filter { entry in
                !tests.contains { $0.name == entry.test && $0.file == entry.file }
            }
            .map {
                Offence(
                    path: Self.path,
                    line: $0.line,
                    message: "\($0.file) has no test \"\($0.test)\""
                )
            }
    }
}
