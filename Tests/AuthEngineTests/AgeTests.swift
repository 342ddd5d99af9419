import Contract
import Testing

@testable import AuthEngine

@Suite("Age rules")
struct AgeTests {
    private static let hour = Duration.seconds(3600)

    private static func settings(_ change: (inout Settings) -> Void = { _ in }) -> Settings {
        var settings = Settings()
        change(&settings)
        return settings
    }

    private func message(_ desk: EngineHarness) -> String {
        desk.engine.availability(
            .biometrics,
            uid: EngineHarness.uid,
            facts: desk.facts,
            at: desk.now
        )?
        .message ?? ""
    }

    // MARK: - Age

    @Test("R50, L11: After a boot, biometry waits for a password, which policy 2 accepts")
    func boot() {
        var desk = EngineHarness(
            .finger,
            settings: AgeTests.settings { $0.passcodeAfterBoot = true }
        )
        #expect(desk.available(.biometrics) == .biometryLockout)
        #expect(message(desk).contains("after a restart"))
        #expect(desk.refused(.biometrics) == .biometryLockout)
        #expect(desk.prompts == 0)
        #expect(desk.available(.biometricsOrPasscode) == nil)
        let id = desk.evaluate(.biometricsOrPasscode)
        #expect(desk.presentation(id)?.stage == .passcode)
        desk.passcode(id, .correct)
        #expect(desk.grant(id)?.mechanism == .passcode)
        #expect(desk.available(.biometrics) == nil)
    }

    @Test("R50: After a boot, a biometric unlock does not replace the password")
    func bootAndUnlock() {
        var desk = EngineHarness(
            .finger,
            settings: AgeTests.settings { $0.passcodeAfterBoot = true }
        )
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        #expect(desk.available(.biometrics) == .biometryLockout)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        #expect(desk.available(.biometrics) == nil)
    }

    @Test("R50: A logout stops running biometry, which then waits for a password")
    func logout() {
        var desk = EngineHarness(
            .finger,
            settings: AgeTests.settings { $0.passcodeAfterBoot = true }
        )
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        let id = desk.evaluate(.biometrics)
        desk.send(.loggedOut(uid: EngineHarness.uid))
        #expect(desk.refusal(id) == .biometryLockout)
        #expect(desk.available(.biometrics) == .biometryLockout)
        #expect(message(desk).contains("logout"))
    }

