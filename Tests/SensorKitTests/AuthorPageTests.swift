import SensorContract
import TestSupport
import Testing

/// Runs the code on the pages for authors of sensors and prompts.
///
/// A booted test runs the console lines of `guide.md`.
@Suite(.timeLimit(.minutes(10)))
struct AuthorPageTests {
    private static let project = #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" }

    private static func text(_ path: String) throws -> String {
        String(decoding: try TemporaryFolder.read("\(project)/\(path)"), as: UTF8.self)
    }

    /// Returns the code blocks of a page in this language.
    private static func pieces(_ page: String, in language: String) throws -> [String] {
        let parts = try text("docs/sensors/\(page).md").split(separator: "```")
        // Each code block begins with the name of its language.
        return parts.enumerated()
            .compactMap { number, part in
                guard !number.isMultiple(of: 2), part.hasPrefix(language + "\n") else { return nil }
                return String(part.dropFirst(language.count + 1))
            }
    }

    private static func run(_ code: String, in folder: String) async throws {
        let program = try ChildProcess(
            ["/bin/sh", "-ec", "cd \"$1\"\n" + code, "sh", folder],
            environment: ["PATH": ChildProcess.folder + ":/usr/bin:/bin"]
        )
        let ended = try await program.ended(within: .seconds(480))
        #expect(ended.status == 0, "\(code)\(ended.output)\(ended.errors)")
        #expect(ended.output.contains(" checks hold, 0 don't"))
    }

    @Test("The commands on the page for authors of sensors work")
    func sensors() async throws {
        let pieces = try Self.pieces("guide", in: "sh")
        #expect(pieces.count == 2)
        let folder = try TemporaryFolder()
        let example = Self.project + "/examples/sensors/python/sensor.py"
        let sensor = Array("#!/bin/sh\nexec /usr/bin/python3 \(example) \"$@\"\n".utf8)
        try TemporaryFolder.write(folder.path + "/my-sensor", sensor, mode: 0o755)
        for code in pieces { try await Self.run(code, in: folder.path) }
    }

    @Test("The commands on the page for authors of prompts work, and its code is the example's")
    func prompts() async throws {
        let pieces = try Self.pieces("prompts", in: "sh")
        let (start, check) = (try #require(pieces.first), try #require(pieces.last))
        #expect(pieces.count == 2)
        // The address follows `--bus`.
        let words = "cd \(Self.project); export DBUS_SYSTEM_BUS_ADDRESS=\"$2\"; exec "
        let fixture = PromptFixture(program: ["/bin/sh", "-c", words + start, "sh"])
        let shows = PromptContractSuite.checks.first {
            $0.description.hasPrefix("The prompt shows the reason")
        }
        try await #require(shows).run(fixture)
        try await Self.run(check, in: Self.project)

        let example = try Self.text("examples/prompts/swift/Sources/ask/main.swift")
        #expect(try Self.pieces("prompts", in: "swift") == [example])
    }
}
