import DBus
import SensorContract
import Testing

/// Runs the conformance suite of sensors on a virtual security key.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct SecurityKeyContractTests {
    init() { EventLoop.shared.startThread() }

    @Test("The contract of all sensors holds", arguments: SensorContractSuite.checks)
    @BusActor func contract(_ check: SensorCheck) async throws {
        try await KeyRing().run(check)
    }
}
