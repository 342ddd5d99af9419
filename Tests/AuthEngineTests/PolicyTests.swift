import AuthEngine
import Contract
import Testing

@Suite("Policies and availability")
struct PolicyTests {
    @Test("R10: Not available, then not enrolled, then lockout, then no password")
    func precedence() {
        var desk = EngineHarness(.finger)
        desk.fail(5)
        desk.facts.passcode = .missing
        let finger = SensorFact.finger
        for sensor in [finger.with(.unavailable), finger.with(.unavailable).with(templates: 0)] {
            desk.facts.sensors = [sensor]
            #expect(desk.available(.biometrics) == .biometryNotAvailable)
        }
        desk.facts.sensors = [finger.with(.away)]
        #expect(desk.available(.biometrics) == .biometryDisconnected)
        desk.facts.sensors = [finger.with(templates: 0)]
        #expect(desk.available(.biometrics) == .biometryNotEnrolled)
        desk.facts.sensors = [finger]
        #expect(desk.available(.biometrics) == .biometryLockout)
        desk = EngineHarness(finger)
        desk.facts.passcode = .missing
        #expect(desk.available(.biometrics) == .passcodeNotSet)
        desk.facts.passcode = .set
        #expect(desk.available(.biometrics) == nil)
    }

    @Test("R10: A disconnected sensor with this user's templates gives -13 instead of -6")
    func disconnected() {
        var desk = EngineHarness(.finger.with(.away))
        #expect(desk.available(.biometrics) == .biometryDisconnected)
        desk.facts.sensors = [.finger.with(.away), .face.with(templates: 0)]
        #expect(desk.available(.biometrics) == .biometryNotEnrolled)
        desk.facts.sensors = [.finger.with(.away).with(templates: 0)]
        #expect(desk.available(.biometrics) == .biometryNotAvailable)
        desk.facts.sensors = [.finger.with(.unavailable)]
        #expect(desk.available(.biometrics) == .biometryNotAvailable)
        desk.facts.sensors = [.finger.with(.away)]
        let named = desk.evaluate(.biometrics) { $0.sensors = ["finger"] }
        #expect(desk.refusal(named) == .biometryNotAvailable)
    }

    @Test("R10: -6 names the obstacle that is the easiest to fix")
    func obstacles() {
        func said(_ obstacles: Unavailability?...) -> String? {
            var desk = EngineHarness()
            desk.facts.sensors = obstacles.map { obstacle in
                var sensor = SensorFact.finger.with(.unavailable)
                sensor.obstacle = obstacle
                return sensor
            }
            let moment = desk.now
            return desk.engine
                .availability(.biometrics, uid: EngineHarness.uid, facts: desk.facts, at: moment)?
                .message
        }
        #expect(said() == "No biometric sensor can be used now.")
        #expect(said(nil) == "No biometric sensor can be used now.")
        #expect(said(.noHardware)?.contains("plugged in") == true)
        #expect(said(.noHardware, .failed)?.contains("doesn't work") == true)
        #expect(said(.failed, nil, .lidClosed)?.contains("lid") == true)
        #expect(said(.untrusted)?.contains("may not be used") == true)
        #expect(said(.incompatible, .crashed)?.contains("ended") == true)
    }

