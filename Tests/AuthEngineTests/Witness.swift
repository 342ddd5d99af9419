import Contract

@testable import AuthEngine

/// Checks events and effects from outside for violations.
///
/// The witness keeps its own books of grants, writes and sensors, and takes none from the engine.
struct Witness: Hashable {
    struct Live: Hashable {
        var request: Request
        var deadline: Instant
        var isLookedUp = false
        var facts: Facts?
        var isBegun = false
        var isEnded = false
        var operations: [OperationID: SensorFact] = [:]
        var match: SensorFact?
        /// Matches that may update a template.
        var seen: [OperationID: SensorFact] = [:]
        var isConfirmed = false
        var isVerifying = false
        var isPasscodeCorrect = false
        /// Whether the prompt begins with the password.
        var beginsWithPasscode = false
        /// Whether the prompt was told of a delay, but not yet of its end.
        var isHeldBack = false
        /// Whether the prompt accepts a password, or the app's own password.
        var takesPasscode = false
        var takesPassword = false
    }

    struct Write: Hashable {
        enum Kind: Hashable {
            case miss
            case wrongPasscode
            case acceptance
            case other
        }

        var uid: UInt32
        var evaluation: EvaluationID?
        var kind: Kind
        var record: UserRecord
    }

    struct Success: Hashable {
        var grant: Grant
        var moment: Instant
        /// The session of the proof.
        var session: String?
    }

    var live: [EvaluationID: Live] = [:]
    var writes: [SaveID: Write] = [:]
    var successes: [ContextID: [Success]] = [:]
    var invalid: Set<ContextID> = []
    var owners: [ContextID: ClientID] = [:]
    var agents: [AgentID: UInt32] = [:]
    /// The content of the disk, as long as no write failed.
    var disk: [UInt32: UserRecord] = [:]
    var unsure: Set<UInt32> = []
    var late: Set<EvaluationID> = []
    /// The time of each user's last biometric unlock.
    var unlocks: [UInt32: Instant] = [:]
    /// Every user's record after the last step.
    var records: [UInt32: UserRecord] = [:]
    /// The weight of the current miss, in halves.
    var weight = 0
    /// Violations found so far.
    var complaints: [String] = []
    /// How often each outcome occurred, for the report.
    var outcomes: [Int: Int] = [:]
    /// The witness of access controls.
    var stages = StageWitness()

    /// Checks a step that the engine has taken.
    mutating func see(_ event: Event, _ effects: [Effect], _ engine: AuthEngine) {
        let now = engine.now
        let event = asItCounts(event, engine)
        if event.isOfTime { stages.strikeRefused(engine) }
        checkSubmission(event, effects)
        stages.arrive(event, mustConfirm: mustConfirm)
        let write = arrive(event, now, effects)
        for effect in effects {
            stages.see(effect, engine, writing: writing)
            see(effect, of: event, write, engine, now)
        }
        leave(event)
        checkTold(event, effects, engine)
        (records, weight) = (engine.records, 0)
        checkState(engine, now)
        stages.strikeRefused(engine)
        complaints += stages.complaints
        stages.complaints = []
    }

    mutating func complain(_ text: String) {
        complaints.append(text)
    }

    /// Treats a right password during a delay as a wrong password.
    private func asItCounts(_ event: Event, _ engine: AuthEngine) -> Event {
        guard case .passcodeVerified(let id, .correct) = event, let uid = live[id]?.request.uid,
            engine.delayEnd(of: uid) != nil
        else { return event }
        return .passcodeVerified(id, .wrong)
    }

    // MARK: Events

