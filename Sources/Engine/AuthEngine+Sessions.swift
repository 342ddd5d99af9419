/// Sessions that lost their user, and a machine that suspends (L4).
extension AuthEngine {
    /// Ends every evaluation that prompts or waits in the session.
    ///
    /// A lock also drops the successes of its contexts.
    mutating func interrupted(_ session: String, _ interruption: Interruption) {
        if interruption == .locked { dropSuccesses(in: session) }
        endAll(interruption.refusal) { evaluation in
            // A locked session waits for its unlock, so that evaluation continues.
            evaluation.latestSession == session
                && !(interruption == .locked && evaluation.request.isForLockScreen)
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
    package var refusal: Refusal { self == .locked ? .sessionLocked : .sessionLeft }
}
