import DBus
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// Runs the checks on the Swift example, which uses only SensorKit.
@Suite(.timeLimit(.minutes(10)))
struct SwiftSensorTests {
    init() { EventLoop.shared.startThread() }

    @Test("The example in Swift keeps the contract", arguments: SensorContractSuite.checks)
    func contract(_ check: SensorCheck) async throws {
        try await check.run(.doorbell(["Doorbell"]))
    }

    @Test("A template exists only if it is on the disk")
    func disk() async throws {
        let faults = try Faults()
        let check = SensorCheck("disk") { bench in
            let user = SensorBench.user
            // The second barrier fails: the file is on disk, but not its name.
            faults.arm(.barrier, 2, with: EIO)
            try await expectError(.sensorFailed, of: "Enroll") { _ = try await bench.enroll() }
            try expect(faults.failed == 1, "a failure, got \(faults.failed)")
            try expect(try await bench.sensor.listTemplates(uid: user).isEmpty, "nothing kept")
            try await bench.restart()
            try expect(try await bench.sensor.listTemplates(uid: user).isEmpty, "nothing on it")
            faults.disarm()
            let id = try await bench.enroll()
            try await bench.restart()
            let kept = try await bench.sensor.listTemplates(uid: user)
            try expect(kept.map(\.id) == [id], "\(kept)")
        }
        try await check.run(.doorbell(faults.starting(["Doorbell"])))
    }
}
