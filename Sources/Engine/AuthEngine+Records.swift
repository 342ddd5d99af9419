import Contract

/// Records that outlive the process.
///
/// Stricter values count at once in memory, and are reported only after the write (L17).
extension AuthEngine {
    func record(of uid: UInt32) -> UserRecord { records[uid] ?? unknown }

    /// Whether a write of this user's record is in progress.
    ///
    /// No evaluation concludes on the record until it ends.
    package func isBeingWritten(_ uid: UInt32) -> Bool {
        saves.values.contains { $0.uid == uid }
    }

    /// Whether counters were reset in memory but not yet on the disk.
    ///
    /// A grant that rests on the reset waits too.
    func isBeingCleared(_ uid: UInt32) -> Bool {
        saves.values.contains { $0.uid == uid && $0.stricter != nil }
    }

    /// Whether the last finished write of this user's record succeeded, as far as it matters.
    ///
    /// Writes in progress are ignored.
    package func isWritten(_ uid: UInt32) -> Bool { !unwritten.contains(uid) }

    /// Retries a failed write.
    ///
    /// The engine reports no change before the write succeeds.
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
        mustSurviveCrash: Bool = true
    ) -> SaveID {
        records[uid] = record
        // Only counters that this write resets must be restored if the write fails.
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
            mustSurviveCrash: mustSurviveCrash
        )
        effects.append(.save(id, uid: uid, written(record, of: uid)))
        return id
    }

    mutating func saved(_ save: SaveID) {
        guard let pending = saves.removeValue(forKey: save) else { return }
        unwritten.remove(pending.uid)
        if let id = pending.evaluation, let prompt = evaluations[id]?.prompt {
            switch pending.consequence {
            case .miss(let miss):
                // A miss of an earlier stage is no longer shown.
                guard prompt.stage.factors.contains(.biometry) else { break }
                tellMiss(id, miss)
            case .wrongPasscode(let left):
                tellWrongPasscode(id, left: left)
            case .acceptance(let evidence):
                if prompt.stage.acceptance == save { succeed(id, evidence) }
            case nil: break
            }
        }
        settle(pending.uid)
        if case .miss(let miss) = pending.consequence { answer(miss) }
    }

    mutating func saveFailed(_ save: SaveID) {
        guard let pending = saves.removeValue(forKey: save) else { return }
        if pending.mustSurviveCrash { unwritten.insert(pending.uid) }
        if let stricter = pending.stricter { restore(stricter, of: pending.uid) }
        if case .miss(let miss) = pending.consequence {
            effects.append(.answerMiss(miss.operation, attempt: miss.attempt, .notWritten))
        }
        if let id = pending.evaluation { finish(id, .refused(.notWritten)) }
        settle(pending.uid)
    }

    /// Restores counters after their reset could not be written, and adds the misses counted since.
    private mutating func restore(_ stricter: UserRecord, of uid: UInt32) {
        var record = record(of: uid)
        record.misses = sum(record.misses, stricter.misses)
        if stricter.hasHalfMiss { record.countHalfMiss() }
        record.wrongPasscodes = sum(record.wrongPasscodes, stricter.wrongPasscodes)
        // The earlier cause applies again, unless the new cause replaces it (2.4).
        if let before = stricter.passcodeCause {
            let since = record.passcodeCause
            record.passcodeCause = since.map { before.givesWay(to: $0) ? $0 : before } ?? before
        }
        record.delayedUntil = [record.delayedUntil, stricter.delayedUntil].compactMap(\.self).max()
        records[uid] = record
        // A later write is already in progress with the lower counters, so write the restored
        // record after it.
        if isBeingWritten(uid) { self.save(record, of: uid) }
        if isBiometryRefused(uid) { stopBiometry(of: uid) }
    }

    private func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflows) = left.addingReportingOverflow(right)
        return overflows ? Int.max : sum
    }

    /// Continues everything that waited, once all writes of this user have ended.
    private mutating func settle(_ uid: UInt32) {
        guard !isBeingWritten(uid) else { return }
        announceDelay(of: uid)
        for id in ids(where: { $0.request.uid == uid && $0.prompt?.isCausePending == true }) {
            tellWhyPasscode(id)
        }
        askVerifier(uid)
        for id in ids(where: { $0.request.uid == uid }) {
            if let facts = evaluations[id]?.heldFacts {
                if unwritten.contains(uid) {
                    finish(id, .refused(.notWritten))
                } else if !isBeingWritten(uid) {
                    // Deciding one evaluation may start the next write.
                    decide(id, facts)
                }
            } else {
                concludeIfIdle(id)
            }
        }
    }
}

/// A record that is being written, and the messages to send after the write.
struct PendingSave: Hashable, Sendable {
    enum Consequence: Hashable, Sendable {
        case miss(Miss)
        case wrongPasscode(left: Int)
        /// The accepted evidence becomes a grant.
        case acceptance(Grant.Evidence)
    }

    struct Miss: Hashable, Sendable {
        var operation: OperationID
        /// The number of the miss within its operation.
        let attempt: UInt32
        let type: BiometryType
        /// How many misses of this type the prompt has counted.
        let count: Int
        let left: Int
    }

    let uid: UInt32
    var evaluation: EvaluationID?
    var consequence: Consequence?
    /// The record before it became less strict; restored if the write fails.
    var stricter: UserRecord?
    /// Whether losing this write in a crash would make a rule less strict.
    var mustSurviveCrash = true
}
