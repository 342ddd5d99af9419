import Contract
import TestSupport

@testable import AuthEngine

/// An engine among unreliable apps, people, sensors, agents, a verifier, sessions, a disk and a
/// machine.
///
/// Equal seeds give equal lives.
struct RandomLife {
    /// A write without a reply from the store.
    struct Write {
        var save: SaveID
        var uid: UInt32
        var record: UserRecord
    }

    var random: SeededGenerator
    /// The engine and its history.
    private(set) var recording = Recording()
    var engine: AuthEngine { recording.engine }
    var witness = Witness()
    var ledger: ExpectedRecords
    var misses = MissChecker()
    var now: Instant
    var settings = Settings()
    let isSystemBus: Bool
    /// Whether apps use guarded items.
    ///
    /// A life without items draws no additional random numbers.
    let hasItems: Bool

    var disk: [UInt32: UserRecord] = [:]
    var unwritten: [Write] = []
    /// Calls of RequirePasscode that wait for a write.
    var promises: [SaveID: UInt32] = [:]
    var lastEvaluation: UInt64 = 0
    var crashedSensors: Set<String> = []
    var isVerifierGone = false
    var isPasscodeRemoved = false
    var lockedSessions: Set<String> = []

    /// The percentages of failing writes and right passwords.
    let faults: Int
    let rightPasscodes: Int

    private var last: [(Instant, Event?, [Effect])] = []

    static let users: [UInt32] = [1000, 2000]
    static let sessions = ["a", "b"]
    static let sensors = [SensorFact.finger, .face, .webcam, .key]

    init(seed: UInt64, hasItems: Bool = false) {
        self.hasItems = hasItems
        var random = SeededGenerator(seed)
        isSystemBus = Int.random(in: 0..<3, using: &random) > 0
        faults = [0, 0, 3, 20].randomElement(using: &random) ?? 0
        rightPasscodes = [5, 50, 80].randomElement(using: &random) ?? 50
        now = Instant(nanoseconds: Int64.random(in: 0..<100_000_000_000, using: &random))
        self.random = random
        settings.passcodeAfterBoot = isSystemBus
        let since = isSystemBus ? Instant(nanoseconds: 0) : now
        recording.start(settings, [:], since: since)
        ledger = ExpectedRecords(since: since)
        registerAgents()
    }

    /// Violations found so far.
    var complaints: [String] { witness.complaints + ledger.complaints + misses.complaints }

    /// The last steps, for the report.
    var story: String {
        last.map { now, event, effects in
            let what = event.map { "\($0)" } ?? "the daemon is killed"
            return "\(now.nanoseconds) \(what)\n    -> \(effects)"
        }
        .joined(separator: "\n")
    }

    // MARK: Steps

    /// Takes an event, after a separate step for deadlines that have passed.
    mutating func take(_ event: Event) {
        if engine.now < now, !event.isOfTime { step(.timePassed) }
        step(event)
    }

    private mutating func step(_ event: Event) {
        let effects = recording.take(event, at: now)
        note(event, effects)
        for case .save(let save, let uid, let record) in effects {
            unwritten.append(Write(save: save, uid: uid, record: record))
        }
        let event = misses.see(event, effects)
        ledger.see(event, effects, engine)
        // The witness knows no crashes, so the ledger provides the age of unlocks.
        witness.unlocks = ledger.books.compactMapValues(\.lastBiometricUnlock)
        witness.see(event, effects, engine)
    }

    private mutating func note(_ event: Event?, _ effects: [Effect]) {
        guard complaints.isEmpty else { return }
        if last.count >= 40 { last.removeFirst() }
        last.append((now, event, effects))
    }

    /// Completes the oldest write.
    mutating func settle(isWritten: Bool) {
        guard !unwritten.isEmpty else { return }
        let write = unwritten.removeFirst()
        if isWritten { disk[write.uid] = write.record }
        take(isWritten ? .saved(write.save) : .saveFailed(write.save))
        if let uid = promises.removeValue(forKey: write.save), isWritten {
            ledger.answerPasscodeRequired(uid)
        }
    }

