/// Deciding an evaluation as soon as its facts are known.
extension AuthEngine {
    /// Answers at once, shows the prompt, or waits for the session's prompt.
    mutating func decide(_ id: EvaluationID, _ facts: Facts) {
        guard let request = evaluations[id]?.request else { return }
        let isEnrolmentKnown = facts.isEnrolmentKnown
        if request.operation == nil,
            let earlier = success(for: request, isEnrolmentKnown: isEnrolmentKnown),
            facts.hasMissedNoLock
        {
            finish(id, .granted(.resting(on: .earlier(earlier), uid: request.uid)))
            return
        }
        let earlier = facts.hasMissedNoLock ? provedBefore(request, isEnrolmentKnown) : []
        let proved = Set(earlier.compactMap(\.factor))
        let stages = request.stages.filter { $0.isDisjoint(with: proved) }
        if let last = earlier.last, stages.isEmpty, !request.asksApplicationPassword {
            let grant = Grant.resting(on: .earlier(last), uid: request.uid, after: earlier)
            finish(id, .granted(grant))
            return
        }
        let facts = withholdingDistantSensors(
            facts.restricted(to: request),
            request.uid,
            isUnlock: request.isUnlock
        )
        if let refusal = refusal(of: stages, request, facts) {
            finish(id, .refused(refusal))
            return
        }
        let prompter = prompter(for: request, facts)
        // A caller without an agent may still be answered without a prompt below.
        if case .failure(let absence) = prompter, facts.session == nil || isSuspended {
            finish(id, .refused(absence.refusal))
            return
        }
        let factors = stages.first ?? []
        let plan = sensors(for: factors, uid: request.uid, facts: facts)
        if isEnrolmentKnown, let unlock = reusableUnlock(for: request, plan) {
            finish(id, .granted(.resting(on: unlock, uid: request.uid)))
            return
        }
        guard !request.isInteractionNotAllowed else {
            finish(id, .refused(.interactionNotAllowed))
            return
        }
        let agent: Agent
        switch prompter {
        case .success(let found): agent = found
        case .failure(let absence):
            finish(id, .refused(absence.refusal))
            return
        }
        if factors.contains(.passcode), plan.isEmpty, let end = delayEnd(of: request.uid) {
            finish(id, .refused(.passcodeDelayed(left: end - now)))
            return
        }
        let session = facts.session ?? agent.session
        guard takePrompt(id, of: session) else { return }
        let prompt = Prompt(
            agent: agent.id,
            session: session,
            facts: facts,
            earlier: earlier,
            stages: stages,
            asksApplicationPassword: request.asksApplicationPassword,
            isTyped: plan.isEmpty
        )
        begin(id, prompt, plan)
    }

    /// Earlier proofs of the context for an access control.
    ///
    /// A policy cannot be proved in parts.
    private func provedBefore(_ request: Request, _ isEnrolmentKnown: Bool) -> [Grant] {
        guard let operation = request.operation, let context = request.context else { return [] }
        return successes(
            of: context,
            for: operation,
            uid: request.uid,
            minimumStrength: request.minimumStrength,
            isEnrolmentKnown: isEnrolmentKnown
        )
        .filter { grant in
            grant.factor.map { factor in request.stages.contains { $0.contains(factor) } } == true
                && grant.sensor.map { request.sensors?.contains($0) } != false
        }
    }

    /// Refusals of the policy precede refusals of the prompt (R13).
    ///
    /// A caller that forbids a prompt for an item always learns that the item needs a prompt (R68).
    private func refusal(
        of stages: [Set<Factor>],
        _ request: Request,
        _ facts: Facts
    ) -> Refusal? {
        if request.operation != nil, request.isInteractionNotAllowed {
            return .interactionNotAllowed
        }
        for factors in stages {
            if let refusal = refusal(of: factors, uid: request.uid, facts: facts, at: now) {
                return refusal
            }
        }
        return nil
    }
}

extension Facts {
    /// The facts without the sensors that the request excludes.
    func restricted(to request: Request) -> Facts {
        var facts = self
        if let names = request.sensors {
            // A sensor that the request names must be present. Absence is no reason for -13.
            facts.sensors.removeAll { !names.contains($0.name) || $0.availability == .away }
        }
        if let minimum = request.minimumStrength {
            facts.sensors.removeAll { $0.strength < minimum }
        }
        return facts
    }
}
