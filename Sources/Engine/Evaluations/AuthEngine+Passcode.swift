import Contract

/// Typed secrets: the password, or the app's own password.
extension AuthEngine {
    /// Whether a prompt accepts a password now, for `SubmitPasscode` (L6, L10).
    package func takesPasscode(_ id: EvaluationID) -> Bool {
        guard let prompt = evaluations[id]?.prompt else { return false }
        return prompt.channel == .idle && prompt.stage.takesPasscode && !isDelayed(id)
    }

    /// Whether a prompt accepts the app's own password now, for `SubmitPassword` (L22).
    package func takesPassword(_ id: EvaluationID) -> Bool {
        guard let prompt = evaluations[id]?.prompt else { return false }
        return prompt.channel == .idle && prompt.stage == .password(isAsked: true)
    }

    /// Takes a submitted password.
    ///
    /// Policy 2 accepts it from the start (L6), the other policies never do.
    mutating func passcodeOffered(_ id: EvaluationID) {
        guard takesPasscode(id), let uid = evaluations[id]?.request.uid else { return }
        if evaluations[id]?.prompt?.offerPasscode(isBusy: attempts[uid] != nil) == .waiting {
            enqueuePassword(id, uid)
        } else {
            beginAttempt(id, uid)
        }
    }

    mutating func passwordOffered(_ id: EvaluationID) {
        guard takesPassword(id) else { return }
        evaluations[id]?.prompt?.offerPassword()
        effects.append(.takePassword(id))
    }

    mutating func passcodeVerified(_ id: EvaluationID, _ verdict: PasscodeVerdict) {
        guard
            let (uid, attempt) = attempts.first(where: {
                $0.value.evaluation == id && $0.value.isAsked
            })
        else { return }
        attempts[uid] = nil
        // A delay that began meanwhile also refuses this password, right or wrong.
        let isWrong = verdict == .wrong || verdict == .correct && delayEnd(of: uid) != nil
        if attempt.isAwaited {
            applyVerdict(id, isWrong ? .wrong : verdict)
        } else {
            if isWrong || verdict == .lost {
                countWrongPasscode(of: uid)
            } else {
                revokeAttempt(of: uid)
            }
        }
        callNextAttempt(of: uid)
    }

    /// Handles a verdict for which the prompt still waits.
    private mutating func applyVerdict(_ id: EvaluationID, _ verdict: PasscodeVerdict) {
        guard let evaluation = evaluations[id] else { return }
        let uid = evaluation.request.uid
        switch verdict {
        case .correct:
            evaluations[id]?.prompt?.verified(isCorrect: true)
            if evaluation.prompt?.stage.acceptance == nil {
                accept(id, .passcode)
            } else {
                // An earlier match remains the proof of this stage.
                revokeAttempt(of: uid)
            }
        case .wrong:
            evaluations[id]?.prompt?.verified(isCorrect: false)
            let count = evaluations[id]?.prompt?.wrongPasscodes ?? 0
            let left = max(0, settings.passcodeAttempts - count)
            countWrongPasscode(of: uid, for: id, .wrongPasscode(left: left))
        case .failed:
            revokeAttempt(of: uid)
            verifierFailed(id)
        case .refused(let reason):
            revokeAttempt(of: uid)
            verifierFailed(id, reason)
        case .lost:
            countWrongPasscode(of: uid)
            verifierFailed(id)
        }
    }

    /// Handles the service's check of the app's own password.
    ///
    /// Each prompt allows one attempt.
    mutating func passwordTried(_ id: EvaluationID, _ verdict: PasscodeVerdict) {
        guard evaluations[id]?.prompt?.tried(isCorrect: verdict == .correct) == true else { return }
        switch verdict {
        case .correct:
            conclude(id)
            // Earlier proofs may have been revoked while the password was checked.
            concludeIfIdle(id)
        case .wrong: finish(id, .refused(.wrongPassword))
        case .failed, .refused, .lost: finish(id, .refused(.verifierFailed))
        }
    }

    private mutating func verifierFailed(_ id: EvaluationID, _ reason: String = "") {
        guard let times = evaluations[id]?.prompt?.verifierFailed() else { return }
        if times >= AuthEngine.verifierPatience {
            finish(id, .refused(.verifierFailed))
            return
        }
        if isDelayed(id) {
            announceDelay(id)
        } else if evaluations[id]?.prompt?.isRevoked == false {
            // Without this message the prompt would wait forever for a verdict.
            _ = evaluations[id]?.prompt?.ask()
            tell(id, .passcodeRequired(cause: .verifierFailed(reason)))
        }
        concludeIfIdle(id)
    }

    private mutating func countWrongPasscode(
        of uid: UInt32,
        for id: EvaluationID? = nil,
        _ consequence: PendingSave.Consequence? = nil
    ) {
        let record = record(of: uid).countingWrongPasscode(at: now, settings)
        save(record, of: uid, for: id, consequence)
    }

    /// Reports a wrong password to the prompt after its write.
    mutating func tellWrongPasscode(_ id: EvaluationID, left: Int) {
        guard evaluations[id]?.prompt?.wrongPasscodeIsWritten() == true,
            let evaluation = evaluations[id]
        else { return }
        let isDelayed = delayEnd(of: evaluation.request.uid) != nil
        tell(id, .passcodeRejected(attemptsLeft: isDelayed ? 0 : left))
        guard evaluation.prompt?.stage.acceptance == nil else { return }
        if left == 0 {
            finish(id, .refused(.passcodesUsedUp))
        } else {
            awaitDelayEnd(id)
        }
    }

    /// The end of the delay in which no password of this user is accepted; nil if there is no
    /// delay.
    func delayEnd(of uid: UInt32) -> Instant? {
        guard let end = record(of: uid).delayedUntil, now < end else { return nil }
        return end
    }

    /// Whether only a delay keeps the evaluation from accepting a password.
    func isDelayed(_ id: EvaluationID) -> Bool {
        guard let evaluation = evaluations[id],
            evaluation.prompt?.stage.factors.contains(.passcode) == true
        else { return false }
        return delayEnd(of: evaluation.request.uid) != nil
    }

    /// Tells a prompt, once, that a delay keeps it from accepting a password (L10).
    mutating func announceDelay(_ id: EvaluationID) {
        guard isDelayed(id), let prompt = evaluations[id]?.prompt, prompt.stage.takesPasscode,
            !prompt.waitsForDelay
        else { return }
        tell(id, .passcodeNotTaken)
        awaitDelayEnd(id)
    }

    mutating func announceDelay(of uid: UInt32) {
        guard delayEnd(of: uid) != nil else { return }
        for id in ids(where: { $0.request.uid == uid && $0.isShowing }) { announceDelay(id) }
    }

    /// Marks the prompt to be told when the delay ends.
    ///
    /// Until then only sensors can prove the stage.
    mutating func awaitDelayEnd(_ id: EvaluationID) {
        if isDelayed(id) { evaluations[id]?.prompt?.delay() }
    }

    mutating func endDelays() {
        for id in ids(where: { $0.prompt?.waitsForDelay == true }) where !isDelayed(id) {
            evaluations[id]?.prompt?.endDelay()
            tell(id, .passcodeRequired(cause: PasscodeCause(.delayOver)))
        }
    }

    /// Consecutive checks without a verdict before the evaluation ends.
    private static let verifierPatience = 3
}
