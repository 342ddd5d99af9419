import AuthEngine
import AuthStore
import DBus
import ServiceProgram

/// Saves users' records to the disk in the engine's order.
@BusActor
final class RecordSaves {
    /// The caller that requested the current change, for the audit.
    var requester: Peer?
    private let store: AuthStore
    private let audit: AuditTrail
    private var last: SaveID?
    /// The last save that succeeded or failed.
    private var ended: SaveID?
    private var waiters: [(id: SaveID, done: CheckedContinuation<Void, Never>)] = []

    init(store: AuthStore, audit: AuditTrail) {
        self.store = store
        self.audit = audit
    }

    /// Saves a record, and tells `done` whether it is on the disk.
    ///
    /// The audit gets `decided` instead of `record`, because an attempt counted in advance is no
    /// decision.
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

    /// Waits until all records that the engine has saved so far are written, or have failed.
    func finish() async {
        guard let last, last != ended else { return }
        await withCheckedContinuation { waiters.append((last, $0)) }
    }
}
