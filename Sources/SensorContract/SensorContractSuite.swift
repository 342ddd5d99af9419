import BusBench
import DBus

/// Everything that the contract asks of a sensor, as checks that any sensor process can be put
/// through: `@Test(arguments: SensorContractSuite.checks)` and ``SensorCheck/run(_:)``.
public enum SensorContractSuite {
    /// All checks; each one gets a bus and a sensor process of its own.
    public static let checks: [SensorCheck] =
        faceChecks + callerChecks + templateChecks + belongingChecks + operationChecks
        + attemptChecks + cancelChecks + cancelPointChecks + hostileChecks + processChecks
        + lifeChecks
}

/// What became of a check.
public enum CheckOutcome: Hashable, Sendable {
    /// It holds.
    case passed
    /// This sensor has nothing that it could be seen with: why.
    case notApplicable(String)
    /// It does not hold: what was expected, and what came.
    case failed(String)
}

/// Why a check can't be made of a sensor.
struct NotApplicable: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// One check: a sentence, where the contract says so, and what it does.
public struct SensorCheck: Sendable, CustomStringConvertible {
    /// What holds.
    public let description: String
    /// Where that stands; nil: in no contract of all sensors.
    public let line: ContractLine?
    private let body: @BusActor @Sendable (SensorBench) async throws -> Void

    /// A check of one sensor alone, by its sentence; it fails by throwing.
    public init(
        _ description: String,
        _ body: @escaping @BusActor @Sendable (SensorBench) async throws -> Void
    ) {
        self.init(description, nil, body)
    }

    /// A check of the contract, by its sentence; it fails by throwing.
    init(
        _ description: String,
        _ line: ContractLine?,
        _ body: @escaping @BusActor @Sendable (SensorBench) async throws -> Void
    ) {
        self.description = description
        self.line = line
        self.body = body
    }

    /// Runs the check against a new process of this sensor.
    ///
    /// - Throws: What was expected and what came, unless this sensor can't be asked.
    @BusActor public func run(_ fixture: SensorFixture) async throws {
        if case .failed(let why) = await outcome(fixture) { throw TestFailure(why) }
    }

    /// Runs the check against a new process of this sensor, and says what became of it.
    @BusActor public func outcome(_ fixture: SensorFixture) async -> CheckOutcome {
        do {
            let bench = try await SensorBench(fixture)
            let outcome: CheckOutcome
            do {
                try await body(bench)
                outcome = .passed
            } catch let error as NotApplicable {
                outcome = .notApplicable(error.reason)
            } catch {
                let said = bench.program.errors
                outcome = .failed(said.isEmpty ? "\(error)" : "\(error); it said: \(said)")
            }
            await bench.end()
            return outcome
        } catch {
            return .failed("\(error)")
        }
    }
}
