import Testing

/// The table of rules and tests is complete, and finds what is missing.
struct RuleTableTests {
    @Test("Every rule is in the table with its tests, and every test of a rule is in the table")
    func complete() throws {
        let files = try Project.files()
        let page = try #require(files.first { $0.path == RuleTable.path })
        let tests =
            files.filter {
                $0.path.hasPrefix("Tests/") && $0.path.hasSuffix(".swift")
                    // Here names of tests are text.
                    && !$0.path.hasPrefix("Tests/TidyTests/")
            }
            .flatMap(TestName.all)
        #expect(tests.count > 300)
        for offence in RuleTable(page).offences(in: tests) { Issue.record("\(offence)") }
    }

    private static let head = ["| Rule | What it says | Test | In |", "|---|---|---|---|"]
    private static let tests = [
        TestName(name: "R1: one", file: "A/B.swift"),
        TestName(name: "two", file: "A/B.swift"),
        TestName(name: "R1, L6b: three", file: "A/C.swift"),
    ]
    /// All rules, as those tests prove them.
    private static let rows = RuleTable.rules.flatMap { rule in
        switch rule {
        case "R1":
            [
                "| R1 | Says | R1: one | [B](A/B.swift) |", "| | | two | [B](A/B.swift) |",
                "| | | R1, L6b: three | [C](A/C.swift) |",
            ]
        case "L6b": ["| L6b | Says | R1, L6b: three | [C](A/C.swift) |"]
        case "R26": ["| R26 | Says | *none: it is the agent's* | |"]
        default: ["| \(rule) | Says | two | [B](A/B.swift) |"]
        }
    }

    private static func offences(_ rows: [String]) -> [String] {
        let text = (head + rows).joined(separator: "\n")
        return RuleTable(SourceFile(path: RuleTable.path, text: text)).offences(in: tests)
            .map(\.message)
    }

    @Test("A table that has everything is fine")
    func fine() {
        #expect(Self.offences(Self.rows) == [])
    }

    /// A row of that table, what stands there instead, and what is wrong then.
    private static let mistakes = [
        ("| R2 | Says | two | [B](A/B.swift) |", "", "R2 is missing"),
        (
            "| R3 | Says | two | [B](A/B.swift) |", "| R3 | Says | *none: no time* | |",
            "R3 has no test"
        ),
        (
            "| R26 | Says | *none: it is the agent's* | |", "| R26 | Says | | |",
            "not a row of four cells with a test"
        ),
        ("| | | R1, L6b: three | [C](A/C.swift) |", "", "R1 lacks \"R1, L6b: three\" of A/C.swift"),
        (
            "| R4 | Says | two | [B](A/B.swift) |", "| R4 | Says | too | [B](A/B.swift) |",
            "A/B.swift has no test \"too\""
        ),
        (
            "| R4 | Says | two | [B](A/B.swift) |", "| R4 | Says | two | [C](A/C.swift) |",
            "A/C.swift has no test \"two\""
        ),
        (
            "| R4 | Says | two | [B](A/B.swift) |", "| R4 | Says | two | [C](A/B.swift) |",
            "not a link to a file: [C](A/B.swift)"
        ),
        (
            "| R4 | Says | two | [B](A/B.swift) |", "| R4 | | two | [B](A/B.swift) |",
            "R4 says nothing"
        ),
        (
            "| R5 | Says | two | [B](A/B.swift) |",
            "| R5 | Says | two | [B](A/B.swift) |\n| R4 | Says | two | [B](A/B.swift) |",
            "R4 is there twice"
        ),
    ]

    @Test("What is missing or wrong is found", arguments: mistakes)
    func mistake(_ row: String, _ instead: String, _ message: String) {
        #expect(Self.rows.contains(row))
        let rows = Self.rows.map { $0 == row ? instead : $0 }
        #expect(Self.offences(rows).contains(message))
    }

    @Test("Names of tests are found in sources, with the rules that they carry")
    func names() {
        let text = """
            @Test("R3, L11b: a \\"word\\"") func a() {}
            @Test(
                "L9: two",
                arguments: [1]
            )
            @Test func b() {}
            @Suite("R4") struct C {}
            @Test("R1C2 is no rule")
            @Test("R7 to R9, L1") func d() {}
            """
        let found = TestName.all(in: SourceFile(path: "Tests/A/B.swift", text: text))
        let names = ["R3, L11b: a \"word\"", "L9: two", "R1C2 is no rule", "R7 to R9, L1"]
        #expect(found.map(\.name) == names)
        #expect(found.map(\.rules) == [["R3", "L11b"], ["L9"], [], ["R7", "R8", "R9", "L1"]])
        #expect(Set(found.map(\.file)) == ["A/B.swift"])
    }
}
