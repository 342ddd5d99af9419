import Foundation

/// `Tests/RULES.md`: which test proves which rule.
struct RuleTable {
    /// One test in the table.
    struct Entry: Hashable {
        let rule: String
        let test: String
        /// Relative to `Tests/`.
        let file: String
        let line: Int
    }

    static let path = "Tests/RULES.md"

    /// The rules that the table has to have.
    static let rules: [String] =
        (Array(1...8) + Array(10...14) + Array(20...26) + Array(30...37)).map { "R\($0)" }
        + ["R40", "R41", "R42", "R50", "R51"] + (60...71).map { "R\($0)" }
        + ["L1", "L2", "L3", "L4", "L5", "L6", "L6b", "L7", "L8", "L9", "L10", "L11", "L11b"]
        + ["L12", "L13", "L14", "L15", "L16", "L17", "L18", "L19", "L20", "L21"]
        + ["L22", "L23", "L24", "L25", "L26", "L27", "L28", "L29"]

    /// Those that no test of the service can prove; the table says why.
    static let withoutTest: Set<String> = ["R26"]

    /// The rules in the order of the table, with the lines on which they begin.
    private(set) var order: [(rule: String, sentence: String, line: Int)] = []
    private(set) var entries: [Entry] = []
    /// Why a rule has no test.
    private(set) var reasons: [String: String] = [:]
    private(set) var offences: [Offence] = []

    /// Reads the rows `| rule | what it says | test | [file](path) |`.
    ///
    /// An empty first cell goes on with the rule above; a row without a file says why there is no
    /// test.
    init(_ file: SourceFile) {
        for (index, line) in file.lines.enumerated() where line.hasPrefix("|") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.first == "Rule" || cells.allSatisfy({ $0.allSatisfy("-: ".contains) }) {
                continue
            }
            guard cells.count == 4, !cells[2].isEmpty else {
                offences.append(file.offence(index, "not a row of four cells with a test"))
                continue
            }
            take(cells, index, file)
        }
    }

    private mutating func take(_ cells: [String], _ index: Int, _ file: SourceFile) {
        if !cells[0].isEmpty {
            if cells[1].isEmpty { offences.append(file.offence(index, "\(cells[0]) says nothing")) }
            order.append((cells[0], cells[1], index + 1))
        }
        guard let rule = order.last?.rule else {
            offences.append(file.offence(index, "a test of no rule"))
            return
        }
        if cells[3].isEmpty {
            reasons[rule] = cells[2]
        } else if let target = Self.target(of: cells[3]) {
            entries.append(Entry(rule: rule, test: cells[2], file: target, line: index + 1))
        } else {
            offences.append(file.offence(index, "not a link to a file: \(cells[3])"))
        }
    }

    /// `[Name](Folder/Name.swift)`.
    private static func target(of link: String) -> String? {
        guard let match = link.wholeMatch(of: /\[([^\]]+)\]\(([^)]+)\)/) else { return nil }
        let (name, path) = (match.1, String(match.2))
        return path.hasSuffix("/\(name).swift") ? path : nil
    }

    /// What the table and the tests don't agree on.
    func offences(in tests: [TestName]) -> [Offence] {
        let rows = Set(order.map(\.rule))
        var found = offences
        func offend(_ line: Int, _ message: String) {
            found.append(Offence(path: Self.path, line: line, message: message))
        }
        for rule in Self.rules where !rows.contains(rule) { offend(1, "\(rule) is missing") }
        for (index, row) in order.enumerated() {
            if order[..<index].contains(where: { $0.rule == row.rule }) {
                offend(row.line, "\(row.rule) is there twice")
            }
            let isProved = entries.contains { $0.rule == row.rule }
            if !isProved, reasons[row.rule] == nil || !Self.withoutTest.contains(row.rule) {
                offend(row.line, "\(row.rule) has no test")
            }
            if isProved, reasons[row.rule] != nil {
                offend(row.line, "\(row.rule) has a test, and a reason for having none")
            }
        }
        for entry in entries {
            if !tests.contains(where: { $0.name == entry.test && $0.file == entry.file }) {
                offend(entry.line, "\(entry.file) has no test \"\(entry.test)\"")
            }
        }
        for test in tests {
            for rule in test.rules where rows.contains(rule) {
                let isListed = entries.contains {
                    $0.rule == rule && $0.test == test.name && $0.file == test.file
                }
                if !isListed { offend(1, "\(rule) lacks \"\(test.name)\" of \(test.file)") }
            }
        }
        return found
    }
}

/// The name of a test, and where it is.
struct TestName: Hashable {
    let name: String
    /// Relative to `Tests/`.
    let file: String

    /// The numbers of rules that the name carries; `R60 to R62` carries three.
    var rules: [String] {
        name.matches(of: /\b([RL])([0-9]+)(b?)\b(?: to \1([0-9]+)\b)?/)
            .flatMap { match -> [String] in
                let (_, letter, number, suffix, last) = match.output
                guard let first = Int(number), let last = last.flatMap({ Int($0) }), first < last
                else { return ["\(letter)\(number)\(suffix)"] }
                return (first...last).map { "\(letter)\($0)" }
            }
    }

    /// Every test of a file that has a sentence for its name.
    static func all(in file: SourceFile) -> [TestName] {
        let text = file.lines.joined(separator: "\n")
        let path = String(file.path.dropFirst("Tests/".count))
        return text.matches(of: /@Test\(\s*"((?:[^"\\]|\\.)*)"/)
            .map {
                let name = $0.1.replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
                return TestName(name: String(name), file: path)
            }
    }
}
