import AuthEngine
import AuthStore
import DBus
import ServiceProgram

/// The users' records on their way to the disk, in the order in which the engine wants them there.
@BusActor
final class RecordSaves {
    /// Who asked for what is being saved, where that would not be known.
    var requester: Peer?
    private let store: AuthStore
    private let audit: AuditTrail
    private var last: SaveID?
    /// What was written last, or could not be.
    private var ended: SaveID?
    private var waiters: [(id: SaveID, done: CheckedContinuation<Void, Never>)] = []

    init(store: AuthStore, audit: AuditTrail) {
        self.store = store
        self.audit = audit
    }

    /// Saves a record; `done` is told whether it is on the disk.
    ///
    /// What was decided goes to the audit: an attempt that is counted in advance is no decision.
    func save(
        _ id: SaveID,
        _ uid: UInt32,
        _ record: UserRecord,
        deciding decided: UserRecord,
        _ lockoutAttempts: Int,
        done: @escaping @BusActor @Sendable (Bool) -> Void
    ) {
        last = id
        audit.changed(decided, of: uid, lockoutAttempts: lockoutAttempts, askedBy: requester)
        store.save(record, uid: uid) { error in
            onLoop {
                if let error { log(.error, "a counter could not be saved: \(error)") }
                done(error == nil)
                self.ended = id
                while let first = self.waiters.first, first.id.rawValue <= id.rawValue {
                    self.waiters.removeFirst().done.resume()
                }
            }
        }
    }

    /// Returns once everything that the engine wanted written so far is on the disk, or can't be
    /// written: the engine knows which.
    func finish() async {
        guard let last, last != ended else { return }
        await withCheckedContinuation { waiters.append((last, $0)) }
    }
}
