import DBus
import SensorContract
import TestSupport
import Testing

/// The example in Swift, on SensorKit alone.
@Suite(.timeLimit(.minutes(3)))
struct SwiftSensorTests {
    private static let fixture = SensorFixture(
        program: ["Doorbell"],
        name: "Doorbell",
        hasStream: true,
        plug: { @BusActor isIn, bench in
            bench.program.tell(isIn ? "plug" : "unplug")
            await bench.settle()
        },
        present: { isMatching, bench in
            bench.program.tell(isMatching ? "match" : "no-match")
            await bench.settle()
        }
    )

    init() { EventLoop.shared.startThread() }

    @Test("The example in Swift keeps the contract", arguments: SensorContractSuite.checks)
    func contract(_ check: SensorCheck) async throws {
        try await check.run(Self.fixture)
    }
}
