import DBus
import Fingerprint
import FingerprintRig
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .serialized)
struct HotplugTests {
    init() { EventLoop.shared.startThread() }

    @Test("A reader plugged in while fprintd is not running is found through udev's records")
    @BusActor func plugged() async throws {
        try await run { rig, directory, records in
            await directory.refresh()
            #expect(directory.readers.isEmpty && directory.fault == nil)
            #expect(rig.starts == 1)
            try await end(rig)
            try rig.plugIn([.device])
            // Records of other devices, such as a battery, must not start fprintd.
            for _ in 0..<3 { try record("+power_supply:BAT0", in: records) }
            try record("c189:7", in: records)
            try await eventually("a reader") { !directory.readers.isEmpty }
            #expect(rig.starts == 2)
        }
    }

    @Test("Without a reader, an fprintd that has exited is not started again")
    @BusActor func ended() async throws {
        try await run { rig, directory, _ in
            await directory.refresh()
            for _ in 0..<3 {
                try await end(rig)
                _ = try await rig.client.listActivatableNames()
            }
            #expect(rig.starts == 1)
        }
    }

    @BusActor private func run(
        _ body: @BusActor (FingerprintRig, ReaderDirectory, String) async throws -> Void
    ) async throws {
        let rig = try await FingerprintRig([], isActivated: true)
        let records = rig.folder + "/udev"
        mkdir(records, 0o755)
        do {
            let connection = try rig.bus.connect()
            let directory = ReaderDirectory(connection, deviceRecords: records) {}
            try await body(rig, directory, records)
        } catch {
            await rig.end()
            throw error
        }
        await rig.end()
    }

    /// Writes a record as udev does: to a temporary file that is then renamed.
    @BusActor private func record(_ name: String, in folder: String) throws {
        try TemporaryFolder.write("\(folder)/.#\(name)", "I:1\n".utf8)
        try expect(rename("\(folder)/.#\(name)", "\(folder)/\(name)") == 0, "a record")
    }

    /// Ends fprintd, as it does itself when idle.
    @BusActor private func end(_ rig: FingerprintRig) async throws {
        guard let owner = try await rig.client.nameOwner("net.reactivated.Fprint") else { return }
        kill(try await rig.client.peer(named: owner).pid, SIGTERM)
        _ = try await rig.bus.waitForOwner(of: "net.reactivated.Fprint", false)
    }
}
