import DBus
import Testing

@testable import ServiceProgram

@Suite struct CommandLineTests {
    let program = ServiceProgram(
        name: "doorbell",
        abstract: "Rings.",
        options: [
            .value(
                "tone",
                "TONE",
                help: "What it plays.",
                default: "ding",
                allowed: ["ding", "dong"]
            ),
            .value("file", "FILE", help: "Where it looks."),
            .flag("loud", help: "Louder."),
        ]
    )

    private func arguments(_ words: String...) throws -> ProgramArguments? {
        guard case .run(let arguments) = try program.parse(words) else { return nil }
        return arguments
    }

    @Test("An option takes its value from the next word or after an equals sign")
    func values() throws {
        let arguments = try #require(
            try arguments("--tone=dong", "--file", "a=b", "--bus=unix:path=/x")
        )
        #expect(arguments["tone"] == "dong")
        #expect(arguments["file"] == "a=b")
        #expect(arguments.bus == .address("unix:path=/x"))
        #expect(!arguments.hasFlag("loud"))
    }

    @Test("Absent options have their default, or none")
    func defaults() throws {
        let arguments = try #require(try arguments("--loud"))
        #expect(arguments["tone"] == "ding")
        #expect(arguments["file"] == nil)
        #expect(arguments.hasFlag("loud"))
    }

    @Test("The last of repeated options wins")
    func repeated() throws {
        #expect(try arguments("--tone", "dong", "--tone", "ding")?["tone"] == "ding")
    }

    @Test("Help and version take precedence over running")
    func requests() throws {
        #expect(try program.parse(["--loud", "--help"]) == .help)
        #expect(try program.parse(["--version"]) == .version)
    }

    @Test(
        "Unknown words and options are refused",
        arguments: [
            ["--no-such-option"], ["word"], ["-h"], ["--file"], ["--file="], ["--file", ""],
            ["--tone", "gong"], ["--loud=yes"], ["--"], ["--=x"],
        ]
    )
    func refused(_ words: [String]) {
        #expect(throws: UsageError.self) { try program.parse(words) }
    }

    @Test("The help text names every option with its default")
    func help() {
        for word in [
            "doorbell", "Rings.", "--tone ding|dong", "(default: ding)", "--bus", "--loud",
        ] {
            #expect(program.helpText.contains(word))
        }
    }

    @Test("A log line stays a single line of bounded length")
    func logLines() {
        #expect(singleLine("a\nb\u{7}c") == "a b c")
        #expect(singleLine("a\u{7F}b ~") == "a b ~")
        #expect(singleLine(String(repeating: "ä", count: 5000)).utf8.count == 2048)
    }
}
