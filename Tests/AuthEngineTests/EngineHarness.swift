import AuthEngine
import Contract

/// An engine with a service around it that performs every effect at once.
struct EngineHarness {
    var engine: AuthEngine
    var now = Instant(nanoseconds: 1_000_000_000)
    /// The facts that every look-up finds.
    var facts: Facts
    /// If false, the test sends `promptBegan` itself.
    var beginsPrompts = true
    /// If false, the test sends `saved` itself.
    var writes = true

    /// All effects so far.
    private(set) var effects: [Effect] = []
    private(set) var outcomes: [EvaluationID: Outcome] = [:]
    /// The running operations, in the order of their start.
    private(set) var operations: [(id: OperationID, evaluation: EvaluationID, sensor: String)] = []
    private(set) var unwritten: [SaveID] = []
    private var lastEvaluation: UInt64 = 0
    private var attempts: [OperationID: UInt32] = [:]

    static let uid: UInt32 = 1000
    static let client = ClientID(1)
    static let other = ClientID(2)
    static let context = ContextID(1)
    static let session = "seat"
    static let agent = AgentID(1)

    init(
        _ sensors: SensorFact...,
        settings: Settings = Settings(),
        records: [UInt32: UserRecord] = [:]
    ) {
        engine = AuthEngine(settings: settings, records: records)
        facts = Facts(
            sensors: sensors,
            passcode: .set,
            session: EngineHarness.session,
            processes: [100]
        )
        register(EngineHarness.agent)
    }

    mutating func register(
        _ id: AgentID,
        session: String = EngineHarness.session,
        kind: Agent.Kind = .normal,
        uid: UInt32 = EngineHarness.uid,
        client: ClientID? = nil
    ) {
        let client = client ?? ClientID(100 + id.rawValue)
        send(
            .agentRegistered(
                Agent(id: id, client: client, uid: uid, session: session, kind: kind)
            )
        )
    }

    /// Sends an event and performs the effects that follow from it.
    @discardableResult
    mutating func send(_ event: Event) -> [Effect] {
        var events = [event]
        var caused: [Effect] = []
        while !events.isEmpty {
            let effects = engine.step(events.removeFirst(), at: now)
            caused += effects
            for effect in effects { events += answer(effect) }
        }
        effects += caused
        return caused
    }

    private mutating func answer(_ effect: Effect) -> [Event] {
        switch effect {
        case .lookUp(let id):
            return [.lookedUp(id, facts)]
        case .begin(let id, _, _) where beginsPrompts:
            return [.promptBegan(id)]
        case .startSensor(let operation, let id, let sensor):
            operations.append((operation, id, sensor))
        case .cancelSensor(let operation):
            operations.removeAll { $0.id == operation }
        case .save(let save, uid: _, _):
            if writes { return [.saved(save)] }
            unwritten.append(save)
        case .reply(let id, let outcome):
            outcomes[id] = outcome
        default: break
        }
        return []
    }

    @discardableResult
    mutating func evaluate(
        _ policy: Policy,
        client: ClientID = EngineHarness.client,
        context: ContextID? = nil,
        uid: UInt32 = EngineHarness.uid,
        _ change: (inout Request) -> Void = { _ in }
    ) -> EvaluationID {
        lastEvaluation += 1
        let id = EvaluationID(lastEvaluation)
        var request = Request(id: id, client: client, context: context, uid: uid, policy: policy)
        change(&request)
        send(.requested(request))
        return id
    }

    /// Scans with the sensor of this name that was started last.
    @discardableResult
    mutating func scan(_ sensor: String = "finger", matching: Bool) -> [Effect] {
        guard let operation = operations.last(where: { $0.sensor == sensor }) else { return [] }
        if matching {
            operations.removeAll { $0.id == operation.id }
            return send(.sensorMatched(operation.id, template: "template"))
        }
        attempts[operation.id, default: 0] += 1
        return send(.sensorMissed(operation.id, attempt: attempts[operation.id] ?? 0))
    }

    /// Ends the operation of that sensor, with a reported fault or without.
    @discardableResult
    mutating func fault(
        _ sensor: String = "finger",
        because fault: SensorFault? = nil
    ) -> [Effect] {
        guard let operation = operations.last(where: { $0.sensor == sensor }) else { return [] }
        operations.removeAll { $0.id == operation.id }
        return send(fault.map { .sensorFailed(operation.id, $0) } ?? .sensorEnded(operation.id))
    }

