import DBus
import Fingerprint
import SensorKit

enum ScanEnd {
    /// A match, or a complete enrolment; with the finger if fprintd names it.
    case finished(Finger?)
    /// The machine goes to sleep; the scan is repeated after it wakes up.
    case asleep
    /// An unspecific error: fprintd reports it for a removed reader, for sleep, and for a reader
    /// that must be reopened.
    case broken
    case fault(FprintFault)
}

extension FingerprintSensor {
    /// Exits of fprintd, or failures of a reader, before an operation gives up.
    static let patience = 3
    /// Pause before the next attempt to claim a reader that another program holds.
    static let busyPause = Duration.milliseconds(200)
    /// Time that a reply waits for the reader to be released for others.
    static let releasePatience = Duration.seconds(1)

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
            releaseClaim(session)
            switch end {
            case .finished(let finger):
                // The reader is released behind the reply (L38); the next claim waits for that.
                return try template(of: finger, operation.user, user, list)
            case .asleep: continue
            case .fault(.lost) where faults < Self.patience, .broken where faults < Self.patience:
                faults += 1
            case .broken: throw await meaning(of: .failed(Self.failure))
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
        changes.notifyAll()
    }

    /// Claims the reader for an operation, waiting while another program holds it (L25).
    ///
    /// Polls, because fprintd does not report when a reader is released.
    func claim(
        for user: String,
        _ operation: SensorOperation
    ) async throws(SensorFault) -> FprintSession {
        while true {
            do throws(FprintFault) {
                return try await claimWhenFree(for: user) { operation.isCanceled }
            } catch {
                guard error == .inUse else { throw await meaning(of: error) }
            }
            operation.busy()
            _ = await changes.wait(atMost: Self.busyPause) { operation.isCanceled }
        }
    }

    /// Refines a fault.
    ///
    /// A reader that is pulled out fails in many ways before fprintd reports its removal.
    private func meaning(of fault: FprintFault) async -> SensorFault {
        guard case .failed = fault, let key else { return SensorFault(fault) }
        await readers.directory.refresh()
        let isThere = readers.directory.readers.contains { $0.key == key }
        return isThere ? SensorFault(fault) : .disconnected
    }

    /// Scans until a match; each attempt starts and stops fprintd's verification.
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
                    try await stop(session, counting: operation)
                default: return .broken
                }
            }
        } catch {
            return .fault(error)
        }
    }

    /// Ends a scan that missed.
    ///
    /// The next scan starts only after the miss is counted.
    private func stop(
        _ session: FprintSession,
        counting operation: SensorOperation
    ) async throws(FprintFault) {
        let end: Result<Void, FprintFault>
        do throws(FprintFault) {
            end = .success(try await session.stop())
        } catch {
            end = .failure(error)
        }
        // Count the miss even if the reader fails now: the scan took place.
        do throws(SensorFault) {
            try await operation.noMatch()
        } catch {
            throw .canceled
        }
        try end.get()
    }

    static let failure =
        "The fingerprint reader failed several times: unplug it and plug it in again, or restart "
        + "the machine if it is built in."

    /// Whether to continue; false when the machine goes to sleep.
    func isAwake(_ operation: SensorOperation) throws(FprintFault) -> Bool {
        if operation.isCanceled { throw .canceled }
        if !properties.isPresent { throw .gone }
        return !readers.sleep.isAsleep
    }

    /// Reports hints until a status ends the scan; nil when the machine goes to sleep.
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