    @Test("R10: Evaluate is refused like CanEvaluate, without a prompt")
    func sameAnswer() {
        let finger = SensorFact.finger
        let sensors = [
            [], [finger.with(.unavailable)], [finger.with(.away)], [finger.with(.starting)],
            [finger.with(templates: 0)], [finger], [.key.with(templates: 0)],
        ]
        var seen: Set<RefusalCode> = []
        for isLocked in [false, true] {
            for sensors in sensors {
                for passcode in [PasscodeFact.set, .missing, .unknown] {
                    var desk = EngineHarness(finger)
                    if isLocked { desk.fail(5) }
                    desk.facts.sensors = sensors
                    desk.facts.passcode = passcode
                    for policy in Policy.allCases {
                        let said = desk.available(policy)
                        var asked = desk
                        #expect(asked.refused(policy) == said, "\(policy), \(sensors), \(passcode)")
                        guard let said else { continue }
                        #expect(asked.prompts == desk.prompts)
                        seen.insert(said)
                    }
                }
            }
        }
        #expect(
            seen.isSuperset(of: [
                .biometryNotAvailable, .biometryDisconnected, .biometryNotEnrolled,
                .biometryLockout, .passcodeNotSet, .companionNotAvailable, .biometryNotPaired,
            ])
        )
    }

    @Test("R11: Policy 2 starts with biometry, or with the password if there is none")
    func policyTwo() {
        var desk = EngineHarness(.finger)
        let finger = desk.evaluate(.biometricsOrPasscode)
        #expect(desk.presentation(finger)?.stage == .biometry)
        desk.scan(matching: true)
        #expect(desk.grant(finger)?.mechanism == .biometry)
        desk.facts.sensors = []
        let passcode = desk.evaluate(.biometricsOrPasscode)
        #expect(desk.presentation(passcode)?.stage == .passcode)
        desk.facts.passcode = .missing
        #expect(desk.available(.biometricsOrPasscode) == .passcodeNotSet)
    }

    @Test("R11: Problems with biometry never refuse policy 2; only -5 and -10 do")
    func policyTwoRefusals() {
        let finger = SensorFact.finger
        let sensors = [
            [], [finger.with(.unavailable)], [finger.with(.away)], [finger.with(templates: 0)],
            [finger],
        ]
        for sensors in sensors {
            var desk = EngineHarness(finger)
            desk.fail(5)
            desk.facts.sensors = sensors
            #expect(desk.available(.biometricsOrPasscode) == nil)
            desk.facts.passcode = .missing
            #expect(desk.refused(.biometricsOrPasscode) == .passcodeNotSet)
            desk.facts.passcode = .set
            let id = desk.evaluate(.biometricsOrPasscode, context: EngineHarness.context)
            #expect(desk.presentation(id)?.stage == .passcode)
            desk.send(.invalidated(EngineHarness.context))
            let late = desk.evaluate(.biometricsOrPasscode, context: EngineHarness.context)
            #expect(desk.refusal(late) == .invalidContext)
        }
    }

    @Test("R11: The fallback button of policy 2 switches to the password")
    func policyTwoFallback() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometricsOrPasscode)
        #expect(desk.engine.offersFallback(id))
        desk.send(.fellBack(id))
        desk.send(.fellBack(id))
        #expect(
            desk.progress(id) == [.promptShown, .passcodeRequired(cause: PasscodeCause(.fallback))]
        )
        #expect(desk.operations.count == 1, "the finger goes on looking")
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
    }

    @Test("R11: After three misses, policy 2 asks for the password in the same evaluation")
    func policyTwoAfterFailures() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometricsOrPasscode)
        for _ in 0..<3 { desk.scan(matching: false) }
        #expect(desk.progress(id).last == .passcodeRequired(cause: PasscodeCause(.attempts)))
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
        #expect(desk.prompts == 1)
    }

    @Test("R11: The miss that locks leaves policy 2 with the password")
    func policyTwoLockout() {
        var desk = EngineHarness(.finger)
        desk.fail(4)
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.scan(matching: false)
        #expect(desk.progress(id).last == .passcodeRequired(cause: PasscodeCause(.lockout)))
        #expect(desk.available(.biometrics) == .biometryLockout)
        #expect(desk.isPending(id))
    }

    @Test("R11: A sensor fault leaves policy 2 with the password")
    func policyTwoFault() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.fault()
        #expect(desk.progress(id).last == .passcodeRequired(cause: PasscodeCause(.sensorFailed)))
        #expect(desk.isPending(id))
    }

    @Test("R12: Policy 3 needs a companion")
    func companion() {
        var desk = EngineHarness(.finger)
        #expect(desk.available(.companion) == .companionNotAvailable)
        #expect(desk.refused(.companion) == .companionNotAvailable)
        desk.facts.sensors = [.key]
        #expect(desk.available(.biometrics) == .biometryNotAvailable)
        let id = desk.evaluate(.companion)
        desk.scan("key", matching: true)
        #expect(desk.grant(id)?.mechanism == .companion)
        desk.facts.sensors = [.key.with(templates: 0)]
        #expect(desk.available(.companion) == .biometryNotPaired)
        desk.facts.sensors = [.key]
        let faulty = desk.evaluate(.companion)
        desk.fault("key")
        #expect(desk.refusal(faulty) == .companionNotAvailable)
    }

    @Test("R12: Policy 4 runs both, and degrades to the sensor that is present")
    func biometryOrCompanion() {
        var desk = EngineHarness(.finger, .key)
        let both = desk.evaluate(.biometricsOrCompanion)
        #expect(desk.presentation(both)?.sensors == ["finger", "key"])
        #expect(desk.presentation(both)?.types == [.fingerprint])
        desk.scan("key", matching: true)
        #expect(desk.grant(both)?.mechanism == .companion)
        #expect(desk.operations.isEmpty)
        for sensors in [[SensorFact.finger], [.key], [.finger.with(.unavailable), .key]] {
            desk.facts.sensors = sensors
            #expect(desk.available(.biometricsOrCompanion) == nil)
        }
        desk.facts.sensors = [.finger, .key]
        desk.fail(5)
        let locked = desk.evaluate(.biometricsOrCompanion)
        #expect(desk.presentation(locked)?.sensors == ["key"])
        desk.send(.canceled(locked))
        desk.facts.sensors = [.finger]
        #expect(desk.refused(.biometricsOrCompanion) == .biometryLockout)
    }

    @Test("R12: A lockout during policy 4 leaves it with its companion")
    func lockoutUnderPolicyFour() {
        var desk = EngineHarness(.finger, .key)
        desk.fail(4)
        let id = desk.evaluate(.biometricsOrCompanion)
        desk.scan(matching: false)
        #expect(desk.operations.map(\.sensor) == ["key"])
        desk.scan("key", matching: true)
        #expect(desk.grant(id)?.mechanism == .companion)
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 5, "a companion unlocks nothing")
    }

    @Test("A companion's miss uses up its own attempts, not those of biometry")
    func companionMiss() {
        var desk = EngineHarness(.finger, .key)
        desk.fail(4)
        let id = desk.evaluate(.companion)
        desk.scan("key", matching: false)
        let left = desk.engine.settings.fingerprintAttempts - 1
        #expect(left > 1)
        #expect(desk.progress(id).contains(.miss(attemptsLeft: left)))
        #expect(desk.engine.records[EngineHarness.uid]?.misses == 4)
    }

    @Test("R13: Availability errors precede notInteractive")
    func availabilityFirst() {
        var desk = EngineHarness(.finger.with(templates: 0))
        let first = desk.evaluate(.biometrics) { $0.isInteractionNotAllowed = true }
        #expect(desk.refusal(first) == .biometryNotEnrolled)
        let second = desk.evaluate(.biometricsOrPasscode) { $0.isInteractionNotAllowed = true }
        #expect(desk.refusal(second) == .notInteractive)
        desk.facts.session = nil
        #expect(desk.refused(.biometrics) == .biometryNotEnrolled)
        #expect(desk.refused(.biometricsOrPasscode) == .notInteractive)
        #expect(desk.prompts == 0)
    }

    @Test("L8: A minimum strength excludes weaker sensors; by default any strength will do")
    func strength() {
        var desk = EngineHarness(.webcam)
        let strong = desk.evaluate(.biometrics) { $0.minimumStrength = .weak }
        #expect(desk.refusal(strong) == .biometryNotAvailable)
        let passcode = desk.evaluate(.biometricsOrPasscode) { $0.minimumStrength = .strong }
        #expect(desk.presentation(passcode)?.stage == .passcode)
        desk.send(.canceled(passcode))
        let any = desk.evaluate(.biometrics) { $0.requiresConfirmation = false }
        desk.scan("webcam", matching: true)
        #expect(desk.grant(any)?.strength == .convenience)
        desk = EngineHarness(.webcam, .finger)
        desk.evaluate(.biometrics) { $0.minimumStrength = .strong }
        #expect(desk.operations.map(\.sensor) == ["finger"])
    }

    @Test("A restriction to sensors starts only these")
    func restriction() {
        var desk = EngineHarness(.finger, .face)
        let id = desk.evaluate(.biometrics) { $0.sensors = ["face"] }
        #expect(desk.operations.map(\.sensor) == ["face"])
        desk.send(.canceled(id))
        let none = desk.evaluate(.biometrics) { $0.sensors = ["nowhere"] }
        #expect(desk.refusal(none) == .biometryNotAvailable)
    }

    @Test("R50, L11: A required password refuses biometry with its cause until it is given")
    func passcodeFirst() {
        var desk = EngineHarness(.finger)
        let running = desk.evaluate(.biometrics)
        let cause = PasscodeCause.remote("lost device")
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: cause))
        #expect(desk.refusal(running) == .biometryLockout)
        #expect(desk.message(running).contains("“lost device”"))
        #expect(desk.available(.biometrics) == .biometryLockout)
        let id = desk.evaluate(.biometricsOrPasscode)
        #expect(desk.presentation(id)?.stage == .passcode)
        #expect(desk.progress(id) == [.promptShown, .passcodeRequired(cause: cause)])
        desk.passcode(id, .correct)
        #expect(desk.available(.biometrics) == nil)
    }

    @Test("L11: A password required during policy 2 leaves it with the password")
    func passcodeFirstInTheMiddle() {
        var desk = EngineHarness(.face)
        let id = desk.evaluate(.biometricsOrPasscode) { $0.requiresConfirmation = true }
        desk.scan("face", matching: true)
        #expect(desk.engine.awaitsConfirmation(id))
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
        desk.send(.confirmed(id))
        #expect(desk.isPending(id), "the match counts no more")
        #expect(desk.progress(id).last == .passcodeRequired(cause: PasscodeCause(.remote)))
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
    }
}
