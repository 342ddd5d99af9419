/// Accepting a proof of a stage: a match or the password.
extension AuthEngine {
    /// Accepts evidence: resets the counters, and lets it count once they are written.
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
        guard record.fieldsThatMustSurvive != before.fieldsThatMustSurvive || isCleared else {
            // Losing a time in a crash only makes the rules stricter, so no evaluation waits for
            // it. Equally, a lost write leaves the password counted as a wrong attempt.
            if record != before || evidence == .passcode {
                save(record, of: uid, mustSurviveCrash: false)
            }
            succeed(id, evidence)
            return
        }
        let save = save(record, of: uid, for: id, .acceptance(evidence), stricter: before)
        evaluations[id]?.prompt?.accept(evidence, after: save)
    }

    /// Completes a stage: starts the next stage or concludes the evaluation.
    mutating func succeed(_ id: EvaluationID, _ evidence: Grant.Evidence) {
        guard let uid = evaluations[id]?.request.uid else { return }
        switch evaluations[id]?.prompt?.advance(with: .resting(on: evidence, uid: uid)) {
        case .nextStage:
            detachPassword(id, uid)
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
        if evaluations[id]?.postpone(plan) == false { startSensors(plan, for: id) }
    }
}
