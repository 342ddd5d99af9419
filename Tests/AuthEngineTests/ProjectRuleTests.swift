import AuthEngine
import Contract
import Testing

@Suite("Project rules")
struct ProjectRuleTests {
    @Test("L5: All usable sensors run at once; the first match wins and cancels the others")
    func firstMatchWins() {
        let broken = SensorFact.sensor("broken", .face, .strong, .unavailable)
        var desk = EngineHarness(
            .finger,
            .face,
            broken,
            .sensor("other", .fingerprint, templates: 0)
        )
        let id = desk.evaluate(.biometrics)
        #expect(desk.operations.map(\.sensor) == ["finger", "face"])
        let effects = desk.scan(matching: true)
        #expect(effects.contains { if case .cancelSensor = $0 { true } else { false } })
        #expect(desk.operations.isEmpty)
        #expect(desk.grant(id)?.sensor == "finger")
    }

    @Test("L5: Attempts count for each modality in the prompt and together for the lockout")
    func modalities() {
        var desk = EngineHarness(.finger, .face)
        let id = desk.evaluate(.biometrics)
        for _ in 0..<2 { desk.scan("face", matching: false) }
        #expect(desk.operations.map(\.sensor) == ["finger"])
        #expect(desk.isPending(id))
        desk.scan(matching: false)
        desk.scan(matching: false)
        #expect(desk.isPending(id))
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 3, "a face's count half")
        desk.scan(matching: false)
        #expect(desk.refusal(id) == .authenticationFailed)
        let next = desk.evaluate(.biometrics)
        desk.scan(matching: false)
        #expect(desk.refusal(next) == .biometryLockout)
    }

    @Test("L25: A busy sensor is reported, and its evaluation continues until its deadline")
    func inUse() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometrics)
        let operation = desk.operations[0].id
        let effects = desk.send(.sensorBusy(operation, by: "zoom"))
        let progress = Progress.sensorBusy(sensor: "finger", type: .fingerprint, by: "zoom")
        #expect(effects == [.tell(id, progress)])
        #expect(desk.isPending(id) && desk.operations.map(\.id) == [operation])
        #expect(desk.engine.records[EngineHarness.uid] == nil)
        desk.send(.sensorReady(operation))
        desk.scan(matching: true)
        #expect(desk.grant(id)?.sensor == "finger")
        let last = desk.evaluate(.biometrics)
        desk.send(.sensorBusy(desk.operations[0].id, by: "zoom"))
        desk.pass(.seconds(119))
        #expect(desk.isPending(last) && desk.operations.count == 1)
        desk.pass(.seconds(1))
        #expect(desk.refusal(last) == .systemCancel && desk.operations.isEmpty)
    }

    @Test("A sensor fault is reported to the prompt and repeated in the refusal")
    func fault() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometrics)
        let fault = SensorFault(.denied, "polkit says no.")
        let effects = desk.send(.sensorFailed(desk.operations[0].id, fault))
        let progress = Progress.sensorFailed(sensor: "finger", type: .fingerprint, fault)
        #expect(effects.contains(.tell(id, progress)))
        let replies = effects.compactMap { effect in
            if case .reply(id, .refused(let refusal)) = effect { refusal } else { nil }
        }
        #expect(replies.map(\.code) == [.biometryNotAvailable])
        #expect(replies.first?.message.hasSuffix("polkit says no.") == true)
    }

    @Test("L5: -1 comes when no modality has attempts left; a face last waits as in L6b")
    func lastModality() {
        var settings = Settings()
        settings.lockoutAttempts = 20
        var desk = EngineHarness(.finger, .face, settings: settings)
        let finger = desk.evaluate(.biometrics)
        for _ in 0..<2 { desk.scan("face", matching: false) }
        for _ in 0..<2 { desk.scan(matching: false) }
        #expect(desk.isPending(finger))
        desk.scan(matching: false)
        #expect(desk.refusal(finger) == .authenticationFailed)
        let face = desk.evaluate(.biometrics)
        for _ in 0..<3 { desk.scan(matching: false) }
        #expect(desk.operations.map(\.sensor) == ["face"])
        for _ in 0..<2 { desk.scan("face", matching: false) }
        #expect(desk.isPending(face) && desk.operations.isEmpty)
        desk.send(.fellBack(face))
        #expect(desk.refusal(face) == .userFallback)
    }

    @Test("L5: Two sensors of one modality share its attempts")
    func sharedAttempts() {
        var desk = EngineHarness(.finger, .sensor("second", .fingerprint))
        let id = desk.evaluate(.biometrics)
        desk.scan(matching: false)
        desk.scan("second", matching: false)
        desk.scan(matching: false)
        #expect(desk.refusal(id) == .authenticationFailed)
        #expect(desk.operations.isEmpty)
    }

    @Test("L6: Policy 2 takes a password from the start, other policies never do")
    func passcodeFromTheStart() {
        for policy in Policy.allCases {
            var desk = EngineHarness(.finger, .key)
            desk.beginsPrompts = false
            let id = desk.evaluate(policy)
            let effects = desk.passcode(id, .correct)
            if policy == .biometricsOrPasscode {
                #expect(desk.grant(id)?.mechanism == .passcode)
                desk.send(.promptBegan(id))
                #expect(desk.operations.isEmpty)
            } else {
                #expect(effects.isEmpty)
                desk.send(.promptBegan(id))
                #expect(desk.passcode(id, .correct).isEmpty)
                desk.scan(desk.operations[0].sensor, matching: false)
                #expect(desk.engine.offersFallback(id))
                #expect(desk.passcode(id, .correct).isEmpty)
                #expect(desk.isPending(id))
            }
        }
    }

    @Test("L6: During a password check no second password is taken, and a finger may win")
    func onePasscodeAtATime() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometricsOrPasscode)
        #expect(desk.send(.passcodeOffered(id)).last == .verifyPasscode(id))
        #expect(!desk.engine.takesPasscode(id) && desk.send(.passcodeOffered(id)).isEmpty)
        desk.scan(matching: true)
        #expect(desk.grant(id)?.mechanism == .biometry)
    }

    @Test("L6b: A face under policy 1 waits for fallback, cancel or deadline after its misses")
    func faceWaits() {
        var desk = EngineHarness(.face)
        func failed() -> EvaluationID {
            let id = desk.evaluate(.biometrics)
            for _ in 0..<2 { desk.scan("face", matching: false) }
            return id
        }
        let fallback = failed()
        #expect(desk.engine.offersFallback(fallback))
        desk.send(.fellBack(fallback))
        #expect(desk.refusal(fallback) == .userFallback)
        #expect(desk.progress(fallback).contains(.fallbackAvailable))
        desk.configure { $0.lockoutAttempts = 20 }
        let canceled = failed()
        desk.send(.canceled(canceled))
        #expect(desk.refusal(canceled) == .userCancel)
        let deadline = failed()
        desk.pass(.seconds(120))
        #expect(desk.refusal(deadline) == .systemCancel)
    }

    @Test("L6b: Without a fallback title a face ends with -1; policy 2 asks for the password")
    func faceWithoutFallback() {
        var desk = EngineHarness(.face)
        let id = desk.evaluate(.biometrics) { $0.offersFallback = false }
        for _ in 0..<2 { desk.scan("face", matching: false) }
        #expect(desk.refusal(id) == .authenticationFailed)
        let owner = desk.evaluate(.biometricsOrPasscode)
        for _ in 0..<2 { desk.scan("face", matching: false) }
        #expect(desk.progress(owner).last == .passcodeRequired(cause: PasscodeCause(.attempts)))
    }

    @Test("L7: A passive match that is not strong counts only after its confirmation")
    func confirmation() {
        var desk = EngineHarness(.webcam, .finger)
        let id = desk.evaluate(.biometrics)
        #expect(desk.presentation(id)?.requiresConfirmation == true)
        desk.send(.confirmed(id))
        #expect(desk.isPending(id))
        desk.scan("webcam", matching: true)
        #expect(desk.progress(id).last == .confirmationRequired)
        #expect(desk.operations.isEmpty)
        #expect(desk.isPending(id))
        desk.send(.confirmed(id))
        #expect(desk.grant(id)?.strength == .convenience)
    }

    @Test("L7: Settings, caller and sensor decide whether a match needs a confirmation")
    func confirmationTable() {
        typealias Row = (SensorFact, Settings.Confirmation, Bool?, Bool)
        let rows: [Row] = [
            (.webcam, .automatic, nil, true), (.webcam, .automatic, false, false),
            (.sensor("weak", .face, .weak), .automatic, nil, true),
            (.sensor("weak", .face, .weak), .automatic, false, false),
            (.sensor("eye", .iris, .weak), .automatic, nil, true),
            (.webcam, .automatic, true, true), (.webcam, .never, nil, false),
            (.webcam, .never, true, true), (.webcam, .always, false, true),
            (.face, .automatic, nil, false), (.face, .automatic, true, true),
            (.face, .always, false, true), (.finger, .always, true, false),
            (.sensor("worn", .fingerprint, .convenience), .automatic, nil, false),
        ]
        for (sensor, mode, wish, asks) in rows {
            var settings = Settings()
            settings.faceConfirmation = mode
            var desk = EngineHarness(sensor, settings: settings)
            let id = desk.evaluate(.biometrics) { $0.requiresConfirmation = wish }
            desk.scan(sensor.name, matching: true)
            #expect(desk.engine.awaitsConfirmation(id) == asks)
            #expect((desk.grant(id) == nil) == asks)
        }
    }

    @Test("L9: A session shows one prompt at a time; others wait and are looked up again")
    func queue() {
        var desk = EngineHarness(.finger)
        let first = desk.evaluate(.biometrics)
        let second = desk.evaluate(.biometrics, client: EngineHarness.other)
        let third = desk.evaluate(.biometrics)
        #expect(desk.prompts == 1)
        desk.scan(matching: true)
        #expect(desk.grant(first) != nil)
        #expect(desk.presentation(second) != nil)
        #expect(desk.presentation(third) == nil)
        desk.facts.sensors = []
        desk.send(.canceled(second))
        #expect(desk.refusal(third) == .biometryNotAvailable)
    }

    @Test("L9: A connection has at most two waiting and eight pending, a session eight waiting")
    func limits() {
        var desk = EngineHarness(.finger)
        let own = (0..<4).map { _ in desk.evaluate(.biometrics) }
        #expect(own.map(desk.isPending) == [true, true, true, false])
        #expect(desk.refusal(own[3]) == .limitsExceeded)
        let others = (10..<17).map { desk.evaluate(.biometrics, client: ClientID($0)) }
        #expect(others.map(desk.isPending) == [true, true, true, true, true, true, false])
        #expect(desk.refusal(others[6]) == .limitsExceeded)
        var request = Request(
            id: EvaluationID(1000),
            client: ClientID(30),
            uid: EngineHarness.uid,
            policy: .biometrics
        )
        for number in UInt64(1000)..<1009 {
            request.id = EvaluationID(number)
            let effects = desk.engine.step(.requested(request), at: desk.now)
            guard number == 1008 else {
                #expect(effects == [.lookUp(request.id)])
                continue
            }
            guard case .reply(request.id, .refused(let refusal)) = effects.first else {
                Issue.record("\(effects)")
                continue
            }
            #expect(effects.count == 1 && refusal.code == .limitsExceeded)
        }
    }

    @Test("L9: A waiting evaluation ends when its caller disconnects")
    func dropped() {
        var desk = EngineHarness(.finger)
        let first = desk.evaluate(.biometrics)
        let second = desk.evaluate(.biometrics, client: EngineHarness.other)
        desk.send(.clientGone(EngineHarness.other))
        #expect(desk.outcomes[second] != nil)
        desk.scan(matching: true)
        #expect(desk.grant(first) != nil)
        #expect(desk.prompts == 1)
    }

    @Test("L9: An unlock takes over the prompt and ends its evaluation with -4")
    func unlock() {
        var desk = EngineHarness(.finger)
        let first = desk.evaluate(.biometrics)
        let second = desk.evaluate(.biometrics)
        let unlock = desk.evaluate(.biometrics, client: EngineHarness.other) { $0.isUnlock = true }
        #expect(desk.refusal(first) == .systemCancel)
        #expect(desk.presentation(unlock) != nil)
        let next = desk.evaluate(.biometrics, client: ClientID(3)) { $0.isUnlock = true }
        #expect(desk.isPending(unlock), "an unlock does not end another")
        let last = desk.evaluate(.biometrics, client: ClientID(4)) { $0.isUnlock = true }
        desk.scan(matching: true)
        #expect(desk.grant(unlock) != nil)
        #expect(desk.presentation(next) != nil)
        #expect(desk.presentation(last) == nil, "unlocks wait in order as well")
        #expect(desk.isPending(second) && desk.presentation(second) == nil)
    }

    @Test("L9: Each session has its own prompt")
    func sessions() {
        var desk = EngineHarness(.finger)
        desk.register(AgentID(2), session: "other")
        desk.evaluate(.biometrics)
        desk.facts.session = "other"
        desk.evaluate(.biometrics)
        #expect(desk.prompts == 2)
    }

    @Test("L10: Five wrong passwords in one prompt end it with -1")
    func fivePasscodes() {
        var desk = EngineHarness()
        let id = desk.evaluate(.biometricsOrPasscode)
        for _ in 0..<5 { desk.passcode(id, .wrong) }
        #expect(desk.refusal(id) == .authenticationFailed)
        let left = desk.progress(id)
            .compactMap { progress in
                if case .passcodeRejected(attemptsLeft: let left) = progress { left } else { nil }
            }
        #expect(left == [4, 3, 2, 1, 0])
        #expect(desk.engine.records[EngineHarness.uid]?.wrongPasscodes == 5)
    }

    @Test("L10: The remaining delay is rounded up")
    func timeLeft() {
        let words: [(Duration, String)] = [
            (.milliseconds(1), "1 seconds"), (.milliseconds(118_001), "119 seconds"),
            (.milliseconds(119_001), "2 minutes"), (.seconds(121), "3 minutes"),
            (.seconds(3599), "60 minutes"),
        ]
        for (left, time) in words { #expect(left.inWords == time) }
    }

    @Test("R6, L10: From the 6th wrong password, delays of 1, 5, 15 and 60 minutes apply")
    func delays() {
        var desk = EngineHarness()
        let first = desk.evaluate(.biometricsOrPasscode)
        for _ in 0..<5 { desk.passcode(first, .wrong) }
        for minutes in [1, 5, 15, 60, 60] {
            let id = desk.evaluate(.biometricsOrPasscode)
            #expect(desk.isPending(id), "one more passcode is taken")
            desk.passcode(id, .wrong)
            #expect(desk.refusal(id) == .authenticationFailed, "the attempt that starts a delay")
            let prompts = desk.prompts
            desk.now = desk.now + .seconds(minutes * 60 - 1)
            let early = desk.evaluate(.biometricsOrPasscode)
            #expect(desk.refusal(early) == .authenticationFailed)
            #expect(desk.message(early).contains("1 seconds"))
            #expect(desk.prompts == prompts)
            #expect(desk.available(.biometricsOrPasscode) == nil)
            desk.now = desk.now + .seconds(1)
        }
        let last = desk.evaluate(.biometricsOrPasscode)
        desk.passcode(last, .correct)
        #expect(desk.grant(last) != nil)
        #expect(desk.engine.records[EngineHarness.uid]?.wrongPasscodes == 0)
    }

    @Test("L10: Sensors run during a delay, the verifier does not, and its end is reported")
    func delayWithSensors() {
        var record = UserRecord()
        record.wrongPasscodes = 5
        var desk = EngineHarness(.finger, records: [EngineHarness.uid: record])
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.passcode(id, .wrong)
        #expect(desk.isPending(id))
        #expect(!desk.engine.takesPasscode(id) && desk.send(.passcodeOffered(id)).isEmpty)
        #expect(!desk.engine.offersFallback(id))
        #expect(desk.engine.nextDeadline == desk.now + .seconds(60))
        desk.pass(.seconds(60))
        #expect(desk.progress(id).last == .passcodeRequired(cause: PasscodeCause(.delayOver)))
        desk.passcode(id, .wrong)
        desk.fault()
        #expect(desk.refusal(id) == .authenticationFailed)
        #expect(desk.message(id).contains("5 minutes"))
        let finger = desk.evaluate(.biometricsOrPasscode)
        desk.scan(matching: true)
        #expect(desk.grant(finger)?.mechanism == .biometry)
    }

    @Test("L10: A failed check is no attempt; three in a row end with -4")
    func failedVerification() {
        var desk = EngineHarness()
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.passcode(id, .failed)
        desk.passcode(id, .failed)
        desk.passcode(id, .wrong)
        #expect(desk.engine.records[EngineHarness.uid]?.wrongPasscodes == 1)
        for _ in 0..<2 { desk.passcode(id, .failed) }
        #expect(desk.isPending(id), "a wrong one was a verdict")
        desk.passcode(id, .failed)
        #expect(desk.refusal(id) == .systemCancel)
        #expect(desk.engine.records[EngineHarness.uid]?.wrongPasscodes == 1)
    }

    @Test("L10: A wrong password counts even if the prompt was canceled during its check")
    func lateVerdict() {
        var desk = EngineHarness()
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.send(.passcodeOffered(id))
        desk.send(.canceled(id))
        desk.send(.passcodeVerified(id, .wrong))
        desk.send(.passcodeVerified(id, .wrong))
        #expect(desk.engine.records[EngineHarness.uid]?.wrongPasscodes == 1)
    }

    @Test("L10: A wrong password counts even if a finger matched during its check")
    func lateVerdictAfterMatch() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometricsOrPasscode)
        #expect(desk.send(.passcodeOffered(id)).last == .verifyPasscode(id))
        desk.scan(matching: true)
        #expect(desk.grant(id)?.mechanism == .biometry)
        desk.send(.passcodeVerified(id, .wrong))
        desk.send(.passcodeVerified(id, .wrong))
        #expect(desk.engine.records[EngineHarness.uid]?.wrongPasscodes == 1)
        #expect(desk.grant(id)?.mechanism == .biometry, "the answer stays")
    }

    @Test("L10: A wrong password is written before it is reported")
    func passcodeWrittenFirst() {
        var desk = EngineHarness()
        desk.writes = false
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.send(.passcodeOffered(id))
        desk.write()
        desk.send(.passcodeVerified(id, .wrong))
        #expect(desk.progress(id) == [.promptShown])
        #expect(!desk.engine.takesPasscode(id) && desk.send(.passcodeOffered(id)).isEmpty)
        desk.write()
        #expect(desk.progress(id).last == .passcodeRejected(attemptsLeft: 4))
    }

    @Test("L16: Extreme times do not trap")
    func extremeTimes() {
        let late = Instant(nanoseconds: .max)
        let early = Instant(nanoseconds: .min)
        #expect(late + .seconds(1) == late)
        #expect(early + .seconds(-1) == early)
        #expect(early - late == .nanoseconds(Int64.min))
        #expect(Instant(nanoseconds: 0) + .nanoseconds(Int64.max) == late)
        var desk = EngineHarness(.finger)
        desk.now = late
        let id = desk.evaluate(.biometrics) { $0.timeout = .seconds(Int64.max) }
        #expect(desk.refusal(id) != nil || desk.isPending(id))
    }
}
