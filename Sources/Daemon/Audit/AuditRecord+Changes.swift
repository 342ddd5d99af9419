import AuthEngine
import Contract
import DBus

extension AuditRecord {
    /// Returns the decisions that explain how a user's record changed.
    static func changes(
        from before: UserRecord,
        to after: UserRecord,
        uid: UInt32,
        lockoutAttempts limit: Int,
        at now: Instant
    ) -> [AuditRecord] {
        var changes: [AuditRecord] = []
        let (wasLocked, isLocked) = (before.misses >= limit, after.misses >= limit)
        if !wasLocked, isLocked {
            changes.append(AuditRecord(.lockoutBegan, uid: uid, [.attempts: "\(after.misses)"]))
        }
        if let cause = after.passcodeCause, cause != before.passcodeCause {
            let word = cause.word.rawValue
            let text = cause.text.map { "\(word): \($0)" } ?? word
            changes.append(AuditRecord(.passcodeRequired, uid: uid, [.cause: text]))
        }
        if wasLocked || before.passcodeCause != nil, !isLocked, after.passcodeCause == nil {
            changes.append(AuditRecord(.lockoutCleared, uid: uid))
        }
        if let end = after.delayedUntil, end != before.delayedUntil, end > now {
            let left = (end - now).components
            let seconds = left.seconds + (left.attoseconds > 0 ? 1 : 0)
            changes.append(
                AuditRecord(
                    .passcodeDelayBegan,
                    uid: uid,
                    [.attempts: "\(after.wrongPasscodes)", .seconds: "\(seconds)"]
                )
            )
        }
        return changes
    }

    @BusActor
    func called(by peer: Peer?) -> AuditRecord {
        guard let peer else { return self }
        return adding([
            .caller: peer.name, .callerUID: "\(peer.uid)", .callerPID: "\(peer.pid)",
            .callerProgram: CallerProcess(pid: peer.pid).name,
        ])
    }
}
