import DBus
import Glibc
import LocalAuthBus
import Sealing
import TestSupport
import Testing

/// L18: The files of the service keep no deleted or replaced data.
@Suite("Deleted items", .timeLimit(.minutes(10)))
struct DeletedItemTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    @BusActor private func add(_ account: String, to daemon: TestDaemon) async throws -> String {
        try await daemon.keychain()
            .add(
                attributes: ["class": .string("genp"), "acct": .string(account)],
                secret: SecretBytes.random(count: 3000),
                accessControl: [:],
                options: [:]
            )
    }

    @BusActor private func replace(_ id: String, in daemon: TestDaemon) async throws {
        try await daemon.keychain()
            .setSecret(id: id, secret: SecretBytes.random(count: 3000), options: [:])
    }

    /// Reads a copy of the open database.
    private static let reader = """
        import shutil, sqlite3, sys, tempfile
        with tempfile.TemporaryDirectory() as copy:
            for end in ["", "-wal"]:
                shutil.copy(sys.argv[1] + "/items.sqlite" + end, copy)
            rows = sqlite3.connect(copy + "/items.sqlite").execute(
                "SELECT envelope FROM items WHERE id = ?", [bytes.fromhex(sys.argv[2])])
            sys.stdout.buffer.write(rows.fetchone()[0][-64:])
        """

    /// The last bytes of an item's encrypted secret.
    private func trace(of id: String, in daemon: TestDaemon) throws -> [UInt8] {
        let words = ["/usr/bin/python3", "-c", Self.reader, daemon.state + "/keychain", id]
        let read = try ChildProcess.run(words)
        try #require(read.bytes.count == 64, "\(read.errors)")
        return read.bytes
    }

    private func isThere(_ trace: [UInt8], in daemon: TestDaemon) throws -> Bool {
        let folder = daemon.state + "/keychain"
        return try TemporaryFolder.names(in: folder)
            .contains { try !TemporaryFolder.read("\(folder)/\($0)").ranges(of: trace).isEmpty }
    }

    @Test("L18: After Delete no file has the encrypted secret")
    @BusActor func deleted() async throws {
        let daemon = try await TestDaemon(on: try PrivateBus())
        let (doomed, _) = (try await add("a", to: daemon), try await add("b", to: daemon))
        let trace = try trace(of: doomed, in: daemon)
        #expect(try isThere(trace, in: daemon))
        #expect(try await daemon.keychain().delete(ids: [doomed]) == 1)
        #expect(try !isThere(trace, in: daemon))
    }

    @Test("L18: At rest, after SIGTERM, and after kill -9 and a start no file has a former secret")
    @BusActor func replaced() async throws {
        let daemon = try await TestDaemon(on: try PrivateBus())
        let id = try await add("a", to: daemon)
        var former = try trace(of: id, in: daemon)
        try await replace(id, in: daemon)
        try await eventually("the service to rest") { try !self.isThere(former, in: daemon) }

        former = try trace(of: id, in: daemon)
        try await replace(id, in: daemon)
        daemon.process.signal(SIGTERM)
        #expect(try await daemon.process.exitStatus() == 0)
        #expect(try !isThere(former, in: daemon))

        try await daemon.start()
        // The first call opens the keychain, and then the service has its log.
        try await replace(id, in: daemon)
        former = try trace(of: id, in: daemon)
        try await replace(id, in: daemon)
        try await daemon.stop()
        try await daemon.start()
        try await eventually("the service to start") { try !self.isThere(former, in: daemon) }
    }
}
