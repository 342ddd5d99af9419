/// One passcode on its way through the verifier.
struct Attempt: Hashable, Sendable {
    /// Into whose prompt it was typed.
    let evaluation: EvaluationID
    /// Whether the verifier has it; before that it is being written down.
    var isAsked = false
    /// Whether that prompt still waits for the verdict.
    var isAwaited = true
}

/// One verification at a time for a user, over all sessions and callers, and counted before the
/// verifier is asked (L20).
///
/// Whoever leaves, or kills the service, takes nothing back: on the disk an attempt that has no
/// verdict is a wrong passcode.
extension AuthEngine {
    /// It is written down as a wrong one before anybody says that it is not.
    mutating func beginAttempt(_ id: EvaluationID, _ uid: UInt32) {
        attempts[uid] = Attempt(evaluation: id)
        save(record(of: uid), of: uid, for: id, matters: false)
    }

    /// Another passcode of this user is being verified: this one waits, unlocks before others.
    mutating func takeTurn(_ id: EvaluationID, _ uid: UInt32) {
        let waiting = turns[uid] ?? []
        let isUnlock = evaluations[id]?.request.isUnlock == true
        let unlocks = waiting.prefix { evaluations[$0]?.request.isUnlock == true }.count
        turns[uid, default: []].insert(id, at: isUnlock ? unlocks : waiting.count)
    }

    /// What was typed into its prompt concerns it no more: one that waits is not asked about, one
    /// that is being verified is counted and nothing else.
    mutating func leaveTurn(_ id: EvaluationID, _ uid: UInt32) {
        turns[uid]?.removeAll { $0 == id }
        if turns[uid]?.isEmpty == true { turns[uid] = nil }
        if attempts[uid]?.evaluation == id { attempts[uid]?.isAwaited = false }
    }

    /// All that is to be on the disk is there: now the verifier is asked, if there is still a
    /// reason to.
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
        // It was no attempt.
        attempts[uid] = nil
        takeBackAttempt(of: uid)
        dropPasscode(id)
        callNextAttempt(of: uid)
    }

    /// What counted as wrong on the disk doesn't any more; a crash before that is only stricter.
    mutating func takeBackAttempt(of uid: UInt32) {
        save(record(of: uid), of: uid, matters: false)
    }

    /// The passcode that waited longest is verified, unless a delay began meanwhile.
    mutating func callNextAttempt(of uid: UInt32) {
        while attempts[uid] == nil, let id = turns[uid]?.first {
            leaveTurn(id, uid)
            let isDelayed = isDelayed(id)
            if evaluations[id]?.prompt?.takeTurn(isDelayed: isDelayed) == true {
                beginAttempt(id, uid)
            } else {
                dropPasscode(id)
            }
        }
    }

    /// A passcode is not looked at; while a delay runs, the prompt is told when it is over.
    private mutating func dropPasscode(_ id: EvaluationID) {
        guard evaluations[id] != nil else { return }
        evaluations[id]?.prompt?.withdraw()
        holdBack(id)
        concludeIfIdle(id)
    }

    /// The record as it is written: an attempt without a verdict counts there as a wrong one.
    func written(_ record: UserRecord, of uid: UInt32) -> UserRecord {
        attempts[uid] == nil ? record : record.countingWrongPasscode(at: now, settings)
    }
}

extension UserRecord {
    /// The record after one more wrong passcode.
    func countingWrongPasscode(at now: Instant, _ settings: Settings) -> UserRecord {
        var record = self
        record.wrongPasscodes = min(wrongPasscodes, Int.max - 1) + 1
        if let delay = settings.passcodeDelay(afterWrong: record.wrongPasscodes) {
            record.delayedUntil = now + delay
        }
        return record
    }
}
