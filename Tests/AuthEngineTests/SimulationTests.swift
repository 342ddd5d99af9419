import Glibc
import Testing

@testable import AuthEngine

/// A generator that can be started again from the same number.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite("A long random life")
struct SimulationTests {
    @Test("In a hundred thousand random steps every promise is kept")
    func live() {
        let chosen = getenv("LA_SEED").flatMap { UInt64(String(cString: $0)) }
        let seed = chosen ?? UInt64.random(in: 0...UInt64.max)
        print("LA_SEED=\(seed)")
        var world = World(seed: seed)
        for number in 0..<100_000 {
            world.live()
            guard world.witness.complaints.isEmpty else {
                let last = world.last.joined(separator: "\n")
                Issue.record(
                    "LA_SEED=\(seed), step \(number): \(world.witness.complaints) after\n\(last)"
                )
                return
            }
        }
        let outcomes = world.witness.outcomes.sorted { $0.key < $1.key }
        print("outcomes by code (0: granted):", outcomes.map { "\($0.key): \($0.value)" })
        for code in [0, -1, -2, -3, -4, -6, -7, -8, -9, -10, -11, -1004, 1] {
            #expect(world.witness.outcomes[code] != nil, "no \(code) in a long life")
        }
        world.takeStep(.stopping)
        #expect(world.witness.complaints.isEmpty)
        #expect(world.engine.evaluations.isEmpty)
        #expect(world.engine.nextDeadline == nil)
    }
}

/// Apps, people, sensors, agents and a disk, all of them unreliable.
private struct World {
    var random: SplitMix
    var engine = AuthEngine()
    var witness = Witness()
    var now = Instant(nanoseconds: 0)
    var lastEvaluation: UInt64 = 0
    /// The last steps, for the report.
    var last: [String] = []

    static let users: [UInt32] = [1000, 2000]
    static let sessions = ["a", "b"]

    init(seed: UInt64) {
        random = SplitMix(state: seed)
    }

    mutating func live() {
        let event = next()
        takeStep(event)
    }

    mutating func takeStep(_ event: Event) {
        let effects = engine.step(event, at: now)
        if last.count >= 40 { last.removeFirst() }
        last.append("\(event)\n    -> \(effects)")
        witness.see(event, effects, engine)
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    private mutating func one<Element>(of choices: [Element]) -> Element? {
        choices.randomElement(using: &random)
    }

    private mutating func next() -> Event {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<14: return .requested(request())
        case 14..<30:
            guard let save = engine.saves.keys.min(by: { $0.rawValue < $1.rawValue }) else {
                return likely()
            }
            return chance(95) ? .saved(save) : .saveFailed(save)
        case 30..<36:
            let rest = Duration.milliseconds(Int.random(in: 0..<8000, using: &random))
            now = chance(2) ? now + .seconds(1000) : now + rest
            return .timePassed
        case 36..<42: return agentEvent()
        case 42..<45: return rare()
        case 45..<50: return unlikely()
        default: return likely()
        }
    }

    private mutating func request() -> Request {
        lastEvaluation += 1
        let client = UInt64.random(in: 0..<4, using: &random)
        let uid = World.users[Int(client) % 2]
        var request = Request(
            id: EvaluationID(lastEvaluation),
            client: ClientID(client),
            uid: uid,
            policy: one(of: Policy.allCases) ?? .biometrics
        )
        if chance(40) {
            request.context = ContextID(client * 2 + (chance(50) ? 1 : 0))
        } else if chance(5) {
            request.isUnlock = true
        }
        if chance(20) {
            request.timeout = .milliseconds(Int.random(in: 0..<5000, using: &random))
        }
        request.offersFallback = chance(80)
        request.isInteractionNotAllowed = chance(5)
        if chance(10) { request.minimumStrength = one(of: Strength.allCases) }
        if chance(10) { request.sensors = ["finger", "webcam"] }
        if chance(30) { request.requiresConfirmation = chance(50) }
        return request
    }

