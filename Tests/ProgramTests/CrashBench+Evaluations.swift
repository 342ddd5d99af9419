import AuthEngine
import AuthStore
import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

extension CrashBench {
    /// What asks for the passcode and for nothing else.
    nonisolated static let passcodeAlone: [String: Variant] = [
        "sensors": .strings(["None"]), "timeout": .uint64(20_000),
    ]

    /// The same with as much time as a check needs on a busy machine.
    nonisolated static let passcodeInTime = passcodeAlone.merging(["timeout": .uint64(60_000)]) {
        $1
    }

    /// The name of the error that an evaluation ends with in which the finger is put down so often;
    /// nil: it was the user.
    func evaluate(touching touches: [Bool]) async -> String? {
        // Events are followed from a unique name only.
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

    /// The passcode and the finger let the user in.
    func letIn(_ what: Comment = "at first") async throws {
        mood = .right
        #expect(await evaluate(2, Self.passcodeInTime) == nil, what)
        mood = .watching
        #expect(await evaluate(touching: [true]) == nil, what)
    }

    /// What is on the disk of this user, while no daemon has it.
    func record() throws -> UserRecord { try record(in: bus.folder + "/state") }

    /// The same while a daemon has it, which has nothing to write.
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

    // MARK: - Checks of passcodes

    private var held: String { bus.folder + "/held" }
    private var holding: String { bus.folder + "/holding" }

    /// The verifier says nothing of a passcode from now on.
    func holdChecks() throws {
        unlink(holding)
        try TemporaryFolder.write(held, [])
    }

    /// Whether the verifier has a passcode, and says nothing of it.
    var isCheckHeld: Bool { access(holding, F_OK) == 0 }

    /// The verifier says what it has to say.
    func letChecksGoOn() { unlink(held) }
}