    /// Calls RequirePasscode, which is answered after all pending writes.
    mutating func requirePasscode(_ uid: UInt32) {
        let causes = [PasscodeCause(.program), PasscodeCause(.remote), .remote("lost")]
        take(.passcodeRequired(uid: uid, cause: one(of: causes) ?? PasscodeCause(.remote)))
        if let write = unwritten.last(where: { $0.uid == uid }) {
            promises[write.save] = uid
        } else {
            ledger.answerPasscodeRequired(uid)
        }
    }

    // MARK: Crashes

    /// Kills the daemon.
    ///
    /// A random part of the pending writes reaches the disk.
    mutating func kill(isBoot: Bool = false) {
        let count = Int.random(in: 0...unwritten.count, using: &random)
        let written = unwritten.prefix(count)
        for write in written { disk[write.uid] = write.record }
        note(nil, [])
        if isBoot {
            now = Instant(nanoseconds: Int64.random(in: 0..<100_000_000_000, using: &random))
        }
        restartClocks(isBoot: isBoot)
        let since = isSystemBus ? Instant(nanoseconds: 0) : now
        recording.start(settings, disk, since: since)
        ledger.restart(
            after: written.map(\.save),
            disk,
            settings,
            at: now,
            since: since,
            isBoot: isBoot
        )
        witness = Witness(after: witness, disk: disk)
        misses = MissChecker()
        unwritten = []
        promises = [:]
        registerAgents()
    }

    /// Restarts the clocks as the store does when it opens.
    private mutating func restartClocks(isBoot: Bool) {
        for (uid, record) in disk {
            var record = record
            if let until = record.delayedUntil {
                let restarted = settings.passcodeDelay(afterWrong: record.wrongPasscodes)
                    .map { now + $0 }
                record.delayedUntil = isBoot ? restarted : restarted.map { min(until, $0) }
            }
            if isBoot {
                record.lastPasscode = nil
                record.lastBiometricUnlock = nil
            }
            disk[uid] = record
        }
    }

    mutating func crashSensor(_ name: String) {
        crashedSensors.insert(name)
        for operation in operations(of: name) { take(.sensorEnded(operation)) }
    }

    private func operations(of sensor: String) -> [OperationID] {
        engine.evaluations.values.flatMap(\.operations)
            .filter { $0.sensor.name == sensor }
            .map(\.id)
            .sorted { $0.rawValue < $1.rawValue }
    }

    /// Ends all checks without a verdict.
    mutating func crashVerifier() {
        isVerifierGone = true
        for id in asked { take(.passcodeVerified(id, .lost)) }
    }

    /// The evaluations, ended or not, whose password the verifier has.
    var asked: [EvaluationID] {
        engine.attempts.values.filter(\.isAsked).map(\.evaluation)
            .sorted { $0.rawValue < $1.rawValue }
    }

    /// Submits a password, or the app's password where the prompt asks for that.
    func typed(_ id: EvaluationID) -> Event {
        engine.takesPassword(id) ? .passwordOffered(id) : .passcodeOffered(id)
    }

    /// Submits a password, and delivers the verdict once the verifier has it.
    mutating func give(_ id: EvaluationID, _ verdict: PasscodeVerdict) {
        take(.passcodeOffered(id))
        while !unwritten.isEmpty { settle(isWritten: true) }
        take(.passcodeVerified(id, verdict))
    }

    mutating func suspend() {
        take(.suspending)
        if !engine.evaluations.isEmpty { ledger.complaints.append("evaluations go on in sleep") }
        for _ in 0..<Int.random(in: 0..<4, using: &random) {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: take(.requested(request()))
            case 1: settle(isWritten: chance(100 - faults))
            default: now = now + .seconds(Int.random(in: 0..<200_000, using: &random))
            }
        }
        take(.resumed)
    }

    /// Draws new settings.
    mutating func reload() {
        settings = Settings()
        settings.passcodeAfterBoot = chance(80) ? isSystemBus : !isSystemBus
        settings.lockoutAttempts = chance(50) ? 5 : Int.random(in: 1...20, using: &random)
        settings.fingerprintAttempts = chance(50) ? 3 : Int.random(in: 1...10, using: &random)
        settings.faceAttempts = chance(50) ? 2 : Int.random(in: 1...10, using: &random)
        settings.passcodeAttempts = chance(50) ? 5 : Int.random(in: 1...10, using: &random)
        settings.passcodeAfter = hours(48)
        settings.passcodeAfterWithBiometry = hours(156)
        settings.faceConfirmation =
            one(of: [.automatic, .automatic, .always, .never]) ?? .automatic
        settings.updatesFaceTemplates = chance(50)
        settings.queuePerSession = chance(80) ? 8 : Int.random(in: 1...8, using: &random)
        settings.pendingPerConnection = chance(80) ? 8 : Int.random(in: 1...8, using: &random)
        witness.confirmation = settings.faceConfirmation
        witness.isReconfigured = true
        take(.configured(settings))
    }

    private mutating func hours(_ usual: Int) -> Duration? {
        if chance(60) { return .seconds(usual * 3600) }
        return chance(20) ? nil : .seconds(Int.random(in: 1...720, using: &random) * 3600)
    }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    mutating func one<Element>(of choices: [Element]) -> Element? {
        choices.randomElement(using: &random)
    }
}

