/// Sessions that nobody sits at any more, and a machine that sleeps (L4).
extension AuthEngine {
    /// Ends what prompts or waits in the session, and at a lock what its contexts keep; its next
    /// evaluation is looked up anew.
    mutating func interrupted(_ session: String, _ interruption: Interruption) {
        if interruption == .locked { dropSuccesses(in: session) }
        endAll(interruption.refusal) { evaluation in
            // The unlock that a locked session waits for goes on.
            evaluation.latestSession == session
                && !(interruption == .locked && evaluation.request.isUnlock)
        }
    }

    /// Ends everything, what contexts keep included, and refuses what comes until the machine is
    /// awake: anybody may open the lid.
    mutating func suspending() {
        isSuspended = true
        dropSuccesses(in: nil)
        endAll(.suspending) { _ in true }
    }
}

extension Interruption {
    package var refusal: Refusal { self == .locked ? .sessionLocked : .sessionLeft }
}
