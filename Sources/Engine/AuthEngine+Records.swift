import Contract

/// What outlives the process: strict at once in memory, told when it is on the disk (L17).
extension AuthEngine {
    func record(of uid: UInt32) -> UserRecord { records[uid] ?? unknown }

    /// Whether a write of this user's record is under way: nothing is concluded on it meanwhile.
    package func isBeingWritten(_ uid: UInt32) -> Bool {
        saves.values.contains { $0.uid == uid }
    }

    /// Whether counters that went back are not on the disk yet: what rests on them waits as well.
    func isBeingCleared(_ uid: UInt32) -> Bool {
        saves.values.contains { $0.uid == uid && $0.stricter != nil }
    }

    /// Whether what was last written of this user is on the disk, as far as it matters; what is on
    /// its way is not looked at.
    package func isWritten(_ uid: UInt32) -> Bool { !unwritten.contains(uid) }

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
        if stricter?.hasSameMisses(as: record) == true { stricter?.clearMisses() }
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
        effects.append(.save(id, uid: uid, written(record, of: uid)))
        return id
    }

    mutating func saved(_ save: SaveID) {
        guard let pending = saves.removeValue(forKey: save) else { return }
        unwritten.remove(pending.uid)
        if let id = pending.evaluation, let prompt = evaluations[id]?.prompt {
            switch pending.consequence {
            case .mismatch(let miss):
                // One of a stage before concerns nobody any more.
                guard prompt.stage.factors.contains(.biometry) else { break }
                tellMismatch(id, miss)
            case .wrongPasscode(let left):
                tellWrongPasscode(id, left: left)
            case .acceptance(let evidence):
                if prompt.stage.acceptance == save { succeed(id, evidence) }
            case nil: break
            }
        }
        settle(pending.uid)
        if case .mismatch(let miss) = pending.consequence { answer(miss) }
    }

    mutating func saveFailed(_ save: SaveID) {
        guard let pending = saves.removeValue(forKey: save) else { return }
        if pending.matters { unwritten.insert(pending.uid) }
        if let stricter = pending.stricter { restore(stricter, of: pending.uid) }
        if case .mismatch(let miss) = pending.consequence {
            effects.append(.answerMismatch(miss.operation, attempt: miss.attempt, .notWritten))
        }
        if let id = pending.evaluation { finish(id, .refused(.notWritten)) }
        settle(pending.uid)
    }

    /// The counters were put back for nothing: what came since is added to what was before.
    private mutating func restore(_ stricter: UserRecord, of uid: UInt32) {
        var record = record(of: uid)
        record.failures = sum(record.failures, stricter.failures)
        if stricter.hasHalfFailure { record.countHalfMiss() }
        record.wrongPasscodes = sum(record.wrongPasscodes, stricter.wrongPasscodes)
        // The cause of before is there again: only what replaces it stays (2.4).
        if let before = stricter.passcodeCause {
            let since = record.passcodeCause
            record.passcodeCause = since.map { before.givesWay(to: $0) ? $0 : before } ?? before
        }
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
        holdBack(of: uid)
        for id in ids(where: { $0.request.uid == uid && $0.prompt?.owesCause == true }) {
            tellWhyPasscode(id)
        }
        askVerifier(uid)
        for id in ids(where: { $0.request.uid == uid }) {
            if let facts = evaluations[id]?.heldFacts {
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
}

/// A record on its way to the disk, and what may be said once it is there.
struct PendingSave: Hashable, Sendable {
    enum Consequence: Hashable, Sendable {
        /// Tell of a non-match, and answer the sensor.
        case mismatch(Mismatch)
        /// Tell of a wrong passcode.
        case wrongPasscode(left: Int)
        /// The accepted evidence counts now.
        case acceptance(Grant.Evidence)
    }

    /// A non-match.
    struct Mismatch: Hashable, Sendable {
        var operation: OperationID
        /// Its number in the operation.
        let attempt: UInt32
        let type: BiometryType
        /// Its number among those of its type in the prompt.
        let count: Int
        /// What is left after it.
        let left: Int
    }

    let uid: UInt32
    var evaluation: EvaluationID?
    var consequence: Consequence?
    /// What the record was before it was made less strict; it comes back if the write fails.
    var stricter: UserRecord?
    /// Whether a crash without it would make anything less strict.
    var matters = true
}
