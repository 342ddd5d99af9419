import Contract

/// Concluding an evaluation: all stages are proved, or no source of proof is left.
extension AuthEngine {
    /// Grants the evaluation if every stage is proved.
    ///
    /// New proofs are granted nowhere else in the engine.
    mutating func conclude(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], let prompt = evaluation.prompt,
            let proofs = prompt.conclusion
        else { return }
        let proved = prompt.proved
        let request = evaluation.request
        if request.isUnlock, proved.contains(where: { $0.mechanism == .biometry }) {
            noteUnlock(of: request.uid)
        }
        if let context = request.context {
            for grant in proved {
                keep(grant, in: context, for: request.operation, session: prompt.session)
            }
        }
        if settings.updatesFaceTemplates, let match = prompt.matchForUpdate {
            effects.append(.updateTemplate(match.operation, id, sensor: match.sensor))
        }
        tell(id, .success)
        finish(id, .granted(.concluding(proofs, uid: request.uid)))
    }

    /// Offers the remaining ways when no sensor runs any more, or ends the evaluation.
    mutating func concludeIfIdle(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], evaluation.isIdle,
            !isBeingWritten(evaluation.request.uid), let prompt = evaluation.prompt
        else { return }
        let uid = evaluation.request.uid
        if unwritten.contains(uid) {
            finish(id, .refused(.notWritten))
            return
        }
        switch prompt.stage {
        case .revoked: finish(id, .refused(lockout(of: uid, at: now) ?? .biometryStopped))
        case .password: askPassword(id)
        case .proving(let proving):
            if case .passcode = proving.entry {
                if let end = delayEnd(of: uid) {
                    finish(id, .refused(.passcodeDelayed(left: end - now)))
                } else {
                    askPasscode(id, cause: passcodeCause(of: proving, in: prompt, uid))
                }
            } else {
                sensorsAreOver(id, proving)
            }
        case .proved: break
        }
    }

    /// Ends the stage after its last sensor stopped, where no password can replace the sensors.
    private mutating func sensorsAreOver(_ id: EvaluationID, _ proving: Proving) {
        guard let request = evaluations[id]?.request else { return }
        switch proving.setback {
        case .lockedOut:
            finish(id, .refused(lockout(of: request.uid, at: now) ?? .biometryStopped))
        // A failed face leaves the user the choice between fallback and cancel (L6b).
        case .exhausted(let type) where type.isPassive && request.offersFallback:
            showFallback(id)
        case .exhausted: finish(id, .refused(.attemptsUsedUp))
        case nil:
            let isCompanion = proving.factors == [.companion]
            let loss = evaluations[id]?.prompt?.loss
            finish(id, .refused(isCompanion ? .companionFailed : .sensorsFailed(loss)))
        }
    }

    private func passcodeCause(
        of proving: Proving,
        in prompt: Prompt,
        _ uid: UInt32
    ) -> PasscodeCause {
        if !prompt.proved.isEmpty { return PasscodeCause(.accessControl) }
        switch proving.setback {
        case .lockedOut: return refusingCause(of: uid) ?? PasscodeCause(.lockout)
        case .exhausted: return PasscodeCause(.attempts)
        case nil: return PasscodeCause(.sensorFailed)
        }
    }
}