    /// Updates the books before the engine's effects.
    private mutating func arrive(_ event: Event, _ now: Instant, _ effects: [Effect]) -> Write? {
        switch event {
        case .requested(let request) where live[request.id] == nil:
            live[request.id] = Live(request: request, deadline: now + request.timeout)
            if let context = request.context, owners[context] == nil {
                owners[context] = request.client
            }
        case .lookedUp(let id, let facts):
            // Only the first reply to a look-up counts.
            if live[id]?.isLookedUp == true { live[id]?.facts = facts }
            live[id]?.isLookedUp = false
        case .sensorMatched(let operation, template: _):
            if let id = owner(of: operation), let sensor = live[id]?.operations[operation] {
                let isConfirmed = !mustConfirm(sensor, live[id]?.request)
                live[id]?.match = sensor
                live[id]?.seen[operation] = sensor
                live[id]?.isConfirmed = isConfirmed
            }
        case .sensorMissed(let operation, _):
            let sensor = owner(of: operation).flatMap { live[$0]?.operations[operation] }
            weight = sensor?.type == .face || sensor?.type == .iris ? 1 : 2
        case .confirmed(let id):
            if live[id]?.match != nil { live[id]?.isConfirmed = true }
        case .passcodeVerified(let id, let verdict):
            if live[id]?.isVerifying == true, verdict == .correct {
                live[id]?.isPasscodeCorrect = true
            }
        case .invalidated(let context):
            invalid.insert(context)
            successes[context] = nil
            stages.kept[context] = nil
        case .interrupted(let session, .locked):
            successes = successes.mapValues { $0.filter { $0.session != session } }
        case .sessionEnded(let session):
            successes = successes.mapValues { kept in
                kept.filter { session != nil && $0.session != session }
            }
        case .suspending: successes = [:]
        case .released(let context): forget(context)
        case .clientGone(let client):
            for (context, owner) in owners where owner == client { forget(context) }
        case .passcodeRequired(let uid, cause: _): biometryStops(uid)
        case .loggedOut(let uid): unlocks[uid] = nil
        case .unlocked(let uid, byPasscode: false): unlocks[uid] = now
        case .enrolmentChanged(let uid):
            dropSuccesses(uid)
            unlocks[uid] = nil
        case .agentGone(let agent): agents[agent] = nil
        case .agentRegistered(let agent): agents[agent.id] = agent.uid
        case .saved(let save): return settle(save, isWritten: true)
        case .saveFailed(let save): return settle(save, isWritten: false)
        default: break
        }
        checkCounting(event, effects)
        return nil
    }

    private mutating func settle(_ save: SaveID, isWritten: Bool) -> Write? {
        guard let write = writes.removeValue(forKey: save) else { return nil }
        if isWritten { disk[write.uid] = write.record } else { unsure.insert(write.uid) }
        return isWritten ? write : nil
    }

    private mutating func forget(_ context: ContextID) {
        invalid.remove(context)
        owners[context] = nil
        successes[context] = nil
        stages.kept[context] = nil
    }

    /// Checks that misses and wrong passwords are written in the same step.
    private mutating func checkCounting(_ event: Event, _ effects: [Effect]) {
        let hasSave = effects.contains { if case .save = $0 { true } else { false } }
        let replied = Set(
            effects.compactMap { if case .reply(let id, _) = $0 { id } else { nil } }
        )
        if case .sensorMissed(let operation, _) = event, let id = owner(of: operation),
            live[id]?.operations[operation]?.type != BiometryType.none, !replied.contains(id),
            !hasSave
        {
            complain("a non-match of \(operation) is not written")
        }
        if case .passcodeVerified(let id, .wrong) = event, !hasSave,
            late.contains(id) || (live[id]?.isVerifying == true && !replied.contains(id))
        {
            complain("a wrong passcode in \(id) is not written")
        }
    }

    /// Updates the books after the engine's effects.
    private mutating func leave(_ event: Event) {
        if let operation = ended(by: event), let id = owner(of: operation) {
            live[id]?.operations[operation] = nil
        }
        if case .passcodeVerified(let id, _) = event {
            live[id]?.isVerifying = false
            late.remove(id)
        }
    }

    private func ended(by event: Event) -> OperationID? {
        switch event {
        case .sensorMatched(let operation, template: _), .sensorEnded(let operation),
            .templateRemoved(let operation):
            operation
        default: nil
        }
    }

    func owner(of operation: OperationID) -> EvaluationID? {
        live.first { $0.value.operations[operation] != nil }?.key
    }

    private mutating func biometryStops(_ uid: UInt32) {
        dropSuccesses(uid)
        unlocks[uid] = nil
        for id in live.keys where live[id]?.request.uid == uid {
            if let match = live[id]?.match, match.type != .none { live[id]?.match = nil }
            live[id]?.seen = [:]
        }
    }

    private mutating func dropSuccesses(_ uid: UInt32) {
        stages.strike(uid)
        for context in successes.keys {
            successes[context]?.removeAll { $0.grant.uid == uid }
            if successes[context]?.isEmpty == true { successes[context] = nil }
        }
    }

    // MARK: Effects

