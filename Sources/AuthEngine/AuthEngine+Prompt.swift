extension AuthEngine {
    mutating func begin(_ id: EvaluationID, _ agent: AgentID, _ plan: [SensorFact]) {
        guard let request = evaluations[id]?.request else { return }
        evaluations[id]?.agent = agent
        evaluations[id]?.plan = plan
        evaluations[id]?.stage = .beginning(until: now + settings.agentPatience)
        evaluations[id]?.asksPasscode = plan.isEmpty
        let types = Set(plan.map(\.type)).subtracting([.none])
        let asked: Presentation.Stage =
            evaluations[id]?.asksApplicationPassword == true ? .applicationPassword : .passcode
        let presentation = Presentation(
            stage: plan.isEmpty ? asked : .biometry,
            sensors: plan.map(\.name),
            types: types.sorted { $0.rawValue < $1.rawValue },
            requiresConfirmation: plan.contains { needsConfirmation($0, request) }
        )
        effects.append(.begin(id, agent, presentation))
    }

    mutating func promptBegan(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], case .beginning = evaluation.stage else { return }
        evaluations[id]?.stage = .showing
        tell(id, .promptShown)
        // A passcode that was there before the prompt's answer may already have been right.
        guard evaluation.accepted == nil else { return }
        startPlan(of: id)
    }

    /// The sensors of the present stage look, or what comes without them is done.
    mutating func startPlan(of id: EvaluationID) {
        for sensor in evaluations[id]?.plan ?? [] { start(sensor, for: id) }
        noteDelay(id)
        concludeIfIdle(id)
    }

    mutating func promptFailed(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], case .beginning = evaluation.stage else { return }
        finish(id, .refused(.agentFailed))
    }

    mutating func canceled(_ id: EvaluationID) {
        guard evaluations[id]?.agent != nil else { return }
        finish(id, .refused(.userCancel))
    }

    mutating func fellBack(_ id: EvaluationID) {
        guard offersFallback(id), let evaluation = evaluations[id] else { return }
        if evaluation.takesPasscode {
            askPasscode(id, cause: "fallback")
        } else {
            finish(id, .refused(.userFallback))
        }
    }

    mutating func confirmed(_ id: EvaluationID) {
        guard awaitsConfirmation(id), let sensor = evaluations[id]?.candidate else { return }
        accept(id, .match(sensor))
    }

    mutating func askPasscode(_ id: EvaluationID, cause: String) {
        guard evaluations[id]?.asksPasscode == false else { return }
        evaluations[id]?.asksPasscode = true
        tell(id, .passcodeRequired(cause: cause))
    }

    /// Whether the fallback button is there: for `SubmitFallback`.
    public func offersFallback(_ id: EvaluationID) -> Bool {
        guard let evaluation = evaluations[id], evaluation.stage == .showing,
            evaluation.accepted == nil, !evaluation.isTakenBack
        else { return false }
        guard evaluation.takesPasscode else {
            return evaluation.offersFallback
        }
        return evaluation.request.offersFallback && !isDelayed(id)
    }

    /// Whether a match waits for its confirmation: for `SubmitConfirm`.
    public func awaitsConfirmation(_ id: EvaluationID) -> Bool {
        evaluations[id]?.candidate != nil && evaluations[id]?.accepted == nil
    }
}
