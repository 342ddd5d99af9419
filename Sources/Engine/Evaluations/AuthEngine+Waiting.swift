/// Each session shows one prompt at a time; other evaluations wait in order (L9).
extension AuthEngine {
    /// Takes the session's prompt; false if the evaluation waits or has ended.
    mutating func takePrompt(_ id: EvaluationID, of session: String) -> Bool {
        guard let evaluation = evaluations[id] else { return false }
        let request = evaluation.request
        if promptHolders[session] == id { return true }
        // The evaluation got the prompt of a session in which its caller no longer is.
        leavePrompt(id, evaluation)
        guard let holder = promptHolders[session] else {
            promptHolders[session] = id
            return true
        }
        // A hidden sudo must not take the touch that is meant for the lock screen.
        if request.isUnlock, let held = evaluations[holder]?.request, !held.isUnlock,
            request.isForLockScreen || !held.isForLockScreen
        {
            promptHolders[session] = id
            finish(holder, .refused(.unlockFirst))
            return true
        }
        guard mayWait(request, for: session) else {
            finish(id, .refused(.tooManyWaiting))
            return false
        }
        evaluations[id]?.phase = .waiting(session: session)
        var queue = queues[session] ?? []
        let unlocks = queue.prefix { evaluations[$0]?.request.isUnlock == true }.count
        queue.insert(id, at: request.isUnlock ? unlocks : queue.count)
        queues[session] = queue
        return false
    }

    private func mayWait(_ request: Request, for session: String) -> Bool {
        let own = evaluations.values.filter {
            $0.request.client == request.client && $0.isWaiting
        }
        guard own.count < settings.waitingPerConnection else { return false }
        // A queue filled by others must not prevent an unlock.
        return request.isUnlock || (queues[session]?.count ?? 0) < settings.queuePerSession
    }

    /// Releases the prompt, or the place in the queue.
    mutating func leavePrompt(_ id: EvaluationID, _ evaluation: Evaluation) {
        guard let session = evaluation.session else { return }
        if evaluation.isWaiting {
            queues[session]?.removeAll { $0 == id }
        } else if promptHolders[session] == id {
            promptHolders[session] = nil
            callNext(in: session)
        }
        if queues[session]?.isEmpty == true { queues[session] = nil }
    }

    /// Gives the prompt to the next evaluation and looks up its facts again, because they may have
    /// changed.
    private mutating func callNext(in session: String) {
        guard let next = queues[session]?.first else { return }
        queues[session]?.removeFirst()
        promptHolders[session] = next
        evaluations[next]?.phase = .lookingUp(session: session)
        effects.append(.lookUp(next))
    }
}
