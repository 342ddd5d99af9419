extension AuthEngine {
    /// Under policy 2 a passcode is taken from the first moment (L6), under the others never.
    mutating func passcodeOffered(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], evaluation.agent != nil else { return }
        if evaluation.asksApplicationPassword, evaluation.passcode == .idle,
            !evaluation.isTakenBack
        {
            evaluations[id]?.passcode = .verifying
            effects.append(.takePassword(id))
            return
        }
        guard evaluation.takesPasscode, evaluation.accepted == nil,
            evaluation.passcode == .idle, !isDelayed(id), !evaluation.isTakenBack
        else {
            effects.append(.discardPasscode(id))
            return
        }
        evaluations[id]?.passcode = .verifying
        effects.append(.verifyPasscode(id))
    }

    mutating func passcodeVerified(_ id: EvaluationID, _ verdict: PasscodeVerdict) {
        if let uid = lateVerdicts.removeValue(forKey: id) {
            if verdict == .wrong { countWrongPasscode(of: uid) }
            return
        }
        guard let evaluation = evaluations[id], evaluation.takesPasscode,
            evaluation.passcode == .verifying
        else { return }
        evaluations[id]?.passcode = .idle
        if verdict != .failed { evaluations[id]?.verifierFailures = 0 }
        switch verdict {
        case .correct:
            // A match that came first stays what answers.
            if evaluation.accepted == nil { accept(id, .passcode) }
        case .wrong:
            let count = evaluation.wrongPasscodes + 1
            evaluations[id]?.wrongPasscodes = count
            evaluations[id]?.passcode = .saving
            let left = max(0, settings.passcodeAttempts - count)
            countWrongPasscode(of: evaluation.request.uid, for: id, .wrongPasscode(left: left))
        case .failed:
            verifierFailed(id, times: evaluation.verifierFailures + 1)
        }
    }

    /// The service tried the app's own password; one attempt a prompt.
    mutating func passwordTried(_ id: EvaluationID, _ verdict: PasscodeVerdict) {
        guard let evaluation = evaluations[id], evaluation.asksApplicationPassword,
            evaluation.passcode == .verifying
        else { return }
        evaluations[id]?.passcode = .idle
        switch verdict {
        case .correct: conclude(id)
        case .wrong: finish(id, .refused(.wrongPassword))
        case .failed: finish(id, .refused(.verifierFailed))
        }
    }

    private mutating func verifierFailed(_ id: EvaluationID, times: Int) {
        evaluations[id]?.verifierFailures = times
        if times >= AuthEngine.verifierPatience {
            finish(id, .refused(.verifierFailed))
            return
        }
        guard evaluations[id]?.isTakenBack == false else {
            concludeIfIdle(id)
            return
        }
        // The prompt would wait for an answer to its packet for ever.
        evaluations[id]?.asksPasscode = true
        tell(id, .passcodeRequired(cause: "verifier-failed"))
        concludeIfIdle(id)
    }

    private mutating func countWrongPasscode(
        of uid: UInt32,
        for id: EvaluationID? = nil,
        _ consequence: PendingSave.Consequence? = nil
    ) {
        var record = record(of: uid)
        record.wrongPasscodes = min(record.wrongPasscodes, Int.max - 1) + 1
        if let delay = settings.passcodeDelay(afterWrong: record.wrongPasscodes) {
            record.delayedUntil = now + delay
        }
        save(record, of: uid, for: id, consequence)
    }

    /// The wrong passcode is written: now the prompt may know.
    mutating func tellWrongPasscode(_ id: EvaluationID, left: Int) {
        guard let evaluation = evaluations[id], evaluation.passcode == .saving else { return }
        evaluations[id]?.passcode = .idle
        tell(id, .passcodeRejected(attemptsLeft: isDelayed(id) ? 0 : left))
        guard evaluation.accepted == nil else { return }
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

    /// Whether the evaluation could take a passcode, were there no delay.
    func isDelayed(_ id: EvaluationID) -> Bool {
        guard let evaluation = evaluations[id] else { return false }
        return evaluation.takesPasscode && delayEnd(of: evaluation.request.uid) != nil
    }

    /// While a delay runs, the sensors alone can help; the prompt learns when it is over.
    mutating func noteDelay(_ id: EvaluationID) {
        let waits = isDelayed(id) && evaluations[id]?.isTakenBack == false
        evaluations[id]?.waitsForDelay = waits
    }

    /// A passcode is required before biometry: remote lock, age rules.
    mutating func passcodeRequired(uid: UInt32, cause: String) {
        var record = record(of: uid)
        let cause = bounded(cause)
        // The first cause stays: a flood of others would be a flood of writes.
        guard record.passcodeCause == nil else {
            // A companion or a passcode may have succeeded since.
            stopBiometry(of: uid)
            writeAgain(uid)
            for id in ids(where: { $0.request.uid == uid }) { concludeIfIdle(id) }
            return
        }
        record.passcodeCause = cause
        save(record, of: uid)
        stopBiometry(of: uid)
    }

    /// A correct passcode at a screen lock counts like one in a prompt (R5).
    mutating func unlocked(_ uid: UInt32, byPasscode: Bool) {
        let before = record(of: uid)
        var unlocked = before
        if byPasscode {
            unlocked = afterPasscode(of: uid)
        } else if !isBiometryRefused(uid) {
            unlocked.failures = 0
            unlocked.lastBiometricUnlock = now
        }
        guard unlocked != before else { return }
        save(unlocked, of: uid, stricter: before)
    }

    /// Causes come from outside and are kept and shown: short, and printable.
    private func bounded(_ cause: String) -> String {
        let printable = cause.unicodeScalars.prefix(64)
            .filter { scalar in
                let properties = scalar.properties
                return properties.generalCategory != .control
                    && properties.generalCategory != .format
            }
        return printable.isEmpty ? "required" : String(String.UnicodeScalarView(printable))
    }

    /// Verifications in a row that may say nothing.
    private static let verifierPatience = 3
}
