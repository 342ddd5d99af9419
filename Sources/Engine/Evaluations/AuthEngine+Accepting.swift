/// A stage is proved: by a match, or by the passcode.
extension AuthEngine {
    /// It was the user: the counters go back, and then, written, it counts.
    mutating func accept(_ id: EvaluationID, _ evidence: Grant.Evidence) {
        guard let uid = evaluations[id]?.request.uid else { return }
        cancelSensors(of: id)
        let before = record(of: uid)
        var record = before
        var isCleared = false
        switch evidence {
        case .passcode:
            record = afterPasscode(of: uid)
            isCleared = isBeingCleared(uid)
        case .match where evidence.isBiometric:
            record.clearMisses()
            isCleared = isBeingCleared(uid)
        case .match, .earlier, .unlock: break
        }
        guard record.counts != before.counts || isCleared else {
            // A time that a crash takes back makes the rules stricter: nobody waits for it. So does
            // the attempt that a passcode was counted as.
            if record != before || evidence == .passcode {
                save(record, of: uid, matters: false)
            }
            succeed(id, evidence)
            return
        }
        let save = save(record, of: uid, for: id, .acceptance(evidence), stricter: before)
        evaluations[id]?.prompt?.accept(evidence, after: save)
    }

    /// One stage is proved: the next one is asked for, or that was all.
    mutating func succeed(_ id: EvaluationID, _ evidence: Grant.Evidence) {
        guard let uid = evaluations[id]?.request.uid else { return }
        switch evaluations[id]?.prompt?.advance(with: .resting(on: evidence, uid: uid)) {
        case .nextStage:
            leaveTurn(id, uid)
            beginStage(id)
        case .conclusion: conclude(id)
        case .refusal: concludeIfIdle(id)
        case nil: break
        }
    }

    private mutating func beginStage(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], let prompt = evaluation.prompt else { return }
        let uid = evaluation.request.uid
        let plan = sensors(for: prompt.stage.factors, uid: uid, facts: prompt.facts)
        if evaluations[id]?.postpone(plan) == false { look(plan, for: id) }
    }
}
