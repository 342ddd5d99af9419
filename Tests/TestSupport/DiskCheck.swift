import Glibc
import LocalAuthBus
public import SensorContract

extension SensorCheck {
    /// What the disk doesn't take is not there, of a sensor that `faults` have been planted in.
    public static func disk(_ faults: Faults) -> SensorCheck {
        SensorCheck("disk") { bench in
            // The file is on the disk by then, its name isn't.
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
            // What is removed would be back after a power cut.
            faults.arm(.barrier, 1, with: EIO)
            try await expectError(.sensorFailed, of: "RemoveTemplate") {
                try await bench.sensor.removeTemplate(uid: user, id: id)
            }
            faults.disarm()
        }
    }
}
