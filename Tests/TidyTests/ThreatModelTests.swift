import Testing

/// The threat model names tests that are there, for each attack and each lesson.
struct ThreatModelTests {
    @Test("Every attack and every lesson of SECURITY has a test that is there")
    func complete() throws {
        let files = try Project.files()
        let page = try #require(files.first { $0.path == ThreatModel.path })
        let tests =
            files.filter {
                $0.path.hasPrefix("Tests/") && $0.path.hasSuffix(".swift")
                    && !$0.path.hasPrefix("Tests/TidyTests/")
            }
            .flatMap(TestName.all)
        let model = ThreatModel(page)
        #expect(model.entries.count > 100)
        for offence in model.offences(in: tests) { Issue.record("\(offence)") }
    }

    private static let tests = [TestName(name: "L1: one", file: "A/B.swift")]

    private static func offences(_ text: String) -> [String] {
        ThreatModel(SourceFile(path: ThreatModel.path, text: text)).offences(in: tests)
            .map { "\($0.line): \($0.message)" }
    }

    @Test("A page that names what is there is fine")
    func fine() {
        let text = """
            **Not an attack.** Text.
            ## Promises
            **An attack.** Text.

            - [B](Tests/A/B.swift): L1: one

            ## What was learned
            | found elsewhere | here |
            |---|---|
            | CVE-1 | [B](Tests/A/B.swift): L1: one<br>[B](Tests/A/B.swift): L1: one |
            """
        #expect(Self.offences(text) == [])
    }

    @Test("What is missing or wrong is found")
    func mistakes() {
        let text = """
            ## Promises
            **One.** Text.

            **Two.** Text.
            - [B](Tests/A/B.swift): L1: another
            - [C](Tests/A/C.swift): L1: one
            **Three.** Text, [B](Tests/A/B.swift).
            ## What was learned
            | CVE-1 | nothing |
            **Not an attack.**
            """
        #expect(
            Self.offences(text) == [
                "2: an attack without a test", "7: an attack without a test",
                "9: a lesson without a test", "5: A/B.swift has no test \"L1: another\"",
                "6: A/C.swift has no test \"L1: one\"",
            ]
        )
    }
}
