extension AuthEngine {
    /// Whether an agent may register.
    ///
    /// The limits are one normal and one fallback agent for each session and user, one agent for
    /// each process, and four agents for each connection.
    package func canRegister(
        uid: UInt32,
        session: String,
        kind: Agent.Kind,
        client: ClientID
    ) -> Bool {
        guard agents.filter({ $0.client == client }).count < AuthEngine.agentsPerConnection else {
            return false
        }
        return !agents.contains { agent in
            if case .process = kind { return agent.kind == kind }
            return agent.kind == kind && agent.uid == uid && agent.session == session
        }
    }

    mutating func registered(_ agent: Agent) {
        guard !agents.contains(where: { $0.id == agent.id }),
            canRegister(
                uid: agent.uid,
                session: agent.session,
                kind: agent.kind,
                client: agent.client
            )
        else { return }
        agents.append(agent)
    }

    /// Whether some agent serves only a process and its children.
    package var servesProcesses: Bool {
        agents.contains { agent in
            if case .process = agent.kind { true } else { false }
        }
    }

    /// Returns the agent that would show a prompt.
    ///
    /// The order is: the agent of the process or its nearest parent, the session's normal agent,
    /// the session's fallback. An agent of another session is never used, because that session may
    /// be remote. A root agent outside sessions serves its process in any session. Root's agent of
    /// a process also shows the unlocks that this process requests.
    package func agent(
        for uid: UInt32,
        session: String,
        processes: [Int32],
        isUnlock: Bool = false
    ) -> Agent? {
        let here = agents.filter { $0.session == session || $0.session.isEmpty }
        for process in processes {
            let own = here.first { agent in
                agent.kind == .process(process)
                    && (agent.uid == uid || isUnlock && agent.uid == 0)
            }
            if let own { return own }
        }
        let users = here.filter { $0.uid == uid }
        return users.first { $0.kind == .normal } ?? users.first { $0.kind == .fallback }
    }

    /// Returns the agent that would show a prompt for a caller with these facts, or why there is
    /// none.
    ///
    /// Evaluate decides by this result. The property `Interactive` and the call CanInteract report
    /// it (L28).
    package func prompter(
        for uid: UInt32,
        _ facts: Facts,
        isUnlock: Bool = false
    ) -> Result<Agent, Absence> {
        if isSuspended { return .failure(.asleep) }
        guard let session = facts.session else { return .failure(facts.absence) }
        let agent = agent(
            for: uid,
            session: session,
            processes: facts.processes,
            isUnlock: isUnlock
        )
        if let agent { return .success(agent) }
        return .failure(facts.isInNoSession ? .noAgentThere : .noAgent)
    }

    /// Returns the agent that would show a request.
    ///
    /// Only the caller's own agent shows the request of a user's lock screen. A window would open
    /// above or behind the lock, and a sandboxed caller has no agent.
    func prompter(for request: Request, _ facts: Facts) -> Result<Agent, Absence> {
        let found = prompter(for: request.uid, facts, isUnlock: request.isUnlock)
        guard request.isForLockScreen, !request.isUnlock, case .success(let agent) = found else {
            return found
        }
        if case .process = agent.kind, agent.client == request.client { return found }
        return .failure(.noAgent)
    }

    /// Why this caller may not enrol, or nil.
    ///
    /// Enrolment requires presence at the machine (L2).
    package func enrolmentRefusal(of uid: UInt32, _ facts: Facts) -> Refusal? {
        if facts.isRemote { return .remoteSession }
        switch prompter(for: uid, facts) {
        case .success(let agent):
            return facts.isInNoSession && !agent.isAtDisplay ? .promptElsewhere : nil
        case .failure(let absence):
            // A caller in a session needs no agent if its context holds the password.
            return facts.session == nil || facts.isInNoSession ? absence.refusal : nil
        }
    }

    /// Withholds the sensors from a caller outside sessions unless its prompt is known to be at the
    /// machine (L2).
    func withholdingDistantSensors(_ facts: Facts, _ uid: UInt32, isUnlock: Bool = false) -> Facts {
        guard facts.isInNoSession,
            case .success(let agent) = prompter(for: uid, facts, isUnlock: isUnlock),
            !agent.isAtDisplay
        else { return facts }
        var facts = facts
        facts.isPromptElsewhere = true
        facts.withholdSensors()
        return facts
    }

    /// The agent that was told to show the evaluation's prompt, or nil.
    package func promptsAgent(of evaluation: EvaluationID) -> AgentID? {
        evaluations[evaluation]?.prompt?.agent
    }

    package func pendingCount(of client: ClientID) -> Int {
        evaluations.values.filter { $0.request.client == client }.count
    }

    private static let agentsPerConnection = 4
}

extension Facts {
    /// Marks every sensor unavailable, because the user is not at the machine (L2).
    package mutating func withholdSensors() {
        for index in sensors.indices { sensors[index].availability = .unavailable }
    }
}
