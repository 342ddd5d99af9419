import Contract

/// An evaluation from the call to its reply, as a state machine.
///
/// Each phase, and each stage of a prompt, owns only the data that is valid in it. A forbidden
/// combination therefore cannot be expressed. State shared by evaluations (prompt holders, queues,
/// records, contexts, agents) belongs to the engine.
struct Evaluation: Hashable, Sendable {
    /// The phase of an evaluation.
    ///
    /// The engine removes an evaluation that has ended.
    enum Phase: Hashable, Sendable {
        /// The service is looking up the facts.
        ///
        /// With a session, the evaluation already holds that session's prompt.
        case lookingUp(session: String?)
        /// The facts are known, and the decision waits for a write of the user's record.
        case held(Facts, session: String?)
        case waiting(session: String)
        /// The agent must show the prompt by `until`.
        ///
        /// The planned sensors start after that.
        case beginning(Prompt, plan: [SensorFact], until: Instant)
        case showing(Prompt)
    }

    let request: Request
    let deadline: Instant
    var phase = Phase.lookingUp(session: nil)

    // MARK: State

    /// The session of the prompt that the evaluation holds or waits for.
    var session: String? {
        switch phase {
        case .lookingUp(let session), .held(_, let session): session
        case .waiting(let session): session
        case .beginning(let prompt, _, _), .showing(let prompt): prompt.session
        }
    }

    /// The session of the latest look-up, which may differ from the session of its prompt.
    var latestSession: String? {
        if case .held(let facts, let session) = phase { facts.session ?? session } else { session }
    }

    var isWaiting: Bool {
        if case .waiting = phase { true } else { false }
    }

    var heldFacts: Facts? {
        if case .held(let facts, _) = phase { facts } else { nil }
    }

    /// The time by which the agent must show the prompt; nil if no agent is asked or the prompt is
    /// visible.
    var agentDeadline: Instant? {
        if case .beginning(_, _, let until) = phase { until } else { nil }
    }

    /// The prompt from the call to the agent to the end.
    ///
    /// Setting it in an earlier phase has no effect.
    var prompt: Prompt? {
        get {
            switch phase {
            case .beginning(let prompt, _, _), .showing(let prompt): prompt
            case .lookingUp, .held, .waiting: nil
            }
        }
        set {
            guard let newValue else { return }
            switch phase {
            case .beginning(_, let plan, let until):
                phase = .beginning(newValue, plan: plan, until: until)
            case .showing: phase = .showing(newValue)
            case .lookingUp, .held, .waiting: break
            }
        }
    }

    var isShowing: Bool {
        if case .showing = phase { true } else { false }
    }

    /// Whether the prompt is visible and no sensor, check or write in progress could still prove
    /// the stage.
    var isIdle: Bool {
        if case .showing(let prompt) = phase { prompt.isIdle } else { false }
    }

    var holdsMatch: Bool { prompt?.holdsMatch == true }

    var usesBiometry: Bool {
        switch phase {
        case .lookingUp, .held, .waiting: false
        case .beginning(let prompt, let plan, _):
            prompt.usesBiometry || !prompt.isRevoked && plan.contains { $0.type != .none }
        case .showing(let prompt): prompt.usesBiometry
        }
    }

    // MARK: Transitions

    mutating func hold(_ facts: Facts) {
        phase = .held(facts, session: session)
    }

    /// Marks the prompt visible and returns the sensors to start; nil if no prompt was expected.
    mutating func show() -> [SensorFact]? {
        guard case .beginning(let prompt, let plan, _) = phase else { return nil }
        phase = .showing(prompt)
        return plan
    }

    /// Delays the sensors until the prompt is visible; false if it is visible and the sensors start
    /// now.
    mutating func postpone(_ plan: [SensorFact]) -> Bool {
        guard case .beginning(let prompt, _, let until) = phase else { return false }
        phase = .beginning(prompt, plan: plan, until: until)
        return true
    }

    /// Revokes earlier proofs of the context, and the evaluation's own matches.
    mutating func revoke() {
        guard prompt?.revoke() == true else { return }
        _ = postpone([])
    }

    /// Removes biometric proofs, and keeps biometric sensors from starting.
    mutating func leaveOutBiometry() {
        if case .beginning(let prompt, let plan, let until) = phase {
            let companions = plan.filter { $0.type == .none }
            phase = .beginning(prompt, plan: companions, until: until)
        }
        prompt?.leaveOutBiometry()
    }
}