    @Test("R50: Without the boot rule, a logout requires no password")
    func logoutWithoutRule() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        desk.send(.loggedOut(uid: EngineHarness.uid))
        #expect(desk.available(.biometrics) == nil)
    }

    @Test("R50, L11: After 48 hours without any unlock, biometry waits for a password")
    func hours() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        desk.pass(AgeTests.hour * 47)
        #expect(desk.available(.biometrics) == nil)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        desk.pass(AgeTests.hour * 47)
        #expect(desk.available(.biometrics) == nil)
        desk.pass(AgeTests.hour)
        #expect(desk.available(.biometrics) == .biometryLockout)
        #expect(message(desk).contains("without unlocking"))
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        #expect(desk.available(.biometrics) == .biometryLockout)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        #expect(desk.available(.biometrics) == nil)
    }

    @Test("L11: A biometric success in an app is no unlock")
    func appIsNoUnlock() {
        var desk = EngineHarness(.finger)
        desk.pass(AgeTests.hour * 47)
        desk.evaluate(.biometrics)
        desk.scan(matching: true)
        desk.pass(AgeTests.hour)
        #expect(desk.available(.biometrics) == .biometryLockout)
    }

    @Test("L11: A biometric success in a context ends when a password is due")
    func successIsNotReused() {
        var desk = EngineHarness(.finger)
        desk.pass(AgeTests.hour * 48 - .seconds(3))
        desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        desk.pass(.seconds(3))
        let id = desk.evaluate(.biometrics, context: EngineHarness.context)
        #expect(desk.refusal(id) == .biometryLockout)
    }

    @Test("R50, L11: After 156 hours without a password, four without biometry are too long")
    func hoursWithBiometry() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        for _ in 0..<4 {
            desk.pass(AgeTests.hour * 38)
            #expect(desk.available(.biometrics) == nil, "38 hours without biometry")
            desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        }
        desk.pass(AgeTests.hour * 4 - .seconds(1))
        #expect(desk.available(.biometrics) == nil, "156 hours but for a second")
        var late = desk
        late.pass(.seconds(1))
        #expect(late.available(.biometrics) == .biometryLockout)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        desk.pass(AgeTests.hour * 3)
        #expect(desk.available(.biometrics) == nil, "159 hours, but biometry 3 hours ago")
        desk.pass(AgeTests.hour)
        #expect(desk.available(.biometrics) == .biometryLockout)
        #expect(message(desk).contains("so long without a password"))
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.passcode(id, .correct)
        #expect(desk.available(.biometrics) == nil)
    }

    @Test("L11: The administrator can turn each age rule off")
    func off() {
        let settings = AgeTests.settings {
            $0.passcodeAfter = nil
            $0.passcodeAfterWithBiometry = nil
        }
        var desk = EngineHarness(.finger, settings: settings)
        desk.pass(AgeTests.hour * 10_000)
        #expect(desk.available(.biometrics) == nil)
    }

    @Test("L11: Turning off one age rule leaves the other in force")
    func oneOff() {
        var idle = EngineHarness(.finger, settings: AgeTests.settings { $0.passcodeAfter = nil })
        idle.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        idle.pass(AgeTests.hour * 156 - .seconds(1))
        #expect(idle.available(.biometrics) == nil, "156 hours but for a second")
        idle.pass(.seconds(1))
        #expect(idle.available(.biometrics) == .biometryLockout)
        #expect(message(idle).contains("so long without a password"))

        let settings = AgeTests.settings { $0.passcodeAfterWithBiometry = nil }
        var busy = EngineHarness(.finger, settings: settings)
        busy.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        for _ in 0..<5 {
            busy.pass(AgeTests.hour * 47)
            #expect(busy.available(.biometrics) == nil, "47 hours without biometry")
            busy.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        }
        busy.pass(AgeTests.hour * 48)
        #expect(busy.available(.biometrics) == .biometryLockout)
        #expect(message(busy).contains("without unlocking"))
    }

    @Test("L11: For a user without a stored password time, the time counts from `since`")
    func since() {
        let login = Instant(nanoseconds: 0) + AgeTests.hour * 1000
        let engine = AuthEngine(since: login)
        let facts = Facts(sensors: [.finger], passcode: .set, session: "a")
        func refusal(after time: Duration) -> Refusal? {
            engine.availability(.biometrics, uid: 1, facts: facts, at: login + time)
        }
        #expect(refusal(after: AgeTests.hour * 47) == nil)
        #expect(refusal(after: AgeTests.hour * 48)?.code == .biometryLockout)
    }

    @Test("L11: A restart of the service after the password is no unlock")
    func restart() {
        var record = UserRecord()
        record.lastPasscode = Instant(nanoseconds: 0)
        let restart = Instant(nanoseconds: 0) + AgeTests.hour * 40
        let engine = AuthEngine(records: [1: record], since: restart)
        let facts = Facts(sensors: [.finger], passcode: .set, session: "a")
        func refusal(after time: Duration) -> Refusal? {
            let moment = Instant(nanoseconds: 0) + time
            return engine.availability(.biometrics, uid: 1, facts: facts, at: moment)
        }
        #expect(refusal(after: AgeTests.hour * 47) == nil)
        #expect(refusal(after: AgeTests.hour * 48)?.code == .biometryLockout)
    }

    @Test("L11: An enrolment change that drops the last unlock stops biometry at once")
    func enrolmentWithoutUnlock() {
        var desk = EngineHarness(.finger)
        desk.pass(AgeTests.hour * 47)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        desk.pass(AgeTests.hour * 40)
        let id = desk.evaluate(.biometrics)
        #expect(desk.operations.count == 1)
        desk.writes = false
        desk.send(.enrolmentChanged(uid: EngineHarness.uid))
        #expect(desk.operations.isEmpty)
        #expect(desk.isPending(id))
        desk.write()
        #expect(desk.refusal(id) == .biometryLockout)
    }

    @Test("R50: Only a password for a policy authorizes template changes in its context")
    func passcodeOfContext() throws {
        func age(_ desk: EngineHarness, of uid: UInt32 = EngineHarness.uid) -> Duration? {
            desk.engine.passcodeAge(of: EngineHarness.context, uid: uid, at: desk.now)
        }
        var desk = EngineHarness(.finger)
        desk.evaluate(.biometricsOrPasscode, context: EngineHarness.context)
        desk.scan(matching: true)
        #expect(age(desk) == nil, "a finger is no passcode")
        desk = EngineHarness(.finger)
        let item = try desk.access([.devicePasscode], context: EngineHarness.context)
        desk.passcode(item, .correct)
        #expect(desk.grant(item)?.mechanism == .passcode)
        #expect(age(desk) == nil, "it was given for an item")
        desk = EngineHarness(.finger)
        let wrong = desk.evaluate(.biometricsOrPasscode, context: EngineHarness.context)
        desk.passcode(wrong, .wrong)
        #expect(age(desk) == nil)
        desk.passcode(wrong, .correct)
        #expect(age(desk) == .zero && age(desk, of: EngineHarness.uid + 1) == nil)
        desk.pass(.seconds(599))
        #expect(age(desk) == .seconds(599))
        desk.pass(.seconds(1))
        #expect(age(desk) == nil, "the life of a success is over")
    }

    @Test("R50: A logout also drops an unlock without a password")
    func logoutWithoutPasscode() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        #expect(desk.engine.record(of: EngineHarness.uid).lastBiometricUnlock != nil)
        desk.configure { $0.passcodeAfterBoot = true }
        desk.send(.loggedOut(uid: EngineHarness.uid))
        #expect(desk.engine.record(of: EngineHarness.uid).lastBiometricUnlock == nil)
    }

    @Test("L11: A password that only renews its time is granted even if the disk is full")
    func fullDisk() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometricsOrPasscode)
        desk.send(.passcodeOffered(id))
        desk.writes = false
        desk.send(.passcodeVerified(id, .correct))
        #expect(desk.grant(id)?.mechanism == .passcode)
        desk.failToWrite()
        #expect(desk.available(.biometrics) == nil)
    }

    // MARK: - Reuse

    @Test("R34: A biometric unlock answers without a prompt for as long as the caller allows")
    func reuse() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        desk.pass(.seconds(59))
        for policy in [Policy.biometrics, .biometricsOrPasscode, .biometricsOrCompanion] {
            let reused = desk.reuse(60, policy)
            #expect(reused.grant?.mechanism == .reuse, "\(policy)")
            #expect(reused.grant?.type == .fingerprint)
        }
        #expect(desk.prompts == 0)
        desk.pass(.seconds(1))
        #expect(desk.reuse(60).isPending)
        #expect(desk.prompts == 1)
    }

    @Test("L11b, R34: While the enrolment is unknown, no unlock is reused")
    func reuseOfUnknown() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        desk.facts.isEnrolmentKnown = false
        #expect(desk.reuse(60).isPending)
        desk.facts.isEnrolmentKnown = true
        #expect(desk.reuse(60).grant?.mechanism == .reuse)
    }

    @Test("R34: Without a duration no unlock is reused, and 300 s is the maximum")
    func reuseBounds() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        #expect(desk.reuse(0).isPending)
        desk.pass(.seconds(299))
        #expect(desk.reuse(100_000).grant != nil)
        desk.pass(.seconds(1))
        #expect(desk.reuse(100_000).isPending)
    }

    @Test("R34: Neither a password unlock nor an app's prompt can be reused")
    func reuseOfOthers() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        let first = desk.reuse(300)
        #expect(first.isPending)
        desk.scan(matching: true)
        #expect(desk.grant(first.id)?.mechanism == .biometry)
        #expect(desk.reuse(300).isPending)
    }

    @Test("R34: Root's biometric evaluation counts as an unlock, and never reuses one")
    func unlockEvaluation() {
        var desk = EngineHarness(.finger)
        let unlock = desk.evaluate(.biometrics) { $0.isUnlock = true }
        desk.scan(matching: true)
        #expect(desk.grant(unlock)?.mechanism == .biometry)
        #expect(desk.reuse(10).grant?.mechanism == .reuse)
        let again = desk.evaluate(.biometrics) {
            $0.isUnlock = true
            $0.reuseDuration = .seconds(300)
        }
        #expect(desk.isPending(again))
    }

    @Test("R34: Root's evaluation by password cannot be reused")
    func unlockByPasscode() {
        var desk = EngineHarness(.finger)
        let unlock = desk.evaluate(.biometricsOrPasscode) { $0.isUnlock = true }
        desk.passcode(unlock, .correct)
        #expect(desk.grant(unlock)?.mechanism == .passcode)
        #expect(desk.reuse(300).isPending)
    }

    @Test("R34: A canceled or unwritten unlock cannot be reused")
    func unlockThatWasNone() {
        var desk = EngineHarness(.finger)
        desk.fail(1)
        desk.writes = false
        let canceled = desk.evaluate(.biometrics) { $0.isUnlock = true }
        desk.scan(matching: true)
        desk.send(.oneShotsInvalidated(EngineHarness.client))
        desk.write()
        #expect(desk.refusal(canceled) == .appCancel)
        desk.writes = true
        #expect(desk.reuse(300).isPending)
        desk.send(.oneShotsInvalidated(EngineHarness.client))

        desk.fail(1)
        desk.writes = false
        let unwritten = desk.evaluate(.biometrics) { $0.isUnlock = true }
        desk.scan(matching: true)
        desk.failToWrite()
        #expect(desk.refusal(unwritten) == .systemCancel)
        desk.writes = true
        #expect(desk.reuse(300).isPending)
    }

    @Test("R34: Naming sensors, a strength or a companion policy requires a prompt")
    func choosy() {
        var desk = EngineHarness(.finger, .key)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        let named = desk.evaluate(.biometrics) {
            $0.reuseDuration = .seconds(60)
            $0.sensors = ["finger"]
        }
        #expect(desk.isPending(named))
        desk.send(.canceled(named))
        let strong = desk.evaluate(.biometrics) {
            $0.reuseDuration = .seconds(60)
            $0.minimumStrength = .strong
        }
        #expect(desk.isPending(strong))
        desk.send(.canceled(strong))
        #expect(desk.reuse(60, .companion).isPending)
    }

    @Test("R34: Reuse shows no prompt, so it works without interaction")
    func reuseWithoutInteraction() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        let id = desk.evaluate(.biometrics) {
            $0.reuseDuration = .seconds(60)
            $0.isInteractionNotAllowed = true
        }
        #expect(desk.grant(id)?.mechanism == .reuse)
    }

    @Test("R34: A lockout, a required password or an enrolment change ends reuse for good")
    func closed() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        desk.fail(5)
        #expect(desk.reuse(300).refusal == .biometryLockout)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        let afterLockout = desk.reuse(300)
        #expect(afterLockout.isPending)
        desk.send(.canceled(afterLockout.id))

        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: true))
        let afterCause = desk.reuse(300)
        #expect(afterCause.isPending)
        desk.send(.canceled(afterCause.id))

        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        desk.send(.enrolmentChanged(uid: EngineHarness.uid))
        #expect(desk.reuse(300).isPending)
    }

    @Test("R34: A password in between leaves reuse intact, and other users have no reuse")
    func stillOpen() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        let passcode = desk.evaluate(.biometricsOrPasscode)
        desk.passcode(passcode, .correct)
        #expect(desk.reuse(300).grant?.mechanism == .reuse)
        desk.register(AgentID(2), uid: 2000)
        let other = desk.evaluate(.biometrics, uid: 2000) { $0.reuseDuration = .seconds(300) }
        #expect(desk.isPending(other))
    }

    @Test("R34: A caller that may not be prompted cannot reuse an unlock")
    func inactive() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        desk.facts.session = nil
        #expect(desk.reuse(300).refusal == .notInteractive)
    }

    @Test("R34: A reused unlock leaves no success in the context")
    func contextKeepsNoReuse() {
        var desk = EngineHarness(.finger)
        desk.send(.unlocked(uid: EngineHarness.uid, byPasscode: false))
        let id = desk.evaluate(.biometrics, context: EngineHarness.context) {
            $0.reuseDuration = .seconds(10)
        }
        #expect(desk.grant(id)?.mechanism == .reuse)
        let second = desk.evaluate(.biometrics, context: EngineHarness.context)
        #expect(desk.isPending(second))
    }
}

extension EngineHarness {
    /// Evaluates with a reuse duration in seconds, and returns the immediate result.
    fileprivate mutating func reuse(
        _ seconds: Int64,
        _ policy: Policy = .biometrics
    ) -> (id: EvaluationID, grant: Grant?, refusal: RefusalCode?, isPending: Bool) {
        let id = evaluate(policy) { $0.reuseDuration = .seconds(seconds) }
        return (id, grant(id), refusal(id), isPending(id))
    }
}
