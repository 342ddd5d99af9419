import DBus
import SensorContract
import TestSupport
import Testing

/// The example in Swift, on SensorKit alone.
@Suite(.timeLimit(.minutes(10)))
struct SwiftSensorTests {
    init() { EventLoop.shared.startThread() }

    @Test("The example in Swift keeps the contract", arguments: SensorContractSuite.checks)
    func contract(_ check: SensorCheck) async throws {
        try await check.run(.doorbell(["Doorbell"]))
    }
}
