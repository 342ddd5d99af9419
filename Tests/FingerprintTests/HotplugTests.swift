import DBus
import Fingerprint
import FingerprintRig
import Glibc
import TestSupport
import Testing

/// What makes fprintd start: each thing that may have changed, and nothing else.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct HotplugTests {
    init() { EventLoop.shared.startThread() }

    @Test("A reader that is plugged in while fprintd doesn't run is found by what udev records")
    @BusActor func plugged() async throws {
        try await run { rig, directory, records in
            await directory.refresh()
            #expect(directory.readers.isEmpty && directory.fault == nil)
            #expect(rig.starts == 1)
            try await end(rig)
            try rig.plugIn([.device])
            // A battery is none, however often it is recorded.
            for _ in 0..<3 { try record("+power_supply:BAT0", in: records) }
            try record("c189:7", in: records)
            try await eventually("a reader") { !directory.readers.isEmpty }
            #expect(rig.starts == 2)
        }
    }

    @Test("Without a reader, fprintd that has ended is left alone")
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

    /// As udev writes its records: beside the place, and then there.
    @BusActor private func record(_ name: String, in folder: String) throws {
        try TemporaryFolder.write("\(folder)/.#\(name)", "I:1\n".utf8)
        try expect(rename("\(folder)/.#\(name)", "\(folder)/\(name)") == 0, "a record")
    }

    /// Ends fprintd, as it does itself when it is idle.
    @BusActor private func end(_ rig: FingerprintRig) async throws {
        guard let owner = try await rig.client.nameOwner("net.reactivated.Fprint") else { return }
        kill(try await rig.client.peer(named: owner).pid, SIGTERM)
        _ = try await rig.bus.waitForOwner(of: "net.reactivated.Fprint", false)
    }
}
