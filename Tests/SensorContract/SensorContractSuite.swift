import DBus
import TestSupport

/// Everything that the contract asks of a sensor, as checks that any sensor process can be put
/// through: `@Test(arguments: SensorContractSuite.checks)` and ``SensorCheck/run(_:)``.
public enum SensorContractSuite {
    /// All checks; each one gets a bus and a sensor process of its own.
    public static let checks: [SensorCheck] =
        faceChecks + callerChecks + templateChecks + operationChecks + cancelChecks
        + processChecks
}

/// One check: a sentence, and what it does.
public struct SensorCheck: Sendable, CustomStringConvertible {
    /// What holds.
    public let description: String
    private let body: @BusActor @Sendable (SensorBench) async throws -> Void

    /// A check by its sentence; it fails by throwing.
    public init(
        _ description: String,
        _ body: @escaping @BusActor @Sendable (SensorBench) async throws -> Void
    ) {
        self.description = description
        self.body = body
    }

    /// Runs the check against a new process of this sensor.
    @BusActor public func run(_ fixture: SensorFixture) async throws {
        let bench = try await SensorBench(fixture)
        do {
            try await body(bench)
        } catch {
            await bench.end()
            throw error
        }
        await bench.end()
    }
}
