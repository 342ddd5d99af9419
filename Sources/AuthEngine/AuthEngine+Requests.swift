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
        guard let evaluation = evaluations[id], evaluation.stage == .lookingUp else { return }
        finish(id, .refused(.callerUnknown))
    }

    mutating func lookedUp(_ id: EvaluationID, _ facts: Facts) {
        guard let evaluation = evaluations[id], evaluation.stage == .lookingUp,
            evaluation.held == nil
        else { return }
        writeAgain(evaluation.request.uid)
        // Nothing is decided on a record that a crash could still take back.
        guard !isBeingWritten(evaluation.request.uid) else {
            evaluations[id]?.held = facts
            return
        }
        decide(id, facts)
    }

    /// Decides at once, or begins, or waits for the prompt.
    mutating func decide(_ id: EvaluationID, _ facts: Facts) {
        guard let request = evaluations[id]?.request else { return }
        evaluations[id]?.held = nil
        if grantedBefore(id) { return }
        let facts = facts.restricted(to: request)
        evaluations[id]?.facts = facts
        let factors = evaluations[id]?.factors ?? []
        let plan = sensors(for: factors, uid: request.uid, facts: facts)
        if let refusal = refusal(of: id, request, facts) {
            finish(id, .refused(refusal))
            return
        }
        guard let session = facts.session else {
            finish(id, .refused(.notPresent))
            return
        }
        if let unlock = reusableUnlock(for: request, plan) {
            finish(id, .granted(.resting(on: unlock, uid: request.uid)))
            return
        }
        guard !request.isInteractionNotAllowed else {
            finish(id, .refused(.interactionNotAllowed))
            return
        }
        guard let agent = agent(for: request.uid, session: session, processes: facts.processes)
        else {
            finish(id, .refused(.noAgent))
            return
        }
        if factors.contains(.passcode), plan.isEmpty,
            let end = delayEnd(of: request.uid)
        {
            finish(id, .refused(.passcodeDelayed(left: end - now)))
            return
        }
        if takePrompt(id, of: session) { begin(id, agent.id, plan) }
    }

    /// Whether the context has proved all of it before; what it has proved in part is taken over.
    private mutating func grantedBefore(_ id: EvaluationID) -> Bool {
        guard let request = evaluations[id]?.request else { return false }
        guard let operation = request.operation else {
            guard let earlier = success(for: request) else { return false }
            finish(id, .granted(.resting(on: .earlier(earlier), uid: request.uid)))
            return true
        }
        guard let context = request.context else { return false }
        let grants = successes(
            of: context,
            for: operation,
            uid: request.uid,
            minimumStrength: request.minimumStrength
        )
        .filter { grant in
            grant.factor.map { factor in request.stages.contains { $0.contains(factor) } } == true
                && grant.sensor.map { request.sensors?.contains($0) } != false
        }
        let proved = Set(grants.compactMap(\.factor))
        evaluations[id]?.remaining = request.stages.filter { $0.isDisjoint(with: proved) }
        evaluations[id]?.earlier = grants
        guard let last = grants.last, evaluations[id]?.remaining.isEmpty == true,
            !request.asksApplicationPassword
        else { return false }
        finish(
            id,
            .granted(.resting(on: .earlier(last), uid: request.uid, after: grants))
        )
        return true
    }

    /// What is wrong with the policy comes before what is wrong with the prompt (R13); whoever asks
    /// for an item without a prompt learns that it takes one, whatever else is wrong (R68).
    private func refusal(
        of id: EvaluationID,
        _ request: Request,
        _ facts: Facts
    ) -> Refusal? {
        if let context = request.context, isInvalid(context) { return .invalidContext }
        if request.operation != nil, request.isInteractionNotAllowed {
            return .interactionNotAllowed
        }
        for factors in evaluations[id]?.remaining ?? [] {
            if let refusal = refusal(of: factors, uid: request.uid, facts: facts, at: now) {
                return refusal
            }
        }
        return nil
    }
}

extension Facts {
    /// The facts as if there were no other sensors than those that the request leaves.
    func restricted(to request: Request) -> Facts {
        var facts = self
        if let names = request.sensors {
            // A sensor that is named must be there: one that is away is no reason for -13.
            facts.sensors.removeAll { !names.contains($0.name) || $0.availability == .away }
        }
        if let minimum = request.minimumStrength {
            facts.sensors.removeAll { $0.strength < minimum }
        }
        return facts
    }
}
