import AuthEngine
import AuthStore
import BusGuard
import DBus
import LocalAuthBus
import Sealing

/// Every evaluation, from its request to its answer.
///
/// `outcome(of:)` hands a request to the engine as an event; the engine answers with effects, each
/// of which is one call to an edge (`perform`); what comes back is an event again, until the effect
/// `reply` resumes whoever waits in `outcome(of:)`. Here alone does the engine change.
@BusActor
final class Evaluations {
    private(set) var engine: AuthEngine
    /// The least strength of a sensor that releases keychain items.
    var keychainStrength: Strength
    /// The evaluations that have not been answered.
    var pending: [EvaluationID: PendingEvaluation] = [:]
    /// Whose prompt has which handle.
    var prompts: [String: EvaluationID] = [:]
    /// Which sensor runs an operation.
    var looking: [OperationID: SensorLink] = [:]
    /// The calls of sensors that told of a failed attempt and wait for their answer.
    var misses: [Miss: [CheckedContinuation<MismatchAnswer, Never>]] = [:]
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

    /// `report` is told how each evaluation ended.
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

    /// A number that was not given away before.
    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// A failed attempt, by its number in an operation.
    struct Miss: Hashable {
        let operation: OperationID
        let attempt: UInt32
    }

    // MARK: - Questions

    /// Evaluates: a prompt, if one is needed.
    ///
    /// `isReleased` says whether the request's context went while the call waited for its turn.
    ///
    /// - Returns: The engine's last word.
    func outcome(
        of request: Request,
        _ text: ShownText,
        _ audience: Audience,
        password: PendingEvaluation.PasswordUse? = nil,
        isReleased: @BusActor () -> Bool = { false }
    ) async -> Outcome {
        // That the machine is awake again may have been missed.
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
            // What the engine keeps of it from now on nobody else would release.
            if let context = request.context, isReleased() { handle(.released(context)) }
        }
    }

    /// What Evaluate answers to who was authenticated.
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

    /// What CanEvaluate answers.
    typealias Availability = (available: Bool, code: Int32, message: String)

    /// Whether `policy` could be evaluated now; no prompt.
    func canEvaluate(
        _ policy: Policy,
        for peer: Peer,
        context: ContextObject? = nil
    ) -> Answer<Availability> {
        let uid = peer.uid
        if !isLockingOut(uid), let facts = facts.told(policy, to: peer) {
            return .now(availability(policy, uid, facts, context))
        }
        return .later { () throws(DBusError) in
            let facts = await self.facts.findOut(policy, for: peer)
            await self.finishLockout(of: uid)
            return self.availability(policy, uid, facts, context)
        }
    }

    /// Returns once a lockout that is on its way to the disk is there, or can't be written: nobody
    /// is told of it before (L17).
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
        // R40: there is one while biometry could be evaluated, and none while it is locked out.
        if policy == .biometrics || policy == .biometricsOrCompanion,
            refusal?.code != .invalidContext
        {
            context?
                .couldEvaluate(
                    refusal == nil ? self.facts.enrolments.domainState(of: uid) : [],
                    isFromBefore: self.facts.enrolments.isFromBefore(of: uid)
                )
        }
        if let refusal { return (false, refusal.code.rawValue, refusal.message) }
        return (true, 0, "")
    }

    /// The evaluation of a prompt, for the agent that shows it and for nobody else.
    func evaluation(shownIn handle: String, by peer: Peer) throws(DBusError) -> EvaluationID {
        guard let id = prompts[handle], pending[id]?.prompt?.agent.peer === peer else {
            throw .denied("no prompt of yours has this handle")
        }
        return id
    }

    // MARK: - Events

    /// The one place where the engine changes.
    ///
    /// An event that an effect causes waits until the effects before it are done.
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

    /// Handles an event that somebody asked for: the audit says who.
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
    /// A refusal under the name that the contract gives its code.
    init(_ refusal: Refusal) {
        self.init(refusal.code.errorName, refusal.message)
    }
}