    /// Submits a password.
    ///
    /// If the verifier gets it, `verdict` is the answer.
    @discardableResult
    mutating func passcode(_ id: EvaluationID, _ verdict: PasscodeVerdict) -> [Effect] {
        let effects = send(.passcodeOffered(id))
        guard effects.contains(.verifyPasscode(id)) else { return effects }
        return effects + send(.passcodeVerified(id, verdict))
    }

    /// Misses with the finger this many times, in as many evaluations as needed.
    mutating func fail(_ times: Int) {
        for _ in 0..<times {
            if operations.isEmpty { evaluate(.biometrics) }
            scan(matching: false)
        }
        for operation in operations { send(.canceled(operation.evaluation)) }
    }

    mutating func write() {
        let saves = unwritten
        unwritten = []
        for save in saves { send(.saved(save)) }
    }

    mutating func failToWrite() {
        let saves = unwritten
        unwritten = []
        for save in saves { send(.saveFailed(save)) }
    }

    mutating func configure(_ change: (inout Settings) -> Void) {
        var settings = engine.settings
        change(&settings)
        send(.configured(settings))
    }

    mutating func pass(_ duration: Duration) {
        now = now + duration
        send(.timePassed)
    }

    func available(_ policy: Policy, context: ContextID? = nil) -> RefusalCode? {
        engine.availability(
            policy,
            uid: EngineHarness.uid,
            facts: facts,
            context: context,
            at: now
        )?
        .code
    }

    func refusal(_ id: EvaluationID) -> RefusalCode? {
        guard case .refused(let refusal) = outcomes[id] else { return nil }
        return refusal.code
    }

    /// Evaluates and returns the immediate refusal.
    mutating func refused(_ policy: Policy) -> RefusalCode? {
        let id = evaluate(policy)
        return refusal(id)
    }

    func message(_ id: EvaluationID) -> String {
        guard case .refused(let refusal) = outcomes[id] else { return "" }
        return refusal.message
    }

    func grant(_ id: EvaluationID) -> Grant? {
        guard case .granted(let grant) = outcomes[id] else { return nil }
        return grant
    }

    func isPending(_ id: EvaluationID) -> Bool { outcomes[id] == nil }

    func progress(_ id: EvaluationID) -> [Progress] {
        effects.compactMap { effect in
            guard case .tell(id, let progress) = effect else { return nil }
            return progress
        }
    }

    func presentation(_ id: EvaluationID) -> Presentation? {
        for case .begin(id, _, let presentation) in effects { return presentation }
        return nil
    }

    /// The user's record in the last write.
    var lastWrite: UserRecord? {
        for case .save(_, uid: EngineHarness.uid, let record) in effects.reversed() {
            return record
        }
        return nil
    }

    /// The evaluations whose password the verifier received, in order.
    var asked: [EvaluationID] {
        effects.compactMap { if case .verifyPasscode(let id) = $0 { id } else { nil } }
    }

    /// Starts an evaluation with its own prompt in its own session.
    mutating func evaluateElsewhere(
        _ number: UInt64,
        uid: UInt32 = EngineHarness.uid
    ) -> EvaluationID {
        let session = "session \(number)"
        register(AgentID(100 + number), session: session, uid: uid)
        facts.session = session
        return evaluate(.biometricsOrPasscode, client: ClientID(number), uid: uid)
    }

    func end(_ id: EvaluationID) -> PromptOutcome? {
        for case .end(id, let outcome) in effects { return outcome }
        return nil
    }

    /// The number of prompts shown.
    var prompts: Int {
        effects.count { if case .begin = $0 { true } else { false } }
    }
}

extension SensorFact {
    static let finger = sensor("finger", .fingerprint)
    static let face = sensor("face", .face)
    static let webcam = sensor("webcam", .face, .convenience)
    static let key = sensor("key", .none)

    static func sensor(
        _ name: String,
        _ type: BiometryType,
        _ strength: Strength = .strong,
        _ availability: Availability = .usable,
        templates: Int = 1
    ) -> SensorFact {
        SensorFact(
            name: name,
            type: type,
            strength: strength,
            availability: availability,
            templates: templates
        )
    }

    func with(_ availability: Availability) -> SensorFact {
        var copy = self
        copy.availability = availability
        return copy
    }

    func with(templates: Int) -> SensorFact {
        var copy = self
        copy.templates = templates
        return copy
    }
}
