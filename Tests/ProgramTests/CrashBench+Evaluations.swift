import AuthEngine
import AuthStore
import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

extension CrashBench {
    /// Options that leave the password as the only mechanism.
    nonisolated static let passcodeAlone: [String: Variant] = [
        "sensors": .strings(["None"]), "timeout": .uint64(20_000),
    ]

    /// ``passcodeAlone`` with enough time for a check on a busy machine.
    nonisolated static let passcodeInTime = passcodeAlone.merging(["timeout": .uint64(60_000)]) {
        $1
    }

    /// Evaluates with the given touches; returns the error's name, or nil on success.
    func evaluate(touching touches: [Bool]) async -> String? {
        // Event streams need a unique name.
        guard let owner = try? await connection.nameOwner(TestDaemon.name) else { return "gone" }
        let daemon = Authentication1Proxy(connection, destination: owner, path: TestDaemon.root)
        var left = touches[...]
        do throws(DBusError) {
            let call = try daemon.evaluateStream(
                policy: 1,
                reason: "test",
                options: ["sensors": .strings(["One"]), "timeout": .uint64(60_000)]
            )
            for await event in call.events {
                guard event.kind == "sensor-ready" || event.kind == "no-match" else { continue }
                if let touch = left.popFirst() {
                    try? await sensor("One").touch(matching: touch)
                } else {
                    try? await daemon.invalidate()
                }
            }
            _ = try await call.reply()
            return nil
        } catch {
            return error.name.rawValue
        }
    }

    /// Expects that the password and the finger succeed.
    func letIn(_ what: Comment = "at first") async throws {
        mood = .right
        #expect(await evaluate(2, Self.passcodeInTime) == nil, what)
        mood = .watching
        #expect(await evaluate(touching: [true]) == nil, what)
    }

    /// The user's record on the disk, while no daemon uses it.
    func record() throws -> UserRecord { try record(in: bus.folder + "/state") }

    /// The user's record on the disk, while a daemon uses it and has nothing to write.
    func recordOfRunningDaemon() throws -> UserRecord {
        let folder = try TemporaryFolder()
        let copy = folder.path + "/state"
        let words = ["/bin/cp", "--archive", bus.folder + "/state", copy]
        try expect(try ChildProcess.run(words).status == 0, "expected a copy of the state")
        return try record(in: copy)
    }

    private func record(in folder: String) throws -> UserRecord {
        let (store, state) = try AuthStore.open(
            directory: folder,
            now: .now(),
            bootID: Boot.id() ?? "",
            settings: Settings()
        )
        store.close()
        return state.record(of: getuid())
    }

    // MARK: - Checks of passwords

    private var held: String { bus.folder + "/held" }
    private var holding: String { bus.folder + "/holding" }

    func holdChecks() throws {
        unlink(holding)
        try TemporaryFolder.write(held, [])
    }

    /// Whether the verifier has a password and withholds its verdict.
    var isCheckHeld: Bool { access(holding, F_OK) == 0 }

    func letChecksGoOn() { unlink(held) }
}
