import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// The administrator's settings and diagnosis of the keychain, tested on the real daemon.
@Suite("Settings of the keychain", .timeLimit(.minutes(10)))
struct KeychainSettingsTests {
    @Test("ItemsPerUser applies from the reload on, and deletes no item")
    func itemLimit() async throws {
        try await ServiceBench.run(configuration: "[Limits]\nItemsPerUser=2\n") { bench in
            let keychain = bench.keychain()
            // The daemon handles signals after its first answer, while the keychain is not open
            // yet.
            _ = try await bench.canEvaluate(2)
            try await bench.daemon.reload("[Limits]\nItemsPerUser=3\n")
            let first = try await keychain.add("1")
            for name in ["2", "3"] { _ = try await keychain.add(name) }
            await expectName(.limitsExceeded) { _ = try await keychain.add("4") }
            try await bench.daemon.reload("[Limits]\nItemsPerUser=1\n")
            #expect(try await keychain.services() == ["1", "2", "3"])
            #expect(try await keychain.read(first) == "secret")
            try await keychain.proxy.setSecret(id: first, secret: Array("other".utf8), options: [:])
            #expect(try await keychain.read(first) == "other")
            await expectName(.limitsExceeded) { _ = try await keychain.add("4") }
            try await bench.daemon.reload("[Limits]\nItemsPerUser=4\n")
            _ = try await keychain.add("4")
            await expectName(.limitsExceeded) { _ = try await keychain.add("5") }
        }
    }

    /// Returns state, message and remedy of the keychain's check.
    @BusActor
    private static func finding(_ bench: ServiceBench) async throws -> [String] {
        let checks = try await bench.manager.diagnose()
        let found = checks.first { $0["name"] == .string("keychain") }
        return ["state", "message", "remedy"].map { found?[$0]?.asString ?? "" }
    }

    @Test("Diagnose reports the keychain's state without creating a keychain")
    func doctor() async throws {
        try await ServiceBench.run { bench in
            #expect(try await Self.finding(bench) == ["ok", "The keychain is empty.", ""])
            #expect(access(bench.state + "/keychain", F_OK) != 0)
            let id = try await bench.keychain().add("kept")
            let well = try await Self.finding(bench)
            #expect(well[0] == "ok" && well[1].hasPrefix("Keychain items of yours: 1; the key "))
            #expect(well[1].hasSuffix(" is in a file."))
            try await bench.restartDaemon()
            #expect(try await Self.finding(bench) == well)

            let key = bench.state + "/keychain/master.key"
            #expect(rename(key, key + ".away") == 0)
            try await bench.restartDaemon()
            let missing = try await Self.finding(bench)
            #expect(missing[0] == "failed" && missing[1].contains(" is missing: put it back"))
            #expect(missing[2].contains("localauthctl keychain restore"))
            #expect(access(key, F_OK) != 0)
            try Self.write("a wrong key that has its 32 bytes", to: key)
            let wrong = try await Self.finding(bench)
            #expect(wrong[0] == "failed" && wrong[1].contains("needs the master key"))
            #expect(wrong[2] == missing[2])
            #expect(rename(key + ".away", key) == 0)
            #expect(try await Self.finding(bench) == well)
            #expect(try await bench.keychain().read(id) == "secret")
        }
    }

    @Test("Diagnose reports a damaged keychain until an item is stored again")
    func damaged() async throws {
        try await ServiceBench.run { bench in
            _ = try await bench.keychain().add("lost")
            let database = bench.state + "/keychain/items.sqlite"
            await bench.daemon.process.end()
            try Self.write(String(repeating: "no database ", count: 999), to: database)
            unlink(database + "-wal")
            try await bench.restartDaemon()
            #expect(try await bench.keychain().services() == [])
            let record = "audit: database-set-aside file=\(database).damaged-1"
            #expect(bench.daemon.process.errors.contains(record))
            let damaged = try await Self.finding(bench)
            #expect(damaged[0] == "warning")
            #expect(damaged[1].hasSuffix("set aside as \(database).damaged-1."))
            try await bench.restartDaemon()
            #expect(
                try await Self.finding(bench)[1] == "An earlier keychain was damaged or lost."
            )
            _ = try await bench.keychain().add("again")
            #expect(try await Self.finding(bench)[0] == "ok")
        }
    }

    /// Overwrites a file with a text.
    @BusActor
    private static func write(_ text: String, to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let bytes = Array(text.utf8.prefix(path.hasSuffix(".key") ? 32 : Int.max))
        defer { close(file) }
        try expect(Glibc.write(file, bytes, bytes.count) == bytes.count, "\(path) to be written")
    }
}
