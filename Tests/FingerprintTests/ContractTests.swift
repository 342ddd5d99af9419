import DBus
import FingerprintRig
import SensorContract
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .serialized)
struct ContractTests {
    init() { EventLoop.shared.startThread() }

    @Test("The contract of all sensors holds", arguments: SensorContractSuite.checks)
    @BusActor func contract(_ check: SensorCheck) async throws {
        let rig = try await FingerprintRig()
        do {
            try await check.run(try rig.fixture())
        } catch {
            await rig.end()
            throw error
        }
        await rig.end()
    }
}
