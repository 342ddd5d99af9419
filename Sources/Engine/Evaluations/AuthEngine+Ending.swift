import Contract

/// Ending evaluations.
///
/// Every end passes through `finish`.
extension AuthEngine {
    /// Ends an evaluation: stops its sensors and prompt, answers the caller and starts the next
    /// evaluation in the queue.
    mutating func finish(_ id: EvaluationID, _ outcome: Outcome) {
        cancelSensors(of: id)
        guard let evaluation = evaluations.removeValue(forKey: id) else { return }
        if evaluation.prompt != nil {
            detachPassword(id, evaluation.request.uid)
            effects.append(.end(id, outcome.promptOutcome))
        }
        effects.append(.reply(id, outcome))
        leavePrompt(id, evaluation)
    }

    /// Ends every evaluation that matches.
    ///
    /// Waiting evaluations end first, so that none of them gets the prompt.
    mutating func endAll(_ refusal: Refusal, where matches: (Evaluation) -> Bool) {
        for id in ids(where: { $0.isWaiting && matches($0) }) + ids(where: matches) {
            finish(id, .refused(refusal))
        }
    }

    mutating func gone(_ agent: AgentID) {
        agents.removeAll { $0.id == agent }
        endAll(.agentFailed) { $0.prompt?.agent == agent }
    }

    mutating func gone(_ client: ClientID) {
        // The service drops this reply, because its recipient is gone.
        endAll(.appCancel) { $0.request.client == client }
        for agent in agents where agent.client == client { gone(agent.id) }
        contexts = contexts.filter { $0.value.client != client }
    }

    mutating func invalidated(_ context: ContextID) {
        contexts[context, default: Context()].isInvalid = true
        contexts[context]?.successes = []
        endAll(.appCancel) { $0.request.context == context }
    }

    mutating func released(_ context: ContextID) {
        contexts[context] = nil
        endAll(.appCancel) { $0.request.context == context }
    }

    mutating func oneShotsInvalidated(_ client: ClientID) {
        endAll(.appCancel) { $0.request.client == client && $0.request.context == nil }
    }

    mutating func stopping() {
        isStopping = true
        endAll(.stopping) { _ in true }
    }
}

extension Outcome {
    var promptOutcome: PromptOutcome {
        guard case .refused(let refusal) = self else { return .success }
        return switch refusal.code {
        case .userCancel, .appCancel: .canceled
        case .userFallback: .fallback
        case .biometryLockout: .lockout
        case .systemCancel: .system
        default: .failed
        }
    }
}