    private mutating func facts(of id: EvaluationID) -> Facts {
        var sensors: [SensorFact] = []
        for sensor in [SensorFact.finger, .face, .webcam, .key] where chance(70) {
            var sensor = sensor
            if chance(5) { sensor.availability = chance(50) ? .away : .unavailable }
            if chance(15) { sensor.templates = 0 }
            sensors.append(sensor)
        }
        let client = engine.evaluations[id]?.request.client.rawValue ?? 0
        let home = World.sessions[Int(client / 2) % 2]
        return Facts(
            sensors: sensors,
            isPasscodeSet: chance(95),
            session: chance(97) ? (chance(95) ? home : one(of: World.sessions)) : nil,
            processes: chance(10) ? [100] : []
        )
    }

    /// What one of the running evaluations waits for.
    private mutating func likely() -> Event {
        let ids = engine.ids { $0.stage != .waiting && $0.held == nil }
        guard let id = one(of: ids), let evaluation = engine.evaluations[id] else {
            return .timePassed
        }
        switch evaluation.stage {
        case .lookingUp: return .lookedUp(id, facts(of: id))
        case .beginning: return chance(95) ? .promptBegan(id) : .promptFailed(id)
        case .waiting, .showing: break
        }
        if evaluation.passcode == .verifying, chance(50) { return .passcodeVerified(id, verdict()) }
        if let operation = one(of: evaluation.operations)?.id, chance(70) {
            return sensorEvent(operation)
        }
        if evaluation.candidate != nil, chance(60) { return .confirmed(id) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return .canceled(id)
        case 1, 2: return .fellBack(id)
        case 3: return .confirmed(id)
        default: return .passcodeOffered(id)
        }
    }

    private mutating func verdict() -> PasscodeVerdict {
        chance(60) ? .wrong : chance(75) ? .correct : .failed
    }

    private mutating func sensorEvent(_ operation: OperationID) -> Event {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: .sensorReady(operation)
        case 1: .sensorHinted(operation, "hold-still")
        case 2: .sensorEnded(operation)
        case 3, 4: .sensorMatched(operation, template: "t")
        default: .sensorMismatched(operation)
        }
    }

    private mutating func agentEvent() -> Event {
        let number = UInt64.random(in: 0..<7, using: &random)
        let isThere = engine.agents.contains { $0.id == AgentID(number) }
        if isThere { return chance(20) ? .agentGone(AgentID(number)) : .timePassed }
        let kind: Agent.Kind = number == 6 ? .process(100) : number > 3 ? .fallback : .normal
        let agent = Agent(
            id: AgentID(number),
            client: ClientID(100 + number),
            uid: World.users[Int(number) % 2],
            session: World.sessions[Int(number / 2) % 2],
            kind: kind
        )
        return .agentRegistered(agent)
    }

    private mutating func rare() -> Event {
        let client = UInt64.random(in: 0..<4, using: &random)
        let context = ContextID(client * 2 + (chance(50) ? 1 : 0))
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1: return .invalidated(context)
        case 2, 3: return .released(context)
        case 4: return .oneShotsInvalidated(ClientID(client))
        case 5: return .clientGone(ClientID(client))
        case 6: return .enrolmentChanged(uid: World.users[Int(client) % 2])
        case 7: return .passcodeRequired(uid: World.users[Int(client) % 2], cause: "remote")
        default: return .lookUpFailed(EvaluationID(lastEvaluation))
        }
    }

    /// Anything, about anybody: too late, too early, twice, or about nothing at all.
    private mutating func unlikely() -> Event {
        let far = lastEvaluation > 20 ? lastEvaluation - 20 : 0
        let id = EvaluationID(UInt64.random(in: far...lastEvaluation + 1, using: &random))
        let last = engine.lastOperation
        let operation = OperationID(
            rawValue: UInt64.random(in: (last > 6 ? last - 6 : 0)...last + 1, using: &random)
        )
        switch Int.random(in: 0..<11, using: &random) {
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
        default: return sensorEvent(operation)
        }
    }
}
