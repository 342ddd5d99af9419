/// Sessions that lost their user, and a machine that suspends (L4).
extension AuthEngine {
    /// Ends every evaluation that prompts or waits in the session.
    ///
    /// A lock also drops the successes of its contexts.
    mutating func interrupted(_ session: String, _ interruption: Interruption) {
        if interruption == .locked { dropSuccesses(in: session) }
        endAll(interruption.refusal) { evaluation in
            // The session of a look-up is not known yet.
            let isThere =
                evaluation.latestSession == session
                || interruption == .unlocked && evaluation.latestSession == nil
            return isThere && evaluation.request.isEnded(by: interruption)
        }
    }

    /// Ends every evaluation and drops every success.
    ///
    /// Requests are refused until the machine resumes, because another person may open the lid.
    mutating func suspending() {
        isSuspended = true
        dropSuccesses(in: nil)
        endAll(.suspending) { _ in true }
    }
}

extension Interruption {
    package var refusal: Refusal {
        switch self {
        case .locked: .sessionLocked
        case .unlocked: .sessionUnlocked
        case .left: .sessionLeft
        }
    }
}

extension Request {
    /// A locked session waits for its lock screen, which can't cancel PAM after a right password.
    func isEnded(by interruption: Interruption) -> Bool {
        switch interruption {
        case .locked: !isForLockScreen
        case .unlocked: isForLockScreen && !isUnlock
        case .left: true
        }
    }
}
