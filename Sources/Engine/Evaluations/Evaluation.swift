import Contract

/// One evaluation, from the call to its reply: a state machine.
///
/// Each phase, and each stage of a prompt, owns the data that is true in it, so that a forbidden
/// combination can't be written. What concerns more than one evaluation (who has the prompt, the
/// queues, records, contexts and agents) belongs to the engine, which does what the methods here
/// say.
struct Evaluation: Hashable, Sendable {
    /// Where it is in its life; it has ended when the engine forgets it.
    enum Phase: Hashable, Sendable {
        /// Its facts are being looked up. With a session, it has that session's prompt already:
        /// its turn has come.
        case lookingUp(session: String?)
        /// Its facts are known; it is decided when the user's record is on the disk.
        case held(Facts, session: String?)
        /// It waits for the prompt of its session.
        case waiting(session: String)
        /// Its agent was asked to show the prompt, and has until then. The planned sensors start
        /// when the prompt is up.
        case beginning(Prompt, plan: [SensorFact], until: Instant)
        /// The prompt is up.
        case showing(Prompt)
    }

    let request: Request
    let deadline: Instant
    var phase = Phase.lookingUp(session: nil)

    // MARK: What it is doing

    /// The session whose prompt it has or waits for.
    var session: String? {
        switch phase {
        case .lookingUp(let session), .held(_, let session): session
        case .waiting(let session): session
        case .beginning(let prompt, _, _), .showing(let prompt): prompt.session
        }
    }

    /// The session that it was found in last, which need not be the one whose prompt it has.
    var latestSession: String? {
        if case .held(let facts, let session) = phase { facts.session ?? session } else { session }
    }

    var isWaiting: Bool {
        if case .waiting = phase { true } else { false }
    }

    /// The facts that wait for a write of the user's record.
    var heldFacts: Facts? {
        if case .held(let facts, _) = phase { facts } else { nil }
    }

    /// Until when its agent may take to show the prompt; nil: no agent was asked, or it has.
    var agentDeadline: Instant? {
        if case .beginning(_, _, let until) = phase { until } else { nil }
    }

    /// Its prompt, from the moment its agent was asked for it; once there, it stays to the end.
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

    /// Whether the prompt is up.
    var isShowing: Bool {
        if case .showing = phase { true } else { false }
    }

    /// Whether nothing that runs could still end it well without the user's choosing something.
    var isIdle: Bool {
        if case .showing(let prompt) = phase { prompt.isIdle } else { false }
    }

    /// Whether it rests on a match that was not granted yet.
    var holdsMatch: Bool { prompt?.holdsMatch == true }

    /// Whether biometry may still end it well.
    var usesBiometry: Bool {
        switch phase {
        case .lookingUp, .held, .waiting: false
        case .beginning(let prompt, let plan, _):
            prompt.usesBiometry || !prompt.isTakenBack && plan.contains { $0.type != .none }
        case .showing(let prompt): prompt.usesBiometry
        }
    }

    // MARK: What happens to it

    /// The facts wait until the user's record is written.
    mutating func hold(_ facts: Facts) {
        phase = .held(facts, session: session)
    }

    /// The prompt is up: the sensors that look now; nil: no prompt was awaited.
    mutating func show() -> [SensorFact]? {
        guard case .beginning(let prompt, let plan, _) = phase else { return nil }
        phase = .showing(prompt)
        return plan
    }

    /// The sensors of the next stage wait for the prompt; false: it is up, and they look now.
    mutating func postpone(_ plan: [SensorFact]) -> Bool {
        guard case .beginning(let prompt, _, let until) = phase else { return false }
        phase = .beginning(prompt, plan: plan, until: until)
        return true
    }

    /// What its context had proved, and its own matches, count no more.
    mutating func takeBack() {
        guard prompt?.takeBack() == true else { return }
        _ = postpone([])
    }

    /// Biometry is refused from now on: what rests on it ends, and no sensor of its kind starts.
    mutating func leaveOutBiometry() {
        if case .beginning(let prompt, let plan, let until) = phase {
            let companions = plan.filter { $0.type == .none }
            phase = .beginning(prompt, plan: companions, until: until)
        }
        prompt?.leaveOutBiometry()
    }
}