// MARK: - The end

extension RandomLife {
    /// Ends all faults, and expects that every user can authenticate again.
    mutating func recover() {
        take(.resumed)
        crashedSensors = []
        isVerifierGone = false
        isPasscodeRemoved = false
        lockedSessions = []
        // The evaluations end at their deadlines.
        for _ in 0..<1000 {
            while !unwritten.isEmpty { settle(isWritten: true) }
            for id in asked { take(.passcodeVerified(id, .failed)) }
            while !unwritten.isEmpty { settle(isWritten: true) }
            guard let next = engine.nextDeadline else { break }
            now = max(now, next)
            take(.timePassed)
        }
        if !engine.evaluations.isEmpty { ledger.complaints.append("evaluations never end") }
        for client in UInt64(0)..<4 { take(.clientGone(ClientID(client))) }
        for (index, uid) in RandomLife.users.enumerated() {
            let agent = Agent(
                id: AgentID(UInt64(90 + index)),
                client: ClientID(UInt64(90 + index)),
                uid: uid,
                session: "recovery",
                kind: .normal
            )
            take(.agentRegistered(agent))
            if let end = engine.delayEnd(of: uid) { now = max(now, end) }
            expectGrant(uid, .biometricsOrPasscode, RandomLife.sensors) { life, id in
                life.give(id, .correct)
            }
            for sensor in RandomLife.sensors {
                expectGrant(uid, sensor.type == .none ? .companion : .biometrics, [sensor]) {
                    life,
                    id in
                    for operation in life.engine.evaluations[id]?.operations ?? [] {
                        life.take(.sensorReady(operation.id))
                        life.take(.sensorMatched(operation.id, template: "t"))
                    }
                    life.take(.confirmed(id))
                }
            }
            if hasItems { recoverItems(of: uid) }
        }
        take(.stopping)
        while !unwritten.isEmpty { settle(isWritten: true) }
        misses.close()
        if !engine.evaluations.isEmpty { ledger.complaints.append("evaluations outlive the end") }
    }

    private mutating func expectGrant(
        _ uid: UInt32,
        _ policy: Policy,
        _ sensors: [SensorFact],
        _ prove: (inout RandomLife, EvaluationID) -> Void
    ) {
        lastEvaluation += 1
        let id = EvaluationID(lastEvaluation)
        let request = Request(id: id, client: ClientID(50), uid: uid, policy: policy)
        expectGrant(request, sensors, "\(policy)", prove)
    }

    mutating func expectGrant(
        _ request: Request,
        _ sensors: [SensorFact],
        _ name: String,
        _ prove: (inout RandomLife, EvaluationID) -> Void
    ) {
        let id = request.id
        take(.requested(request))
        let facts = Facts(sensors: sensors, passcode: .set, session: "recovery")
        take(.lookedUp(id, facts))
        while !unwritten.isEmpty { settle(isWritten: true) }
        take(.promptBegan(id))
        prove(&self, id)
        let before = witness.outcomes[0] ?? 0
        let wasPending = engine.evaluations[id] != nil
        while !unwritten.isEmpty { settle(isWritten: true) }
        let isGranted = !wasPending || witness.outcomes[0] ?? 0 > before
        if !isGranted || engine.evaluations[id] != nil {
            ledger.complaints.append("at the end \(name) of \(request.uid) does not succeed")
        }
    }
}
