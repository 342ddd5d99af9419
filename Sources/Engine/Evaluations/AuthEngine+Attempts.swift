/// A password that the verifier is checking or will check.
struct Attempt: Hashable, Sendable {
    /// The evaluation of the prompt that received the password.
    let evaluation: EvaluationID
    /// Whether the verifier has the password.
    ///
    /// Until then the attempt is being written.
    var isAsked = false
    var isAwaited = true
}

/// Verifies one password at a time for each user, over all sessions and callers (L20).
///
/// The attempt is written as a wrong password before the verifier gets it. A caller that
/// disconnects, or kills the service, therefore cannot avoid the count.
extension AuthEngine {
    /// Writes the attempt as a wrong password before the verifier gets it.
    mutating func beginAttempt(_ id: EvaluationID, _ uid: UInt32) {
        attempts[uid] = Attempt(evaluation: id)
        save(record(of: uid), of: uid, for: id, mustSurviveCrash: false)
    }

    /// Queues the password until the user's current check ends.
    ///
    /// Unlocks precede other evaluations.
    mutating func enqueuePassword(_ id: EvaluationID, _ uid: UInt32) {
        let waiting = queuedPasswords[uid] ?? []
        let isUnlock = evaluations[id]?.request.isUnlock == true
        let unlocks = waiting.prefix { evaluations[$0]?.request.isUnlock == true }.count
        queuedPasswords[uid, default: []].insert(id, at: isUnlock ? unlocks : waiting.count)
    }

    /// Detaches the prompt from its password.
    ///
    /// A queued password is dropped; a password that is being checked still counts if it is wrong.
    mutating func detachPassword(_ id: EvaluationID, _ uid: UInt32) {
        queuedPasswords[uid]?.removeAll { $0 == id }
        if queuedPasswords[uid]?.isEmpty == true { queuedPasswords[uid] = nil }
        if attempts[uid]?.evaluation == id { attempts[uid]?.isAwaited = false }
    }

    /// Calls the verifier once every write has ended, if the check is still needed.
    mutating func askVerifier(_ uid: UInt32) {
        guard let attempt = attempts[uid], !attempt.isAsked else { return }
        let id = attempt.evaluation
        if unwritten.contains(uid) { finish(id, .refused(.notWritten)) }
        if attempts[uid]?.isAwaited == true, delayEnd(of: uid) == nil,
            evaluations[id]?.prompt?.stage.takesPasscode == true
        {
            attempts[uid]?.isAsked = true
            effects.append(.verifyPasscode(id))
            return
        }
        // No password was checked, so the attempt does not count.
        attempts[uid] = nil
        revokeAttempt(of: uid)
        dropPasscode(id)
        callNextAttempt(of: uid)
    }

    /// Writes the record without the pending attempt.
    ///
    /// A crash before that write only leaves a stricter record.
    mutating func revokeAttempt(of uid: UInt32) {
        save(record(of: uid), of: uid, mustSurviveCrash: false)
    }

    /// Starts the check of the password that waited longest, unless a delay has begun.
    mutating func callNextAttempt(of uid: UInt32) {
        while attempts[uid] == nil, let id = queuedPasswords[uid]?.first {
            detachPassword(id, uid)
            let isDelayed = isDelayed(id)
            if evaluations[id]?.prompt?.checkQueuedPassword(isDelayed: isDelayed) == true {
                beginAttempt(id, uid)
            } else {
                dropPasscode(id)
            }
        }
    }

    /// Drops a password unchecked.
    ///
    /// During a delay, the prompt is told when the delay ends.
    private mutating func dropPasscode(_ id: EvaluationID) {
        guard evaluations[id] != nil else { return }
        evaluations[id]?.prompt?.withdraw()
        announceDelay(id)
        concludeIfIdle(id)
    }

    /// The record as it is written: an attempt without a verdict counts as a wrong password.
    func written(_ record: UserRecord, of uid: UInt32) -> UserRecord {
        attempts[uid] == nil ? record : record.countingWrongPasscode(at: now, settings)
    }
}

extension UserRecord {
    func countingWrongPasscode(at now: Instant, _ settings: Settings) -> UserRecord {
        var record = self
        record.wrongPasscodes = min(wrongPasscodes, Int.max - 1) + 1
        if let delay = settings.passcodeDelay(afterWrong: record.wrongPasscodes) {
            record.delayedUntil = now + delay
        }
        return record
    }
}
