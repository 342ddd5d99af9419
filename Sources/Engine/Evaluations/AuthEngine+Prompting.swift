import Contract

extension AuthEngine {
    mutating func begin(_ id: EvaluationID, _ prompt: Prompt, _ plan: [SensorFact]) {
        guard let request = evaluations[id]?.request else { return }
        let until = now + settings.agentPatience
        evaluations[id]?.phase = .beginning(prompt, plan: plan, until: until)
        let asked: PromptStage =
            if case .password = prompt.stage { .applicationPassword } else { .passcode }
        let types = Set(plan.map(\.type)).subtracting([.none])
        let presentation = Presentation(
            stage: plan.isEmpty ? asked : .biometry,
            sensors: plan.map(\.name),
            types: types.sorted { $0.rawValue < $1.rawValue },
            requiresConfirmation: plan.contains { needsConfirmation($0, request) }
        )
        effects.append(.begin(id, prompt.agent, presentation))
    }

    mutating func promptBegan(_ id: EvaluationID) {
        guard let plan = evaluations[id]?.show() else { return }
        tell(id, .promptShown)
        tellWhyPasscode(id)
        announceDelay(id)
        // A password that arrived before the agent's reply to Begin may already have been right.
        guard evaluations[id]?.prompt?.stage.acceptance == nil else { return }
        startSensors(plan, for: id)
    }

    mutating func promptFailed(_ id: EvaluationID) {
        guard evaluations[id]?.prompt != nil else { return }
        finish(id, .refused(.agentFailed))
    }

    /// Tells a prompt that begins with the password why a rule refuses biometry.
    mutating func tellWhyPasscode(_ id: EvaluationID) {
        guard let evaluation = evaluations[id], let prompt = evaluation.prompt,
            case .proving(let proving) = prompt.stage, proving.entry == .passcode(.asked),
            proving.factors.contains(.biometry), !isDelayed(id),
            prompt.proved.isEmpty,
            let cause = refusingCause(of: evaluation.request.uid),
            prompt.facts.sensors.contains(where: { $0.type != .none && $0.couldLook })
        else {
            evaluations[id]?.prompt?.isCausePending = false
            return
        }
        // The cause is reported only after its write (L17).
        let isCausePending = isBeingWritten(evaluation.request.uid)
        evaluations[id]?.prompt?.isCausePending = isCausePending
        guard !isCausePending else { return }
        tell(id, .passcodeRequired(cause: cause))
    }

    mutating func revalidationFailed(_ id: EvaluationID, _ failure: RevalidationFailure) {
        guard evaluations[id]?.prompt != nil else { return }
        switch failure {
        case .loginManagerSilent: finish(id, .refused(.loginManagerSilent))
        case .templateRemoved: finish(id, .refused(.templateRemoved))
        }
    }

    mutating func canceled(_ id: EvaluationID) {
        guard evaluations[id]?.prompt != nil else { return }
        finish(id, .refused(.userCancel))
    }

    mutating func fellBack(_ id: EvaluationID) {
        guard offersFallback(id), let prompt = evaluations[id]?.prompt else { return }
        if prompt.stage.factors.contains(.passcode) {
            askPasscode(id, cause: PasscodeCause(.fallback))
        } else {
            finish(id, .refused(.userFallback))
        }
    }

    mutating func confirmed(_ id: EvaluationID) {
        guard let sensor = evaluations[id]?.prompt?.candidate else { return }
        accept(id, .match(sensor))
    }

    mutating func askPasscode(_ id: EvaluationID, cause: PasscodeCause) {
        guard evaluations[id]?.prompt?.ask() == true else { return }
        tell(id, .passcodeRequired(cause: cause))
    }

    mutating func askPassword(_ id: EvaluationID) {
        guard evaluations[id]?.prompt?.ask() == true else { return }
        tell(id, .applicationPasswordRequired)
    }

    /// Whether the fallback button is shown, for `SubmitFallback`.
    package func offersFallback(_ id: EvaluationID) -> Bool {
        guard let evaluation = evaluations[id], case .showing(let prompt) = evaluation.phase,
            case .proving(let proving) = prompt.stage, proving.acceptance == nil
        else { return false }
        return switch proving.entry {
        case .passcode: evaluation.request.offersFallback && !isDelayed(id)
        case .fallback(let isShown): isShown
        }
    }

    /// Whether a match waits for its confirmation, for `SubmitConfirm`.
    package func awaitsConfirmation(_ id: EvaluationID) -> Bool {
        evaluations[id]?.prompt?.candidate != nil
    }
}
