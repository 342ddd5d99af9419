/// Handling a new request, and the facts that the service looked up for it.
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
        // A crash could still revert a record that is being written, so decide afterwards.
        guard !isBeingWritten(evaluation.request.uid) else {
            evaluations[id]?.hold(facts)
            return
        }
        decide(id, facts)
    }
}
