/// What is typed: the passcode, or the app's own password.
extension AuthEngine {
    /// Under policy 2 a passcode is taken from the first moment (L6), under the others never.
    mutating func passcodeOffered(_ id: EvaluationID) {
        guard let uid = evaluations[id]?.request.uid, evaluations[id]?.prompt != nil else { return }
        let (isDelayed, isBusy) = (isDelayed(id), attempts[uid] != nil)
        switch evaluations[id]?.prompt?.offer(isDelayed: isDelayed, isBusy: isBusy) {
        case .verifying: beginAttempt(id, uid)
        case .waiting: takeTurn(id, uid)
        case .trying: effects.append(.takePassword(id))
        case .idle, .saving, nil:
            effects.append(.discardPasscode(id))
            guard isDelayed, evaluations[id]?.prompt?.channel == .idle else { return }
            holdBack(id)
        }
    }

    mutating func passcodeVerified(_ id: EvaluationID, _ verdict: PasscodeVerdict) {
        guard
            let (uid, attempt) = attempts.first(where: {
                $0.value.evaluation == id && $0.value.isAsked
            })
        else { return }
        attempts[uid] = nil
        // A delay that began meanwhile holds for this one as well: right or wrong, it is refused.
        let isWrong = verdict == .wrong || verdict == .correct && delayEnd(of: uid) != nil
        if attempt.isAwaited {
            heard(id, isWrong ? .wrong : verdict)
        } else {
            if isWrong || verdict == .lost {
                countWrongPasscode(of: uid)
            } else {
                takeBackAttempt(of: uid)
            }
            // The next stage of its prompt has not been heard until now.
            hear(id)
        }
        callNextAttempt(of: uid)
    }

    /// A verdict that its prompt still waits for.
    private mutating func heard(_ id: EvaluationID, _ verdict: PasscodeVerdict) {
        guard let evaluation = evaluations[id] else { return }
        let uid = evaluation.request.uid
        switch verdict {
        case .correct:
            evaluations[id]?.prompt?.verified(isCorrect: true)
            hear(id)
            if evaluation.prompt?.stage.acceptance == nil {
                accept(id, .passcode)
            } else {
                // A match that came first stays what answers.
                takeBackAttempt(of: uid)
            }
        case .wrong:
            evaluations[id]?.prompt?.verified(isCorrect: false)
            let count = evaluations[id]?.prompt?.wrongPasscodes ?? 0
            let left = max(0, settings.passcodeAttempts - count)
            countWrongPasscode(of: uid, for: id, .wrongPasscode(left: left))
        case .failed:
            takeBackAttempt(of: uid)
            verifierFailed(id)
        case .lost:
            countWrongPasscode(of: uid)
            verifierFailed(id)
        }
    }

    /// The service tried the app's own password; one attempt a prompt.
    mutating func passwordTried(_ id: EvaluationID, _ verdict: PasscodeVerdict) {
        guard evaluations[id]?.prompt?.tried(isCorrect: verdict == .correct) == true else { return }
        switch verdict {
        case .correct:
            conclude(id)
            // What was proved before the password may have been taken back.
            concludeIfIdle(id)
        case .wrong: finish(id, .refused(.wrongPassword))
        case .failed, .lost: finish(id, .refused(.verifierFailed))
        }
    }

    private mutating func verifierFailed(_ id: EvaluationID) {
        guard let times = evaluations[id]?.prompt?.verifierFailed() else { return }
        if times >= AuthEngine.verifierPatience {
            finish(id, .refused(.verifierFailed))
            return
        }
        hear(id)
        if isDelayed(id) {
            holdBack(id)
        } else if evaluations[id]?.prompt?.isTakenBack == false {
            // The prompt would wait for an answer to its packet for ever.
            _ = evaluations[id]?.prompt?.ask()
            tell(id, .passcodeRequired(cause: .verifierFailed))
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

    /// The wrong passcode is written: now the prompt may know.
    mutating func tellWrongPasscode(_ id: EvaluationID, left: Int) {
        guard evaluations[id]?.prompt?.wrongPasscodeIsWritten() == true,
            let evaluation = evaluations[id]
        else { return }
        let isDelayed = delayEnd(of: evaluation.request.uid) != nil
        tell(id, .passcodeRejected(attemptsLeft: isDelayed ? 0 : left))
        hear(id)
        guard evaluation.prompt?.stage.acceptance == nil else { return }
        if left == 0 {
            finish(id, .refused(.passcodesUsedUp))
        } else {
            noteDelay(id)
        }
    }

    /// Until when no passcode of this user is taken; nil: one is taken.
    func delayEnd(of uid: UInt32) -> Instant? {
        guard let end = record(of: uid).delayedUntil, now < end else { return nil }
        return end
    }

    /// Whether the evaluation would take a passcode if there were no delay.
    func isDelayed(_ id: EvaluationID) -> Bool {
        guard let evaluation = evaluations[id],
            evaluation.prompt?.stage.factors.contains(.passcode) == true
        else { return false }
        return delayEnd(of: evaluation.request.uid) != nil
    }

    /// What was typed into a prompt is not looked at, because of a delay that runs.
    ///
    /// The prompt would wait for an answer for ever. It is told once, and again when the delay is
    /// over.
    mutating func holdBack(_ id: EvaluationID) {
        if isDelayed(id), let prompt = evaluations[id]?.prompt, prompt.stage.takesPasscode,
            !prompt.waitsForDelay
        {
            tell(id, .passcodeNotTaken)
        }
        noteDelay(id)
    }

    /// While a delay runs, the sensors alone can help; the prompt learns when it is over.
    mutating func noteDelay(_ id: EvaluationID) {
        if isDelayed(id) { evaluations[id]?.prompt?.delay() }
    }

    /// Tells the prompts for which the delay is over.
    mutating func endDelays() {
        for id in ids(where: { $0.prompt?.waitsForDelay == true }) where !isDelayed(id) {
            evaluations[id]?.prompt?.endDelay()
            tell(id, .passcodeRequired(cause: .delayOver))
        }
    }

    /// Verifications in a row that may say nothing.
    private static let verifierPatience = 3
}
