import DBus
import Fingerprint
import SensorKit

/// How one claim's worth of looking ended.
enum ScanEnd {
    /// A match, or a complete enrolment; of which finger, where fprintd says it.
    case finished(Finger?)
    /// The machine goes to sleep: the same again once it is awake.
    case asleep
    /// An error that nobody explains: a removed reader looks like this, sleep does, and a reader
    /// that wants to be opened again.
    case broken
    /// Nothing comes of it.
    case fault(FprintFault)
}

extension FingerprintSensor {
    /// How often fprintd may end, or a reader fail, before an operation gives up.
    static let patience = 3

    func verify(_ operation: SensorOperation) async throws(SensorFault) -> String {
        guard let user = try name(of: operation.user) else { throw .noTemplates }
        let list = try await enrolled(operation.user, user)
        guard !list.isEmpty else { throw .noTemplates }
        begin(operation)
        defer { end() }
        var faults = 0
        while true {
            let session = try await claim(for: user, operation)
            let end = await look(session, operation, &faults)
            leave(session)
            switch end {
            case .finished(let finger): return template(of: finger, operation.user, user, list)
            case .asleep: continue
            case .fault(.lost) where faults < Self.patience, .broken where faults < Self.patience:
                faults += 1
            case .broken: throw .failed(Self.failure)
            case .fault(let fault): throw SensorFault(fault)
            }
        }
    }

    func begin(_ operation: SensorOperation) {
        isOperating = true
        operation.onCancel { self.lookAround() }
    }

    func end() {
        isOperating = false
        bell.ring()
    }

    func claim(
        for user: String,
        _ operation: SensorOperation
    ) async throws(SensorFault) -> FprintSession {
        do throws(FprintFault) {
            return try await open(for: user) { operation.isCanceled }
        } catch {
            throw SensorFault(error)
        }
    }

    /// Looks until a match; every attempt is a start and a stop of its own.
    private func look(
        _ session: FprintSession,
        _ operation: SensorOperation,
        _ faults: inout Int
    ) async -> ScanEnd {
        do throws(FprintFault) {
            while true {
                try await session.startVerify()
                operation.ready()
                guard let status = try await outcome(session, operation) else { return .asleep }
                switch status.result {
                case .match: return .finished(session.selected)
                case .disconnected: return .fault(.gone)
                case .noMatch:
                    faults = 0
                    operation.noMatch()
                    try await session.stop()
                default: return .broken
                }
            }
        } catch {
            return .fault(error)
        }
    }

    static let failure = "The fingerprint reader failed several times."

    /// Whether to go on: false in sleep.
    func isAwake(_ operation: SensorOperation) throws(FprintFault) -> Bool {
        if operation.isCanceled { throw .canceled }
        if !properties.isPresent { throw .gone }
        return !readers.sleep.isAsleep
    }

    /// The status that ends a scan, hints told on the way; nil in sleep.
    private func outcome(
        _ session: FprintSession,
        _ operation: SensorOperation
    ) async throws(FprintFault) -> ScanStatus? {
        while true {
            guard try isAwake(operation) else { return nil }
            switch await session.next() {
            case .interrupted: continue
            case .lost: throw .lost
            case .status(let status):
                if status.isDone { return status }
                if let hint = status.hint { operation.hint(hint) }
            }
        }
    }
}
