/// What outlives the process: strict at once in memory, told when it is on the disk (L17).
extension AuthEngine {
    func record(of uid: UInt32) -> UserRecord { records[uid] ?? unknown }

    /// Whether a write of this user's record is under way: nothing is concluded on it meanwhile.
    func isBeingWritten(_ uid: UInt32) -> Bool {
        saves.values.contains { $0.uid == uid }
    }

    /// Whether counters that went back are not on the disk yet: what rests on them waits as well.
    private func isBeingCleared(_ uid: UInt32) -> Bool {
        saves.values.contains { $0.uid == uid && $0.stricter != nil }
    }

    /// Tries again to write what could not be written: nobody is told of it before.
    mutating func writeAgain(_ uid: UInt32) {
        if unwritten.contains(uid), !isBeingWritten(uid) { save(record(of: uid), of: uid) }
    }

    @discardableResult
    mutating func save(
        _ record: UserRecord,
        of uid: UInt32,
        for evaluation: EvaluationID? = nil,
        _ consequence: PendingSave.Consequence? = nil,
        stricter: UserRecord? = nil,
        matters: Bool = true
    ) -> SaveID {
        records[uid] = record
        // What was not put back is not added again.
        var stricter = stricter
        if stricter?.failures == record.failures { stricter?.failures = 0 }
        if stricter?.wrongPasscodes == record.wrongPasscodes { stricter?.wrongPasscodes = 0 }
        lastSave += 1
        let id = SaveID(rawValue: lastSave)
        saves[id] = PendingSave(
            uid: uid,
            evaluation: evaluation,
            consequence: consequence,
            stricter: stricter,
            matters: matters
        )
        effects.append(.save(id, uid: uid, record))
        return id
    }

    /// It was the user: the counters go back, and then, written, it counts.
    mutating func accept(_ id: EvaluationID, _ evidence: Grant.Evidence) {
        guard let evaluation = evaluations[id] else { return }
        let uid = evaluation.request.uid
        cancelSensors(of: id)
        evaluations[id]?.candidate = nil
        let before = record(of: uid)
        var record = before
        var isCleared = false
        switch evidence {
        case .passcode:
            record = afterPasscode(of: uid)
            isCleared = isBeingCleared(uid)
        case .match where evidence.isBiometric:
            record.failures = 0
            isCleared = isBeingCleared(uid)
        case .match, .earlier, .unlock: break
        }
        guard record.counts != before.counts || isCleared else {
            // A time that a crash takes back makes the rules stricter: nobody waits for it.
            if record != before { save(record, of: uid, matters: false) }
            succeed(id, evidence)
            return
        }
        let save = save(record, of: uid, for: id, .acceptance, stricter: before)
        evaluations[id]?.accepted = .init(evidence: evidence, save: save)
    }

    mutating func saved(_ save: SaveID) {
        guard let pending = saves.removeValue(forKey: save) else { return }
        unwritten.remove(pending.uid)
        if let id = pending.evaluation, let evaluation = evaluations[id] {
            switch pending.consequence {
            // One of a stage before concerns nobody any more.
            case .mismatch(let type, let count, let left):
                guard evaluation.factors.contains(.biometry) else { break }
                tellMismatch(id, type, count: count, left: left)
            case .wrongPasscode(let left):
                tellWrongPasscode(id, left: left)
            case .acceptance:
                if let accepted = evaluation.accepted, accepted.save == save {
                    succeed(id, accepted.evidence)
                }
            case nil: break
            }
        }
        settle(pending.uid)
    }

    mutating func saveFailed(_ save: SaveID) {
        guard let pending = saves.removeValue(forKey: save) else { return }
        if pending.matters { unwritten.insert(pending.uid) }
        if let stricter = pending.stricter { restore(stricter, of: pending.uid) }
        if let id = pending.evaluation { finish(id, .refused(.notWritten)) }
        settle(pending.uid)
    }

    /// The counters were put back for nothing: what came since is added to what was before.
    private mutating func restore(_ stricter: UserRecord, of uid: UInt32) {
        var record = record(of: uid)
        record.failures = sum(record.failures, stricter.failures)
        record.wrongPasscodes = sum(record.wrongPasscodes, stricter.wrongPasscodes)
        record.passcodeCause = record.passcodeCause ?? stricter.passcodeCause
        record.delayedUntil = [record.delayedUntil, stricter.delayedUntil].compactMap(\.self).max()
        records[uid] = record
        // Later writes carry less than that.
        if isBeingWritten(uid) { self.save(record, of: uid) }
        if isBiometryRefused(uid) { stopBiometry(of: uid) }
    }

    private func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflows) = left.addingReportingOverflow(right)
        return overflows ? Int.max : sum
    }

    /// Once all of a user's writes are done, what waited for them goes on.
    private mutating func settle(_ uid: UInt32) {
        guard !isBeingWritten(uid) else { return }
        for id in ids(where: { $0.request.uid == uid }) {
            if let facts = evaluations[id]?.held {
                if unwritten.contains(uid) {
                    finish(id, .refused(.notWritten))
                } else if !isBeingWritten(uid) {
                    // One that is decided may start the next write.
                    decide(id, facts)
                }
            } else {
                concludeIfIdle(id)
            }
        }
    }

    /// One stage is proved: the next one is asked for, or that was all.
    private mutating func succeed(_ id: EvaluationID, _ evidence: Grant.Evidence) {
        guard let evaluation = evaluations[id], !evaluation.remaining.isEmpty else { return }
        evaluations[id]?.accepted = nil
        evaluations[id]?.remaining.removeFirst()
        evaluations[id]?.proved.append(.resting(on: evidence, uid: evaluation.request.uid))
        if evaluation.isTakenBack {
            concludeIfIdle(id)
        } else if evaluation.remaining.count == 1, !evaluation.request.asksApplicationPassword {
            conclude(id)
        } else {
            beginStage(id)
        }
    }

    private mutating func beginStage(_ id: EvaluationID) {
        // A passcode that is still looked at counts if it is wrong, and for nothing else.
        if evaluations[id]?.passcode == .verifying {
            lateVerdicts[id] = evaluations[id]?.request.uid
        }
        evaluations[id]?.passcode = .idle
        evaluations[id]?.lastExhausted = nil
        evaluations[id]?.isLockedOut = false
        evaluations[id]?.offersFallback = false
        evaluations[id]?.asksPasscode = false
        guard let evaluation = evaluations[id] else { return }
        let uid = evaluation.request.uid
        let plan = sensors(for: evaluation.factors, uid: uid, facts: evaluation.facts)
        evaluations[id]?.plan = plan
        // A prompt that isn't up yet starts them when it is.
        if evaluation.stage == .showing { startPlan(of: id) }
    }

    /// The one way to a yes for what was proved in this evaluation.
    mutating func conclude(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], evaluation.remaining.isEmpty else { return }
        let request = evaluation.request
        guard !evaluation.isTakenBack else {
            concludeIfIdle(id)
            return
        }
        if request.isUnlock, evaluation.proved.contains(where: { $0.mechanism == .biometry }) {
            noteUnlock(of: request.uid)
        }
        if let context = request.context {
            for grant in evaluation.proved { keep(grant, in: context, for: request.operation) }
        }
        tell(id, .success)
        let proofs = evaluation.earlier + evaluation.proved
        finish(id, .granted(.concluding(proofs, uid: request.uid)))
    }
}
