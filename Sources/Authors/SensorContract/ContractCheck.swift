import BusBench
public import DBus

public enum CheckOutcome: Hashable, Sendable {
    case passed
    /// The check does not apply to this program; the text says why.
    case notApplicable(String)
    /// The check failed; the text gives the expectation and the result.
    case failed(String)
}

/// The cause why a check does not apply to a program.
struct NotApplicable: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// The environment of a check: the program under test, and the service that it talks to.
@BusActor public protocol ContractBench: AnyObject {
    /// The description of the program and of its use.
    associatedtype Fixture: Sendable
    init(_ fixture: Fixture) async throws
    /// The program's output so far.
    var output: String { get }
    /// Ends the program and all its resources.
    func end() async
}

public typealias SensorCheck = ContractCheck<SensorBench>

/// A check: a sentence, its place in the contract, and its code.
public struct ContractCheck<Bench: ContractBench>: Sendable, CustomStringConvertible {
    /// The sentence that the check verifies.
    public let description: String
    /// The line of the contract that the check verifies; nil for a check of a single program.
    public let line: ContractLine?
    private let body: @BusActor @Sendable (Bench) async throws -> Void

    /// Creates a check for a single program, outside the contract; it fails by throwing.
    public init(
        _ description: String,
        _ body: @escaping @BusActor @Sendable (Bench) async throws -> Void
    ) {
        self.init(description, nil, body)
    }

    /// Creates a check of the contract; it fails by throwing.
    init(
        _ description: String,
        _ line: ContractLine?,
        _ body: @escaping @BusActor @Sendable (Bench) async throws -> Void
    ) {
        self.description = description
        self.line = line
        self.body = body
    }

    /// Runs the check against a new process of the program.
    ///
    /// - Throws: The expectation and the result of a failed check; a check that does not apply
    ///   passes.
    @BusActor public func run(_ fixture: Bench.Fixture) async throws {
        if case .failed(let why) = await outcome(fixture) { throw TestFailure(why) }
    }

    /// Runs the check against a new process of the program, and returns its outcome.
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
                let said = bench.output
                outcome = .failed(said.isEmpty ? "\(error)" : "\(error); its output: \(said)")
            }
            await bench.end()
            return outcome
        } catch {
            return .failed("\(error)")
        }
    }
}

/// Throws a failure unless `body` fails with any D-Bus error.
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
