extension AuthEngine {
    /// Whether an agent may register: one normal and one fallback a session and user, one a
    /// process, four a connection.
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

    /// Whether an agent serves a process and its children alone.
    package var servesProcesses: Bool {
        agents.contains { agent in
            if case .process = agent.kind { true } else { false }
        }
    }

    /// The agent that would show a prompt: the one of the process (or its nearest parent), else
    /// the session's own, else its fallback.
    ///
    /// One of another session shows nothing here: that one may be remote. One of root's that is in
    /// no session serves its process anywhere, and root's agent of a process the unlocks that this
    /// process asks for.
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

    /// The agent that would show a prompt now, by where the caller stands, or why none would.
    ///
    /// Evaluate decides by this, and the property `Interactive` and CanInteract say it (L28).
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

    /// Why somebody who stands there may not enrol: who does has to sit at the machine (L2); nil:
    /// they may.
    package func enrolmentRefusal(of uid: UInt32, _ facts: Facts) -> Refusal? {
        if facts.isRemote { return .remoteSession }
        switch prompter(for: uid, facts) {
        case .success(let agent):
            return facts.isInNoSession && !agent.isAtDisplay ? .promptElsewhere : nil
        case .failure(let absence):
            // Who is in a session needs no agent if a context has the passcode.
            return facts.session == nil || facts.isInNoSession ? absence.refusal : nil
        }
    }

    /// The facts where the prompt would be shown: without sensors for a caller in no session whose
    /// prompt isn't known to be at the machine (L2).
    func placed(_ facts: Facts, _ uid: UInt32, isUnlock: Bool = false) -> Facts {
        guard facts.isInNoSession,
            case .success(let agent) = prompter(for: uid, facts, isUnlock: isUnlock),
            !agent.isAtDisplay
        else { return facts }
        var facts = facts
        facts.isPromptElsewhere = true
        facts.withholdSensors()
        return facts
    }

    /// The agent that was asked to show the evaluation's prompt; nil: none was.
    package func promptsAgent(of evaluation: EvaluationID) -> AgentID? {
        evaluations[evaluation]?.prompt?.agent
    }

    /// The client's evaluations that have not been answered.
    package func pendingCount(of client: ClientID) -> Int {
        evaluations.values.filter { $0.request.client == client }.count
    }

    private static let agentsPerConnection = 4
}

extension Facts {
    /// No sensor is of use to who is not there (L2).
    package mutating func withholdSensors() {
        for index in sensors.indices { sensors[index].availability = .unavailable }
    }
}