    private mutating func see(
        _ effect: Effect,
        of event: Event,
        _ write: Write?,
        _ engine: AuthEngine,
        _ now: Instant
    ) {
        switch effect {
        case .lookUp(let id):
            if live[id]?.isBegun != false { complain("a look-up for \(id), which has begun") }
            live[id]?.isLookedUp = true
        case .begin(let id, let agent, let presentation):
            seeBegin(id, agent, presentation)
        case .tell(let id, let progress):
            guard let known = live[id], known.isBegun, !known.isEnded else {
                complain("told \(progress) to \(id), which has no prompt")
                return
            }
            seeTell(id, progress, event, write)
            seeDelay(id, progress, engine)
        case .end(let id, _):
            if live[id]?.isBegun != true { complain("an end without a prompt: \(id)") }
            if live[id]?.isEnded == true { complain("a second end: \(id)") }
            live[id]?.isEnded = true
        case .startSensor(let operation, let id, let sensor):
            seeStart(operation, id, sensor, engine)
        case .cancelSensor(let operation):
            guard let id = owner(of: operation) else {
                complain("canceled \(operation), which does not run")
                return
            }
            live[id]?.operations[operation] = nil
        case .verifyPasscode(let id):
            let takesPasscode = live[id]?.request.stages.contains { $0.contains(.passcode) }
            if takesPasscode != true || live[id]?.isVerifying != false {
                complain("a passcode is verified for \(id)")
            }
            live[id]?.isVerifying = true
        case .save(let save, let uid, let record):
            seeSave(save, uid, record, event, engine)
        case .reply(let id, let outcome):
            let isInvalid = live[id]?.request.context.map(invalid.contains) == true
            stages.seeReply(
                id,
                outcome,
                engine,
                isWriting: writing.contains(id),
                keepsUntil: isInvalid ? nil : now + lifetime
            )
            seeReply(id, outcome, event, write, engine)
        case .updateTemplate(let operation, let id, let sensor):
            seeLesson(operation, id, sensor, engine)
        case .takePassword, .answerMiss: break
        }
    }

    private mutating func seeBegin(
        _ id: EvaluationID,
        _ agent: AgentID,
        _ presentation: Presentation
    ) {
        guard let known = live[id], !known.isBegun else {
            complain("a second prompt, or one for nobody: \(id)")
            return
        }
        live[id]?.isBegun = true
        live[id]?.beginsWithPasscode = presentation.stage == .passcode
        if agents[agent] != known.request.uid { complain("\(id) is shown by another user's agent") }
        if known.request.isInteractionNotAllowed { complain("\(id) is shown against its wish") }
        let isShown = live.values.contains {
            $0.request.id != id && $0.isBegun && !$0.isEnded
                && $0.facts?.session == known.facts?.session
        }
        if isShown { complain("two prompts in one session: \(id)") }
        let usable = known.usableSensors.map(\.name)
        for name in presentation.sensors where !usable.contains(name) {
            complain("\(id) uses \(name)")
        }
    }

    private mutating func seeTell(
        _ id: EvaluationID,
        _ progress: Progress,
        _ event: Event,
        _ write: Write?
    ) {
        switch progress {
        case .miss:
            if write?.kind == .miss, write?.evaluation == id { return }
            if case .sensorMissed(let operation, _) = event,
                live[id]?.operations[operation]?.type == BiometryType.none
                    || live[id]?.operations[operation] == nil
            {
                return
            }
            complain("a non-match is told before it is written: \(id)")
        case .passcodeRejected:
            if write?.kind != .wrongPasscode || write?.evaluation != id {
                complain("a wrong passcode is told before it is written: \(id)")
            }
        case .fallbackAvailable:
            if live[id]?.request.offersFallback != true { complain("a fallback button: \(id)") }
        default: break
        }
    }

    private mutating func seeStart(
        _ operation: OperationID,
        _ id: EvaluationID,
        _ name: String,
        _ engine: AuthEngine
    ) {
        guard let known = live[id], known.isBegun, !known.isEnded,
            let sensor = known.facts?.sensors.first(where: { $0.name == name })
        else {
            complain("\(name) starts for \(id)")
            return
        }
        if owner(of: operation) != nil { complain("\(operation) starts twice") }
        let fits =
            switch known.request.policy {
            case .biometrics, .biometricsOrPasscode: sensor.type != .none
            case .companion: sensor.type == .none
            case .biometricsOrCompanion: true
            }
        if !fits, known.request.operation == nil {
            complain("\(name) does not fit the policy of \(id)")
        }
        live[id]?.operations[operation] = sensor
        let settings = isReconfigured ? nil : engine.settings
        let isWriting = writing.contains(id)
        stages.started(operation, id, sensor, settings, isWriting: isWriting)
    }

