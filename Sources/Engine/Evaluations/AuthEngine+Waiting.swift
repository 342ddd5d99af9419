/// One prompt at a time in a session; others wait in order (L9).
extension AuthEngine {
    /// Whether the evaluation has the session's prompt now; if not, it waits, or has ended.
    mutating func takePrompt(_ id: EvaluationID, of session: String) -> Bool {
        guard let evaluation = evaluations[id] else { return false }
        let request = evaluation.request
        if prompts[session] == id { return true }
        // Its turn came in a session that is not the caller's any more.
        leavePrompt(id, evaluation)
        guard let holder = prompts[session] else {
            prompts[session] = id
            return true
        }
        if request.isUnlock, evaluations[holder]?.request.isUnlock == false {
            prompts[session] = id
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
        // A queue that others filled does not keep anybody from unlocking.
        return request.isUnlock || (queues[session]?.count ?? 0) < settings.queuePerSession
    }

    /// Gives back the prompt, or the place in the queue.
    mutating func leavePrompt(_ id: EvaluationID, _ evaluation: Evaluation) {
        guard let session = evaluation.session else { return }
        if evaluation.isWaiting {
            queues[session]?.removeAll { $0 == id }
        } else if prompts[session] == id {
            prompts[session] = nil
            callNext(in: session)
        }
        if queues[session]?.isEmpty == true { queues[session] = nil }
    }

    /// The next one has the prompt while it is looked up again: much can have changed meanwhile.
    private mutating func callNext(in session: String) {
        guard let next = queues[session]?.first else { return }
        queues[session]?.removeFirst()
        prompts[session] = next
        evaluations[next]?.phase = .lookingUp(session: session)
        effects.append(.lookUp(next))
    }
}
