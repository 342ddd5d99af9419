import ClientTestSupport
import TestSupport
import Testing

/// Tests the clients in other languages, which share no code with the project, on the real daemon.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct OtherLanguagesTests {
    /// Shell commands; `$1` is the bus address, `$2` a folder for build results.
    private static let commands = [
        "shell": "shell/evaluate.sh $1",
        "python": "/usr/bin/python3 python/evaluate.py $1",
        "javascript": "gjs -m javascript/evaluate.js $1",
        "c": """
        cc -Wall -Wextra -Werror c/evaluate.c -o $2/evaluate \
        $(pkg-config --cflags --libs dbus-1) && $2/evaluate $1
        """,
    ]

    @Test("A match exits with status 0", arguments: commands.keys.sorted())
    func granted(language: String) async throws {
        try await ClientDesk.run { desk in
            try await desk.queue("match")
            let client = try start(language, desk)
            let status = try await client.exitStatus(within: .seconds(120))
            #expect(status == 0, "\(client.errors)")
            #expect(client.output.contains("It is you"))
        }
    }

    @Test("A cancel exits with status 1", arguments: commands.keys.sorted())
    func canceled(language: String) async throws {
        try await ClientDesk.run { desk in
            await desk.agent.will(.cancel)
            let client = try start(language, desk)
            let status = try await client.exitStatus(within: .seconds(120))
            #expect(status == 1, "\(client.errors)")
            #expect(!client.output.contains("It is you"))
        }
    }

    @Test("Without the service the status is 3, in a shell 1", arguments: commands.keys.sorted())
    func unreachable(language: String) async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            let client = try start(language, desk)
            let status = try await client.exitStatus(within: .seconds(120))
            #expect(status == (language == "shell" ? 1 : 3))
        }
    }

    private func start(_ language: String, _ desk: Desk) throws -> ChildProcess {
        let top = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let command = try #require(Self.commands[language])
        return try desk.bus.run([
            "/bin/sh", "-c", "cd /\(top)/examples; \(command)", "sh", desk.bus.address,
            desk.bus.folder,
        ])
    }
}
