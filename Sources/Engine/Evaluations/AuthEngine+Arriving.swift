/// A call comes in, and its facts.
extension AuthEngine {
    mutating func requested(_ request: Request) {
        let id = request.id
        guard evaluations[id] == nil else { return }
        if let refusal = refusalOnArrival(request) {
            effects.append(.reply(id, .refused(refusal)))
            return
        }
        if let context = request.context, contexts[context] == nil {
            contexts[context] = Context(client: request.client)
        }
        evaluations[id] = Evaluation(request: request, deadline: now + request.timeout)
        effects.append(.lookUp(id))
    }

    /// What needs no look-up.
    private func refusalOnArrival(_ request: Request) -> Refusal? {
        if isStopping { return .stopping }
        if isSuspended { return .suspending }
        if request.stages.isEmpty, !request.asksApplicationPassword { return .nothingToProve }
        if request.timeout <= .zero { return .deadlinePassed }
        if let context = request.context, isInvalid(context) { return .invalidContext }
        if pendingCount(of: request.client) >= settings.pendingPerConnection {
            return .tooManyPending
        }
        return nil
    }

    mutating func lookUpFailed(_ id: EvaluationID) {
        switch evaluations[id]?.phase {
        case .lookingUp, .held: finish(id, .refused(.callerUnknown))
        case .waiting, .beginning, .showing, nil: break
        }
    }

    mutating func lookedUp(_ id: EvaluationID, _ facts: Facts) {
        guard let evaluation = evaluations[id], case .lookingUp = evaluation.phase else { return }
        writeAgain(evaluation.request.uid)
        // Nothing is decided on a record that a crash could still take back.
        guard !isBeingWritten(evaluation.request.uid) else {
            evaluations[id]?.hold(facts)
            return
        }
        decide(id, facts)
    }
}
