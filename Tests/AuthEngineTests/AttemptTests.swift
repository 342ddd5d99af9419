import AuthEngine
import Contract
import Testing

@Suite("Attempts and lockout")
struct AttemptTests {
    @Test("R1: Three misses of a finger end policy 1 with -1")
    func threeNonMatches() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometrics)
        desk.scan(matching: false)
        desk.scan(matching: false)
        #expect(desk.isPending(id))
        desk.scan(matching: false)
        #expect(desk.refusal(id) == .authenticationFailed)
        #expect(desk.end(id) == .failed)
        let left = desk.progress(id)
            .compactMap { progress in
                if case .miss(attemptsLeft: let left) = progress { left } else { nil }
            }
        #expect(left == [2, 1, 0])
        #expect(desk.operations.isEmpty)
    }

    @Test("R1: A finger may miss twice and then match")
    func matchAfterTwo() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometrics)
        desk.scan(matching: false)
        desk.scan(matching: false)
        desk.scan(matching: true)
        #expect(desk.grant(id)?.mechanism == .biometry)
        #expect(desk.grant(id)?.sensor == "finger")
        #expect(desk.progress(id).last == .success)
        #expect(desk.end(id) == .success)
    }

    @Test("R2: A face stops after two misses, and the second brings the fallback button")
    func faceStops() {
        var desk = EngineHarness(.face)
        let id = desk.evaluate(.biometrics)
        desk.scan("face", matching: false)
        #expect(!desk.progress(id).contains(.fallbackAvailable))
        desk.scan("face", matching: false)
        #expect(desk.progress(id).contains(.fallbackAvailable))
        #expect(desk.operations.isEmpty)
        #expect(desk.isPending(id))
    }

    @Test("R2: A finger's first miss brings the fallback button, once")
    func fallbackOfAFinger() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometrics)
        #expect(!desk.engine.offersFallback(id))
        desk.send(.fellBack(id))
        #expect(desk.isPending(id))
        desk.scan(matching: false)
        #expect(desk.engine.offersFallback(id))
        desk.scan(matching: false)
        #expect(desk.progress(id).count { $0 == .fallbackAvailable } == 1)
    }

    @Test("R2: The administrator sets the attempts; an iris counts like a face")
    func attemptsOfModalities() {
        var settings = Settings()
        settings.lockoutAttempts = 20
        let iris = SensorFact.sensor("iris", .iris)
        let rows = [
            (SensorFact.finger, 4, 1), (.face, 3, 2), (iris, 3, 2), (.finger, 1, 1), (.face, 1, 1),
        ]
        for (sensor, attempts, fallback) in rows {
            let isFinger = sensor.type == .fingerprint
            settings.fingerprintAttempts = isFinger ? attempts : 9
            settings.faceAttempts = isFinger ? 9 : attempts
            var desk = EngineHarness(sensor, settings: settings)
            let id = desk.evaluate(.biometrics)
            for number in 1...attempts {
                #expect(desk.operations.count == 1)
                desk.scan(sensor.name, matching: false)
                #expect(desk.progress(id).contains(.fallbackAvailable) == (number >= fallback))
            }
            #expect(desk.operations.isEmpty)
        }
    }

    @Test("R2: A face with a single attempt brings the fallback button while a finger continues")
    func faceWithOneScan() {
        var settings = Settings()
        settings.faceAttempts = 1
        var desk = EngineHarness(.face, .finger, settings: settings)
        let id = desk.evaluate(.biometrics)
        desk.scan("face", matching: false)
        #expect(desk.progress(id).contains(.fallbackAvailable))
        #expect(desk.operations.count == 1)
        desk.scan(matching: true)
        #expect(desk.grant(id)?.sensor == "finger")
    }

    @Test("R3: Five consecutive misses lock biometry, across prompts and apps")
    func lockout() {
        var desk = EngineHarness(.finger)
        desk.fail(3)
        #expect(desk.available(.biometrics) == nil)
        let id = desk.evaluate(.biometrics, client: EngineHarness.other)
        desk.scan(matching: false)
        #expect(desk.isPending(id))
        desk.scan(matching: false)
        #expect(desk.refusal(id) == .biometryLockout)
        #expect(desk.end(id) == .lockout)
        #expect(desk.available(.biometrics) == .biometryLockout)
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 5)
    }

    @Test("R3: A miss in root's evaluation of a user counts like any other")
    func unlockMisses() {
        var desk = EngineHarness(.finger)
        desk.fail(4)
        let unlock = desk.evaluate(.biometrics) { $0.isUnlock = true }
        desk.scan(matching: false)
        #expect(desk.refusal(unlock) == .biometryLockout)
        let next = desk.evaluate(.biometrics) { $0.isUnlock = true }
        #expect(desk.refusal(next) == .biometryLockout)
        #expect(desk.available(.biometrics) == .biometryLockout)
    }

    @Test("R3: A success resets the count")
    func successResets() {
        var desk = EngineHarness(.finger)
        desk.fail(2)
        desk.evaluate(.biometrics)
        desk.scan(matching: true)
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 0)
        desk.fail(4)
        #expect(desk.available(.biometrics) == nil)
        desk.fail(1)
        #expect(desk.available(.biometrics) == .biometryLockout)
    }

    @Test("R3: The lockout also stops the user's biometry in another session")
    func lockoutElsewhere() {
        var desk = EngineHarness(.finger)
        desk.register(AgentID(2), session: "other")
        desk.fail(3)
        desk.facts.session = "other"
        let waiting = desk.evaluate(.biometrics, client: EngineHarness.other)
        desk.facts.session = EngineHarness.session
        let locking = desk.evaluate(.biometrics)
        desk.scan(matching: false)
        desk.scan(matching: false)
        #expect(desk.refusal(locking) == .biometryLockout)
        #expect(desk.refusal(waiting) == .biometryLockout)
        #expect(desk.operations.isEmpty)
    }

    @Test("R3: Another user's misses do not count")
    func otherUser() {
        var desk = EngineHarness(.finger)
        desk.register(AgentID(2), uid: 2000)
        desk.fail(4)
        let id = desk.evaluate(.biometrics, uid: 2000)
        desk.scan(matching: false)
        desk.send(.canceled(id))
        #expect(desk.engine.records[2000]?.misses == 1)
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 4)
        #expect(desk.available(.biometrics) == nil)
    }

    @Test("R4: During a lockout, policy 1 is refused at once without a prompt")
    func lockedPolicyOne() {
        var desk = EngineHarness(.finger)
        desk.fail(5)
        let prompts = desk.prompts
        let id = desk.evaluate(.biometrics)
        #expect(desk.refusal(id) == .biometryLockout)
        #expect(desk.message(id).contains("too many failed attempts"))
        #expect(desk.prompts == prompts)
    }

    @Test("R4: During a lockout, policy 2 asks for the password at once")
    func lockedPolicyTwo() {
        var desk = EngineHarness(.finger)
        desk.fail(5)
        #expect(desk.available(.biometricsOrPasscode) == nil)
        let id = desk.evaluate(.biometricsOrPasscode)
        #expect(desk.presentation(id)?.stage == .passcode)
        #expect(desk.progress(id).last == .passcodeRequired(cause: PasscodeCause(.lockout)))
        #expect(desk.operations.isEmpty)
    }

    @Test("R5: A correct password clears the lockout, a wrong password does not")
    func passcodeUnlocks() {
        var desk = EngineHarness(.finger)
        desk.fail(5)
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.passcode(id, .wrong)
        #expect(desk.available(.biometrics) == .biometryLockout)
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
        #expect(desk.available(.biometrics) == nil)
    }

    @Test("R5: The password at the lock screen clears the lockout, a finger does not")
    func unlockScreen() {
        var desk = EngineHarness(.finger)
        desk.fail(5)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        #expect(desk.available(.biometrics) == .biometryLockout)
        desk.send(.unlocked(uid: 2000, byPasscode: true))
        #expect(desk.available(.biometrics) == .biometryLockout)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        #expect(desk.available(.biometrics) == nil)
        desk.fail(4)
        #expect(desk.available(.biometrics) == nil, "the count began anew")
    }

    @Test("R8: A canceled scan or a fault is no miss")
    func faultsDoNotCount() {
        var desk = EngineHarness(.finger)
        desk.fail(4)
        for kind in [nil] + SensorFailure.allCases.map(Optional.some) {
            let faulty = desk.evaluate(.biometrics)
            desk.fault(because: kind.map { SensorFault($0, "It can't look.") })
            #expect(desk.refusal(faulty) == .biometryNotAvailable)
            let canceled = desk.evaluate(.biometrics)
            desk.send(.canceled(canceled))
        }
        #expect(desk.available(.biometrics) == nil)
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 4)
    }

    @Test("L17: A miss is written before it is reported")
    func writtenFirst() {
        var desk = EngineHarness(.finger)
        desk.fail(4)
        desk.writes = false
        let id = desk.evaluate(.biometrics)
        let told = desk.scan(matching: false)
        #expect(told.contains { if case .save = $0 { true } else { false } })
        #expect(desk.progress(id) == [.promptShown])
        #expect(desk.operations.isEmpty, "the sensor stops before the write ends")
        desk.write()
        #expect(desk.progress(id).contains(.miss(attemptsLeft: 0)))
        #expect(desk.refusal(id) == .biometryLockout)
    }

    @Test("L17: A lockout that is not yet written is reported to no other caller")
    func writtenBeforeOthers() {
        var desk = EngineHarness(.finger)
        desk.fail(4)
        desk.writes = false
        desk.evaluate(.biometrics)
        desk.scan(matching: false)
        let other = desk.evaluate(.biometrics, client: EngineHarness.other)
        #expect(desk.isPending(other))
        desk.write()
        #expect(desk.refusal(other) == .biometryLockout)
    }

    @Test("L17: A success whose write fails is refused, and the counter stays")
    func failedWrite() {
        var desk = EngineHarness(.finger)
        desk.fail(4)
        desk.writes = false
        let id = desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        #expect(desk.isPending(id))
        desk.failToWrite()
        #expect(desk.refusal(id) == .systemCancel)
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 4)
        let again = desk.evaluate(.biometrics, context: EngineHarness.context)
        #expect(desk.isPending(again), "nothing stayed with the context")
    }

    @Test("L17: A miss whose write fails ends the evaluation and still counts")
    func failedCount() {
        var desk = EngineHarness(.finger)
        desk.writes = false
        let id = desk.evaluate(.biometrics)
        desk.scan(matching: false)
        desk.failToWrite()
        #expect(desk.refusal(id) == .systemCancel)
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 1)
        #expect(!desk.progress(id).contains(.miss(attemptsLeft: 2)))
    }

    /// The answers to the sensor, in order.
    private func answers(_ effects: [Effect]) -> [MissAnswer] {
        effects.compactMap {
            if case .answerMiss(_, _, let answer) = $0 { answer } else { nil }
        }
    }

    @Test("L20: The sensor gets its answer after the write, with the attempts left")
    func answered() {
        var desk = EngineHarness(.finger)
        desk.writes = false
        desk.evaluate(.biometrics)
        #expect(answers(desk.scan(matching: false)).isEmpty)
        desk.write()
        #expect(answers(desk.effects) == [.counted(attemptsLeft: 2)])
        desk.scan(matching: false)
        desk.failToWrite()
        #expect(answers(desk.effects).last == .notWritten)
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 2, "it counts all the same")
    }

    @Test("L20: The last attempt is answered with 0, after the sensor was canceled")
    func last() throws {
        var desk = EngineHarness(.finger)
        desk.evaluate(.biometrics)
        for _ in 0..<2 { desk.scan(matching: false) }
        let operation = try #require(desk.operations.first?.id)
        let last = desk.scan(matching: false)
        let canceled = try #require(last.firstIndex(of: .cancelSensor(operation)))
        let answered = last.firstIndex {
            if case .answerMiss = $0 { true } else { false }
        }
        #expect(try canceled < #require(answered))
        let left = [2, 1, 0].map { MissAnswer.counted(attemptsLeft: $0) }
        #expect(answers(desk.effects) == left)
        #expect(desk.operations.isEmpty)
    }

    @Test("L20: A repeated attempt number counts once, and a skipped number is refused")
    func numbers() throws {
        var desk = EngineHarness(.finger)
        desk.writes = false
        desk.evaluate(.biometrics)
        let operation = try #require(desk.operations.first?.id)
        for attempt: UInt32 in [0, 2, 7, .max] {
            #expect(
                answers(desk.send(.sensorMissed(operation, attempt: attempt))) == [.refused]
            )
        }
        desk.send(.sensorMissed(operation, attempt: 1))
        #expect(desk.send(.sensorMissed(operation, attempt: 1)).isEmpty, "one answer for both")
        desk.write()
        #expect(answers(desk.effects).last == .counted(attemptsLeft: 2))
        let again = desk.send(.sensorMissed(operation, attempt: 1))
        #expect(answers(again) == [.counted(attemptsLeft: 2)] && again.count == 1)
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 1)
        desk.send(.sensorMissed(operation, attempt: 2))
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 2)
    }

    @Test("L20: A miss after a cancel or another sensor's match does not count")
    func tooLate() throws {
        var desk = EngineHarness(.finger, .webcam)
        let id = desk.evaluate(.biometrics)
        let operations = desk.operations.map(\.id)
        desk.send(.canceled(id))
        for operation in operations {
            #expect(answers(desk.send(.sensorMissed(operation, attempt: 1))) == [.refused])
        }
        desk.evaluate(.biometrics)
        let loser = try #require(desk.operations.first { $0.sensor == "webcam" }?.id)
        desk.scan(matching: true)
        #expect(answers(desk.send(.sensorMissed(loser, attempt: 1))) == [.refused])
        #expect(desk.engine.records[EngineHarness.uid]?.misses ?? 0 == 0)
    }
}
