import BusBench
public import DBus

/// What became of a check.
public enum CheckOutcome: Hashable, Sendable {
    /// It holds.
    case passed
    /// This program has nothing that it could be seen with: why.
    case notApplicable(String)
    /// It does not hold: what was expected, and what came.
    case failed(String)
}

/// Why a check can't be made of a program.
struct NotApplicable: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// What a check is made with: a program of its own, and the service that it deals with.
@BusActor public protocol ContractBench: AnyObject {
    /// What the program is, and how it is used.
    associatedtype Fixture: Sendable
    /// Starts the program.
    init(_ fixture: Fixture) async throws
    /// What the program has said so far.
    var said: String { get }
    /// Ends the program, and all that belongs to it.
    func end() async
}

/// A check of a sensor.
public typealias SensorCheck = ContractCheck<SensorBench>

/// One check: a sentence, where the contract says so, and what it does.
public struct ContractCheck<Bench: ContractBench>: Sendable, CustomStringConvertible {
    /// What holds.
    public let description: String
    /// Where that stands; nil: in no contract of all.
    public let line: ContractLine?
    private let body: @BusActor @Sendable (Bench) async throws -> Void

    /// A check of one program alone, by its sentence; it fails by throwing.
    public init(
        _ description: String,
        _ body: @escaping @BusActor @Sendable (Bench) async throws -> Void
    ) {
        self.init(description, nil, body)
    }

    /// A check of the contract, by its sentence; it fails by throwing.
    init(
        _ description: String,
        _ line: ContractLine?,
        _ body: @escaping @BusActor @Sendable (Bench) async throws -> Void
    ) {
        self.description = description
        self.line = line
        self.body = body
    }

    /// Runs the check against a new process of this program.
    ///
    /// - Throws: What was expected and what came, unless this program can't be asked.
    @BusActor public func run(_ fixture: Bench.Fixture) async throws {
        if case .failed(let why) = await outcome(fixture) { throw TestFailure(why) }
    }

    /// Runs the check against a new process of this program, and says what became of it.
    @BusActor public func outcome(_ fixture: Bench.Fixture) async -> CheckOutcome {
        do {
            let bench = try await Bench(fixture)
            let outcome: CheckOutcome
            do {
                try await body(bench)
                outcome = .passed
            } catch let error as NotApplicable {
                outcome = .notApplicable(error.reason)
            } catch {
                let said = bench.said
                outcome = .failed(said.isEmpty ? "\(error)" : "\(error); it said: \(said)")
            }
            await bench.end()
            return outcome
        } catch {
            return .failed("\(error)")
        }
    }
}

/// Fails unless `body` is answered with an error of whatever name.
@BusActor func expectRefusal(
    _ what: String,
    _ body: @BusActor () async throws -> Void
) async throws {
    do {
        try await body()
    } catch let error as DBusError {
        try expect(error.name != .noReply, "an error as the answer to \(what), got \(error)")
        return
    }
    throw TestFailure("expected an error as the answer to \(what), got an answer")
}
