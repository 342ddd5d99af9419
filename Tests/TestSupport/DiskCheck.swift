import Glibc
import LocalAuthBus
public import SensorContract

extension SensorCheck {
    /// Checks, with planted disk faults, that a template exists only if it is on the disk.
    public static func disk(_ faults: Faults) -> SensorCheck {
        SensorCheck("disk") { bench in
            // The second barrier fails: the file is on disk, but not its name.
            faults.arm(.barrier, 2, with: EIO)
            try await expectError(.sensorFailed, of: "Enroll") { _ = try await bench.enroll() }
            try expect(faults.failed == 1, "a failure, got \(faults.failed)")
            let user = SensorBench.user
            try expect(try await bench.sensor.listTemplates(uid: user).isEmpty, "nothing kept")
            faults.disarm()
            let id = try await bench.enroll("one")
            faults.arm(.barrier, 2, with: EIO)
            try await expectError(.sensorFailed, of: "RenameTemplate") {
                try await bench.sensor.renameTemplate(uid: user, id: id, label: "two")
            }
            faults.disarm()
            let kept = try await bench.sensor.listTemplates(uid: user)
            try expect(kept.map(\.label) == ["one"], "\(kept)")
            try await bench.restart()
            let listed = try await bench.sensor.listTemplates(uid: user)
            try expect(listed.map(\.label) == ["one"], "\(listed)")
            // Without the barrier, the removed template might be back after a power cut.
            faults.arm(.barrier, 1, with: EIO)
            try await expectError(.sensorFailed, of: "RemoveTemplate") {
                try await bench.sensor.removeTemplate(uid: user, id: id)
            }
            faults.disarm()
        }
    }
}
