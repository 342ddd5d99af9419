import DBus
import SensorContract
import Testing

@Suite(.serialized, .timeLimit(.minutes(10)))
struct SecurityKeyContractTests {
    init() { EventLoop.shared.startThread() }

    @Test("The contract of all sensors holds", arguments: SensorContractSuite.checks)
    @BusActor func contract(_ check: SensorCheck) async throws {
        try await KeyRing().run(check)
    }
}