    private mutating func seeSave(
        _ save: SaveID,
        _ uid: UInt32,
        _ record: UserRecord,
        _ event: Event,
        _ engine: AuthEngine
    ) {
        var write = Write(uid: uid, evaluation: nil, kind: .other, record: record)
        switch event {
        case _ where isAttempt(save, uid, engine): break
        case .sensorMissed(let operation, _):
            // The miss that is being written may itself have stopped the operation.
            write.evaluation = owner(of: operation) ?? stopped(by: uid, engine, save)
            write.kind = .miss
            if record.halves != (records[uid] ?? UserRecord()).halves + weight {
                complain("a non-match counts \(record.halves) halves")
            }
        case .passcodeVerified(_, .correct) where engine.saves[save]?.evaluation == nil: break
        case .sensorMatched, .confirmed, .passcodeVerified(_, .correct):
            write.evaluation = engine.saves[save]?.evaluation
            write.kind = .acceptance
        case .passcodeVerified(let id, .wrong):
            if live[id] != nil { write.evaluation = id }
            write.kind = .wrongPasscode
        default: break
        }
        if writes[save] != nil { complain("\(save) is used twice") }
        writes[save] = write
        // A wrong password during a lockout starts no second lockout.
        if write.kind == .miss, record.misses >= engine.settings.lockoutAttempts {
            biometryStops(uid)
        }
    }

    /// Whether the write counts a password before its check.
    private func isAttempt(_ save: SaveID, _ uid: UInt32, _ engine: AuthEngine) -> Bool {
        guard let attempt = engine.attempts[uid], let pending = engine.saves[save] else {
            return false
        }
        return !attempt.isAsked && pending.evaluation == attempt.evaluation
            && pending.consequence == nil
    }

    private func stopped(by uid: UInt32, _ engine: AuthEngine, _ save: SaveID) -> EvaluationID? {
        let id = engine.saves[save]?.evaluation
        return id.flatMap { live[$0]?.request.uid == uid ? $0 : nil }
    }

    private mutating func seeReply(
        _ id: EvaluationID,
        _ outcome: Outcome,
        _ event: Event,
        _ write: Write?,
        _ engine: AuthEngine
    ) {
        guard let known = live.removeValue(forKey: id) else {
            complain("a second answer, or one to nobody: \(id)")
            return
        }
        if known.isBegun, !known.isEnded { complain("\(id) is answered, its prompt is up") }
        let running = known.operations.keys.filter { $0 != ended(by: event) }
        if !running.isEmpty { complain("\(id) is answered, its sensors run") }
        if known.isVerifying, !known.isPasscodeCorrect { late.insert(id) }
        let unwritten = writes.values.filter { $0.uid == known.request.uid }
        switch outcome {
        case .granted(let grant):
            outcomes[0, default: 0] += 1
            seeGrant(id, grant, known, write, engine)
        case .refused(let refusal):
            outcomes[Int(refusal.code.rawValue), default: 0] += 1
            // Only the last wrong password justifies this refusal; a miss that is not yet written
            // does not.
            let own = unwritten.contains { $0.evaluation == id } && write?.kind != .wrongPasscode
            // A wrong app password reveals no unwritten record.
            let isPassword = if case .passwordTried = event { true } else { false }
            if refusal.code == .authenticationFailed, own, !isPassword {
                complain("\(id) is told too early")
            }
            if refusal.code == .biometryLockout, !unwritten.isEmpty {
                complain("a lockout is told before it is written: \(id)")
            }
            if refusal.code == .userFallback, !known.request.offersFallback {
                complain("\(id) fell back without a button")
            }
        }
    }

    var lifetime = Settings().contextLifetime
    var confirmation = Settings.Confirmation.automatic
    /// Whether limits were lowered, so that earlier counts may exceed them.
    var isReconfigured = false

    /// Creates the witness for the daemon's next life after a kill.
    init(after earlier: Witness, disk: [UInt32: UserRecord]) {
        self.disk = disk
        outcomes = earlier.outcomes
        complaints = earlier.complaints
        confirmation = earlier.confirmation
        isReconfigured = earlier.isReconfigured
        stages.seen = earlier.stages.seen
    }

    init() {}
}
