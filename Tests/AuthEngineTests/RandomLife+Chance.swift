import Contract

@testable import AuthEngine

/// Chooses the next event at random.
extension RandomLife {
    mutating func live() {
        if hasItems, chance(25) { return disturbItems() }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<13: take(.requested(request()))
        case 13..<30:
            if unwritten.isEmpty { take(likely()) } else { settle(isWritten: chance(100 - faults)) }
        case 30..<35: passTime()
        case 35..<41: take(agentEvent())
        case 41..<45: take(rare())
        case 45..<49: take(unlikely())
        case 49..<54: disturb()
        default: take(likely())
        }
    }

    // MARK: Time

    private mutating func passTime() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: now = now + .seconds(Int.random(in: 0..<4000, using: &random))
        case 1: now = now + .seconds(Int.random(in: 0..<800_000, using: &random))
        case 2..<5: passToEdge()
        default: now = now + .milliseconds(Int.random(in: 0..<8000, using: &random))
        }
        take(.timePassed)
    }

    /// Moves to a time around which a rule changes.
    private mutating func passToEdge() {
        guard let uid = one(of: RandomLife.users) else { return }
        let book = ledger.book(of: uid)
        let unlock = book.lastBiometricUnlock ?? book.lastPasscode ?? ledger.since
        let passcode = book.lastPasscode ?? ledger.since
        var edges = [unlock + settings.withoutBiometry, unlock + settings.longestReuse]
        if let limit = settings.passcodeAfter { edges.append(max(unlock, passcode) + limit) }
        if let limit = settings.passcodeAfterWithBiometry { edges.append(passcode + limit) }
        if let end = book.delayedUntil { edges.append(end) }
        if let next = engine.nextDeadline { edges.append(next) }
        guard let edge = one(of: edges) else { return }
        let off = one(of: [-1, 0, 1, -2_000_000_000, -20_000_000_000]) ?? 0
        now = max(now, edge + .nanoseconds(off))
    }

    // MARK: Faults

    private mutating func disturb() {
        let session = one(of: RandomLife.sessions) ?? "a"
        let uid = one(of: RandomLife.users) ?? 1000
        switch Int.random(in: 0..<40, using: &random) {
        case 0..<5: crashSensor(one(of: RandomLife.sensors)?.name ?? "finger")
        case 5..<9: crashedSensors = []
        case 9: crashVerifier()
        case 10..<13: isVerifierGone = false
        case 13, 14: take(.clientGone(ClientID(100 + UInt64.random(in: 0..<7, using: &random))))
        case 15, 16: take(.clientGone(ClientID(UInt64.random(in: 0..<4, using: &random))))
        case 17..<20: kill()
        case 20: kill(isBoot: true)
        case 21, 22: suspend()
        case 23: lock(session)
        case 24: take(.interrupted(session: session, .left))
        case 25..<28: lockedSessions = []
        case 28: take(.loggedOut(uid: uid))
        case 29: reload()
        case 30: requirePasscode(uid)
        case 31: take(.sessionEnded(session: session))
        default: take(.unlocked(uid: uid, byPasscode: chance(50)))
        }
    }

    private mutating func lock(_ session: String) {
        lockedSessions.insert(session)
        take(.interrupted(session: session, .locked))
    }

    // MARK: People and programs

    mutating func request() -> Request {
        lastEvaluation += 1
        let client = UInt64.random(in: 0..<4, using: &random)
        let uid = RandomLife.users[Int(client) % 2]
        var request = Request(
            id: EvaluationID(lastEvaluation),
            client: ClientID(client),
            uid: uid,
            policy: one(of: Policy.allCases + [.biometrics, .biometricsOrPasscode]) ?? .biometrics
        )
        if chance(40) {
            request.context = ContextID(client * 2 + (chance(50) ? 1 : 0))
        } else if chance(15) {
            request.isUnlock = true
            request.isForLockScreen = chance(80)
        }
        if chance(20) {
            request.timeout = .milliseconds(Int.random(in: 0..<5000, using: &random))
        }
        request.offersFallback = chance(80)
        request.isInteractionNotAllowed = chance(5)
        if chance(10) { request.minimumStrength = one(of: Strength.allCases) }
        if chance(10) { request.sensors = ["finger", "webcam"] }
        if chance(30) { request.requiresConfirmation = chance(50) }
        if chance(30) { request.reuseDuration = .seconds(one(of: [5, 299, 3600]) ?? 0) }
        return forItem(request)
    }

    private mutating func facts(of id: EvaluationID) -> Facts {
        var sensors: [SensorFact] = []
        for sensor in RandomLife.sensors where chance(70) {
            var sensor = sensor
            if crashedSensors.contains(sensor.name) { sensor.availability = .unavailable }
            if chance(5) { sensor.availability = chance(50) ? .away : .unavailable }
            if chance(15) { sensor.templates = 0 }
            sensors.append(sensor)
        }
        let request = engine.evaluations[id]?.request
        let client = request?.client.rawValue ?? 0
        let home = RandomLife.sessions[Int(client / 2) % 2]
        var session = chance(97) ? (chance(95) ? home : one(of: RandomLife.sessions)) : nil
        if let place = session, lockedSessions.contains(place), request?.isForLockScreen != true {
            session = nil
        }
        return Facts(
            sensors: sensors,
            passcode: isVerifierGone
                ? .unknown : (chance(95) && !isPasscodeRemoved ? .set : .missing),
            session: session,
            processes: chance(10) ? [100] : []
        )
    }

    /// Returns an event that a running evaluation waits for.
    private mutating func likely() -> Event {
        if let id = one(of: asked), engine.attempts.values.contains(where: { !$0.isAwaited }),
            chance(30)
        {
            return .passcodeVerified(id, verdict())
        }
        let ids = engine.ids { !$0.isWaiting && $0.heldFacts == nil }
        guard let id = one(of: ids), let evaluation = engine.evaluations[id] else {
            return .requested(request())
        }
        switch evaluation.phase {
        case .lookingUp: return .lookedUp(id, facts(of: id))
        case .beginning: return chance(95) ? .promptBegan(id) : .promptFailed(id)
        case .held, .waiting, .showing: break
        }
        if evaluation.channel == .trying, chance(60) {
            return .passwordTried(id, passwordVerdict())
        }
        if evaluation.isBeingChecked, chance(60) { return .passcodeVerified(id, verdict()) }
        if let operation = one(of: evaluation.operations)?.id, chance(70) {
            return sensorEvent(operation)
        }
        if engine.awaitsConfirmation(id), chance(60) { return .confirmed(id) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return chance(80) ? .canceled(id) : .revalidationFailed(id, .templateRemoved)
        case 1, 2: return .fellBack(id)
        case 3: return .confirmed(id)
        default: return typed(id)
        }
    }

    private mutating func verdict() -> PasscodeVerdict {
        if isVerifierGone || isPasscodeRemoved { return .failed }
        return chance(rightPasscodes)
            ? .correct
            : chance(90) ? .wrong : chance(80) ? .failed : .lost
    }

    private mutating func sensorEvent(_ operation: OperationID) -> Event {
        switch Int.random(in: 0..<11, using: &random) {
        case 0: .sensorReady(operation)
        case 10: .sensorBusy(operation, by: "zoom")
        case 1: .sensorHinted(operation, "hold-still")
        case 2: chance(80) ? .sensorEnded(operation) : .templateRemoved(operation)
        case 3, 4: .sensorMatched(operation, template: "t")
        default: mismatch(of: operation)
        }
    }

    /// Returns a miss.
    ///
    /// Some sensors repeat or skip numbers, or name another operation.
    private mutating func mismatch(of operation: OperationID) -> Event {
        let running = engine.evaluations.values.flatMap(\.operations)
        let next = (running.first { $0.id == operation }?.attempts ?? 0) + 1
        guard chance(20) else { return .sensorMissed(operation, attempt: next) }
        let others = operation.rawValue - min(operation.rawValue, 2)...operation.rawValue
        let other = OperationID(
            rawValue: chance(60) ? operation.rawValue : others.randomElement(using: &random) ?? 0
        )
        return .sensorMissed(other, attempt: UInt32.random(in: 0...next + 1, using: &random))
    }

    private mutating func agentEvent() -> Event {
        let number = UInt64.random(in: 0..<7, using: &random)
        let isThere = engine.agents.contains { $0.id == AgentID(number) }
        if isThere { return chance(10) ? .agentGone(AgentID(number)) : likely() }
        return .agentRegistered(agent(number))
    }

    /// Registers most agents again after a restart.
    mutating func registerAgents() {
        for number in UInt64(0)..<4 where chance(80) { take(.agentRegistered(agent(number))) }
    }

    private func agent(_ number: UInt64) -> Agent {
        let kind: Agent.Kind = number == 6 ? .process(100) : number > 3 ? .fallback : .normal
        return Agent(
            id: AgentID(number),
            client: ClientID(100 + number),
            uid: RandomLife.users[Int(number) % 2],
            session: RandomLife.sessions[Int(number / 2) % 2],
            kind: kind
        )
    }

    private mutating func rare() -> Event {
        let client = UInt64.random(in: 0..<4, using: &random)
        let context = ContextID(client * 2 + (chance(50) ? 1 : 0))
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: return .invalidated(context)
        case 2, 3: return .released(context)
        case 4: return .oneShotsInvalidated(ClientID(client))
        case 5: return .clientGone(ClientID(client))
        case 6: return .enrolmentChanged(uid: RandomLife.users[Int(client) % 2])
        default: return .lookUpFailed(EvaluationID(lastEvaluation))
        }
    }

    /// Returns an event that may be late, early, repeated, or about an unknown object.
    private mutating func unlikely() -> Event {
        let far = lastEvaluation > 20 ? lastEvaluation - 20 : 0
        let id = EvaluationID(UInt64.random(in: far...lastEvaluation + 1, using: &random))
        let last = engine.lastOperation
        let operation = OperationID(
            rawValue: UInt64.random(in: (last > 6 ? last - 6 : 0)...last + 1, using: &random)
        )
        switch Int.random(in: 0..<13, using: &random) {
        case 0: return .lookedUp(id, facts(of: id))
        case 1: return .lookUpFailed(id)
        case 2: return .promptBegan(id)
        case 3: return .promptFailed(id)
        case 4: return .canceled(id)
        case 5: return .fellBack(id)
        case 6: return .confirmed(id)
        case 7: return .passcodeOffered(id)
        case 8: return .passcodeVerified(id, verdict())
        case 9: return .saved(SaveID(rawValue: engine.lastSave + 1))
        case 10: return .passwordOffered(id)
        case 11: return .revalidationFailed(id, .loginManagerSilent)
        default: return sensorEvent(operation)
        }
    }
}
