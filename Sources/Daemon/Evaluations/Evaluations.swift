import AuthEngine
import AuthStore
import BusGuard
import DBus
import LocalAuthBus
import Sealing

/// Runs every evaluation from its request to its reply.
///
/// `outcome(of:)` passes a request to the engine as an event. The engine returns effects, and
/// `perform` makes one call to an edge for each. Results return as events, until the effect `reply`
/// resumes the caller of `outcome(of:)`. Only this class changes the engine.
@BusActor
final class Evaluations {
    private(set) var engine: AuthEngine
    /// The weakest sensor that may release keychain items.
    var keychainStrength: Strength
    var pending: [EvaluationID: PendingEvaluation] = [:]
    /// Evaluations by the handle of their prompt.
    var prompts: [String: EvaluationID] = [:]
    /// Sensors by the operation they run.
    var runningSensors: [OperationID: SensorLink] = [:]
    /// Calls of sensors that reported a miss and wait for the answer.
    var misses: [Miss: [CheckedContinuation<MissAnswer, Never>]] = [:]
    let connection: Connection
    let neighbours: NeighbourGuard
    let sealingKey: SealingKey
    let agents: AgentDirectory
    let sensors: SensorDirectory
    let verifier: PasscodeVerifier
    let facts: FactFinder
    let saves: RecordSaves
    let clients: Clients
    let report: @BusActor (PendingEvaluation, Outcome) -> Void
    private var lastID: UInt64 = 0
    private var events: [Event] = []
    private var isHandling = false
    private var timer: (source: EventSource, at: Instant)?

    /// Creates the evaluations; `report` receives the outcome of each.
    init(
        engine: AuthEngine,
        keychainStrength: Strength,
        connection: Connection,
        neighbours: NeighbourGuard,
        sealingKey: SealingKey,
        agents: AgentDirectory,
        sensors: SensorDirectory,
        verifier: PasscodeVerifier,
        facts: FactFinder,
        saves: RecordSaves,
        clients: Clients,
        report: @escaping @BusActor (PendingEvaluation, Outcome) -> Void
    ) {
        self.engine = engine
        self.keychainStrength = keychainStrength
        self.connection = connection
        self.neighbours = neighbours
        self.sealingKey = sealingKey
        self.agents = agents
        self.sensors = sensors
        self.verifier = verifier
        self.facts = facts
        self.saves = saves
        self.clients = clients
        self.report = report
    }

    /// Returns a number that is unique in this process.
    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    struct Miss: Hashable {
        let operation: OperationID
        let attempt: UInt32
    }

    // MARK: - Requests

    /// Runs an evaluation, with a prompt if needed.
    ///
    /// `isReleased` returns whether the request's context was released while the call waited for
    /// its turn.
    ///
    /// - Returns: The engine's final outcome.
    func outcome(
        of request: Request,
        _ text: ShownText,
        _ audience: Audience,
        password: PendingEvaluation.PasswordUse? = nil,
        isReleased: @BusActor () -> Bool = { false }
    ) async -> Outcome {
        // The signal that the machine woke up may be lost.
        if facts.sessions.surroundings.isSuspended {
            _ = await facts.sessions.catchUp(request.uid)
        }
        return await withCheckedContinuation { answer in
            pending[request.id] = PendingEvaluation(
                request: request,
                audience: audience,
                text: text,
                sandbox: clients[audience.peer].sandbox,
                password: password,
                answer: answer
            )
            handle(.requested(request))
            // Release a context that went meanwhile, because no other event would make the engine
            // drop it.
            if let context = request.context, isReleased() { handle(.released(context)) }
        }
    }

    /// Returns the reply of Evaluate for a grant.
    func result(of grant: Grant) -> [String: Variant] {
        var result: [String: Variant] = [
            "mechanism": .string(grant.mechanism.rawValue),
            "biometry-type": .uint32(grant.type.rawValue),
        ]
        result["sensor"] = grant.sensor.map(Variant.string)
        result["strength"] = grant.strength.map { .string($0.rawValue) }
        if grant.type != .none {
            result["domain-state"] = .bytes(facts.enrolments.domainState(of: grant.uid))
        }
        return result
    }

    typealias Availability = (available: Bool, code: Int32, message: String)

    /// Returns whether a policy can be evaluated now, without a prompt.
    func canEvaluate(
        _ policy: Policy,
        for peer: Peer,
        context: ContextObject? = nil
    ) -> Answer<Availability> {
        let uid = peer.uid
        if !isLockingOut(uid), let facts = facts.cachedFacts(policy, for: peer) {
            return .now(availability(policy, uid, facts, context))
        }
        return .later { () throws(DBusError) in
            let facts = await self.facts.factsForCanEvaluate(policy, for: peer)
            await self.finishLockout(of: uid)
            return self.availability(policy, uid, facts, context)
        }
    }

    /// Waits for the write of a pending lockout, because no caller may hear of it before (L17).
    func finishLockout(of uid: UInt32) async {
        if isLockingOut(uid) { await saves.finish() }
    }

    private func isLockingOut(_ uid: UInt32) -> Bool {
        engine.isBeingWritten(uid) && engine.lockout(of: uid, at: Instant.now()) != nil
    }

    private func availability(
        _ policy: Policy,
        _ uid: UInt32,
        _ facts: Facts,
        _ context: ContextObject?
    ) -> Availability {
        let refusal = engine.availability(
            policy,
            uid: uid,
            facts: facts,
            context: context?.id,
            at: Instant.now()
        )
        // R40: the context has a domain state while biometry can be evaluated, and none during a
        // lockout.
        if policy == .biometrics || policy == .biometricsOrCompanion,
            refusal?.code != .invalidContext
        {
            context?
                .couldEvaluate(
                    refusal == nil ? self.facts.enrolments.domainState(of: uid) : [],
                    predatesSleep: self.facts.enrolments.predatesSleep(of: uid)
                )
        }
        if let refusal { return (false, refusal.code.rawValue, refusal.message) }
        return (true, 0, "")
    }

    /// Returns the evaluation of a prompt, only for the agent that shows it.
    func evaluation(shownIn handle: String, by peer: Peer) throws(DBusError) -> EvaluationID {
        guard let id = prompts[handle], pending[id]?.prompt?.agent.peer === peer else {
            throw .denied("no prompt of yours has this handle")
        }
        return id
    }

    // MARK: - Events

    /// Passes an event to the engine, which changes only here.
    ///
    /// An event caused by an effect waits until the current effects are done.
    func handle(_ event: Event) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        var index = 0
        while index < events.count {
            let effects = engine.step(events[index], at: Instant.now())
            for effect in effects { perform(effect) }
            index += 1
        }
        events.removeAll(keepingCapacity: events.count < 64)
        isHandling = false
        setTimer()
    }

    /// Handles an event that a caller requested, so that the audit names the caller.
    func handle(_ event: Event, askedBy peer: Peer) {
        saves.requester = peer
        handle(event)
        saves.requester = nil
    }

    private func setTimer() {
        let next = engine.nextDeadline
        guard timer?.at != next else { return }
        timer?.source.cancel()
        timer = nil
        guard let next else { return }
        let wait = max(next - Instant.now(), .zero)
        timer = (
            EventLoop.shared.schedule(after: wait) { [weak self] in
                self?.timer = nil
                self?.handle(.timePassed)
            }, next
        )
    }
}

extension DBusError {
    /// Uses the error name that the contract assigns to the refusal's code.
    init(_ refusal: Refusal) {
        self.init(refusal.code.errorName, refusal.message)
    }
}
