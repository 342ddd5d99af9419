import AuthEngine
import AuthStore
import DBus
import LocalAuthBus
import ServiceProgram

/// Writes every decision, with a limit for each kind (L15).
@BusActor
final class AuditTrail {
    private let journal: AuditJournal
    private let clock: @BusActor () -> Instant
    private var limit: AuditLimit
    private var timer: EventSource?

    /// Each user's last known record; a difference from it is a decision.
    private var records: [UInt32: UserRecord]
    private let unknown: UserRecord
    /// The last reported cause of each unusable sensor.
    private var faults: [String: String] = [:]

    /// - Parameters:
    ///   - path: the journal's socket.
    ///   - records: the users' records at the start.
    ///   - unknown: the record of any other user.
    ///   - limit: how many records are written individually.
    ///   - clock: returns the current time.
    init(
        path: String,
        records: [UInt32: UserRecord] = [:],
        unknown: UserRecord = UserRecord(),
        limit: AuditLimit = AuditLimit(),
        clock: @escaping @BusActor () -> Instant = { Instant.now() }
    ) {
        journal = AuditJournal(path: path)
        self.records = records
        self.unknown = unknown
        self.limit = limit
        self.clock = clock
    }

    var hasJournal: Bool { journal.isThere }

    /// Writes a record with its caller, or counts it if the limit is reached.
    func write(_ record: AuditRecord, by peer: Peer? = nil) {
        let now = clock()
        summarize(limit.due(at: now))
        if !record.isRepeatable || limit.admits(record.kind, uid: record.uid, at: now) {
            send(record.called(by: peer))
        }
        arm(now)
    }

    /// Writes outstanding summaries and a record that the service stops.
    func close() {
        timer?.cancel()
        timer = nil
        summarize(limit.rest())
        send(AuditRecord(.serviceStopped))
    }

    /// Writes the decisions that changed a user's record, with the caller if it is known.
    func changed(
        _ record: UserRecord,
        of uid: UInt32,
        lockoutAttempts: Int,
        askedBy requester: Peer? = nil
    ) {
        let before = records.updateValue(record, forKey: uid) ?? unknown
        let changes = AuditRecord.changes(
            from: before,
            to: record,
            uid: uid,
            lockoutAttempts: lockoutAttempts,
            at: clock()
        )
        for change in changes { write(change.called(by: requester)) }
    }

    /// Writes that a sensor can't be used, once for each cause.
    func changed(_ sensor: SensorLink) {
        let reason = sensor.unavailability
        let kind: AuditKind
        switch reason {
        case nil:
            faults[sensor.name] = nil
            return
        case .crashed, .failed, .incompatible: kind = .sensorFailed
        case .untrusted: kind = .sensorUntrusted
        // A starting sensor has not recovered yet, so its fault stays.
        case .noHardware, .starting, .lidClosed, .suspended, .remoteSession: return
        }
        let fault = sensor.process.fault.map { "\(reason.wire): \($0)" }
        let cause = sensor.process.distrust ?? fault ?? reason.wire
        guard faults[sensor.name] != cause else { return }
        // Bounded, because sensors come and go. Forgetting a fault at worst repeats a record.
        if faults.count >= SensorDirectory.limit { faults = [:] }
        faults[sensor.name] = cause
        write(AuditRecord(kind, [.sensor: sensor.name, .cause: cause]))
    }

    private func arm(_ now: Instant) {
        // All windows have equal length, so a later window never ends first.
        guard timer == nil, let end = limit.nextEnd else { return }
        timer = EventLoop.shared.schedule(after: max(end - now, .zero)) { [weak self] in
            guard let self else { return }
            timer = nil
            let now = clock()
            summarize(limit.due(at: now))
            arm(now)
        }
    }

    private func summarize(_ summaries: [AuditLimit.Summary]) {
        for summary in summaries {
            send(
                AuditRecord(
                    .repeated,
                    uid: summary.key.uid,
                    [.repeated: summary.key.kind.rawValue, .count: "\(summary.count)"]
                )
            )
        }
    }

    private func send(_ record: AuditRecord) {
        if !journal.send(record.entry) { log(record.priority, record.line) }
    }
}
