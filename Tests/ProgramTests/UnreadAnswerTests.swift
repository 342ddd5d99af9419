import DBus
import Glibc
import TestSupport
import Testing

/// Callers of the installed service that never read its replies.
@Suite("Unread replies", .timeLimit(.minutes(10)), .enabled(if: geteuid() == 0))
struct UnreadAnswerTests {
    @Test("L21: As installed, callers that never read do not disturb other callers")
    func installed() async throws {
        let system = try await InstalledSystem()
        let daemon = try await system.startDaemon()
        let silent = try (0..<4).map { _ in try RawClient(system.address) }
        // Exceeds the bus's limit if unbounded: each reply has 16 KiB.
        for _ in 0..<30 {
            for client in silent {
                for _ in 0..<100 {
                    try client.send(
                        to: TestDaemon.name,
                        path: TestDaemon.root.rawValue,
                        interface: "org.freedesktop.DBus.Introspectable",
                        member: "Introspect"
                    )
                }
            }
            let asked = try await system.call(
                as: InstalledSystem.nobody,
                InstalledSystem.canEvaluate
            )
            try #require(asked.status == 0, "\(asked.output)")
        }
        let unread = try await unread(of: TestDaemon.name, on: system)
        #expect(unread > 1024 * 1024, "the attack is none")
        #expect(unread < 16 * 1024 * 1024)
        #expect(daemon.isRunning)
    }

    /// Bytes from the name's owner that the bus still holds.
    private func unread(of name: String, on system: InstalledSystem) async throws -> Int {
        let said = try await system.call(
            as: "root",
            [
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats",
                "GetConnectionStats", "s", name,
            ]
        )
        let words = said.output.split(separator: " ")
        let place = try #require(words.firstIndex(of: "\"IncomingBytes\""), "\(said.output)")
        return try #require(Int(words[place + 2]))
    }
}
