import Contract
import Testing

@testable import AuthEngine

@Suite("Prompts and contexts")
struct PromptTests {
    @Test("R22: Without a fallback button -3 is impossible")
    func noButton() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometrics) { $0.offersFallback = false }
        desk.scan(matching: false)
        desk.send(.fellBack(id))
        #expect(desk.isPending(id))
        #expect(!desk.progress(id).contains(.fallbackAvailable))
        desk.scan(matching: true)
        #expect(desk.grant(id) != nil)
        let owner = desk.evaluate(.biometricsOrPasscode) { $0.offersFallback = false }
        #expect(!desk.engine.offersFallback(owner))
    }

    @Test("R23: Cancel works under every policy, at any time, with any titles")
    func cancelAlways() {
        for policy in Policy.allCases {
            for begins in [true, false] {
                var desk = EngineHarness(.finger, .key)
                desk.beginsPrompts = begins
                let id = desk.evaluate(policy) { $0.offersFallback = false }
                desk.send(.canceled(id))
                #expect(desk.refusal(id) == .userCancel)
            }
        }
    }

    @Test("R24: Cancel is -2, fallback under policy 1 is -3, and both end the evaluation")
    func cancelAndFallback() {
        var desk = EngineHarness(.finger)
        let canceled = desk.evaluate(.biometrics)
        desk.send(.canceled(canceled))
        #expect(desk.refusal(canceled) == .userCancel)
        #expect(desk.end(canceled) == .canceled)
        let fallback = desk.evaluate(.biometrics)
        desk.scan(matching: false)
        desk.send(.fellBack(fallback))
        #expect(desk.refusal(fallback) == .userFallback)
        #expect(desk.end(fallback) == .fallback)
        #expect(desk.operations.isEmpty)
        let key = SensorFact.key
        for policy in [Policy.companion, .biometricsOrCompanion] {
            desk.facts.sensors = [key]
            let id = desk.evaluate(policy)
            desk.scan("key", matching: false)
            desk.send(.fellBack(id))
            #expect(desk.refusal(id) == .userFallback)
        }
    }

    @Test("R25: Agent lost, silent or failing, deadline and stop are -4; only Invalidate is -9")
    func systemCancel() {
        var desk = EngineHarness(.finger)
        let late = desk.evaluate(.biometrics) { $0.timeout = .milliseconds(400) }
        desk.pass(.milliseconds(399))
        #expect(desk.isPending(late))
        desk.pass(.milliseconds(1))
        #expect(desk.refusal(late) == .systemCancel)
        #expect(desk.end(late) == .system)
        desk.beginsPrompts = false
        let failing = desk.evaluate(.biometrics)
        desk.send(.promptFailed(failing))
        #expect(desk.refusal(failing) == .systemCancel)
        let silent = desk.evaluate(.biometrics)
        #expect(desk.engine.nextDeadline == desk.now + .seconds(5))
        desk.pass(.seconds(5))
        #expect(desk.refusal(silent) == .systemCancel)
        desk.beginsPrompts = true
        let invalidated = desk.evaluate(.biometrics)
        desk.send(.oneShotsInvalidated(EngineHarness.client))
        #expect(desk.refusal(invalidated) == .appCancel)
        let lost = desk.evaluate(.biometrics)
        desk.send(.agentGone(EngineHarness.agent))
        #expect(desk.refusal(lost) == .systemCancel)
        #expect(desk.refused(.biometrics) == .notInteractive)
        desk.register(EngineHarness.agent)
        let stopped = desk.evaluate(.biometrics)
        let waiting = desk.evaluate(.biometrics)
        desk.send(.stopping)
        #expect(desk.refusal(stopped) == .systemCancel)
        #expect(desk.refusal(waiting) == .systemCancel)
        #expect(desk.refused(.biometrics) == .systemCancel)
        #expect(desk.operations.isEmpty)
    }

    @Test(
        "L39: An unconfirmed fact ends the evaluation with -4 and a message that names it",
        arguments: [
            (RevalidationFailure.loginManagerSilent, "The login manager did not confirm"),
            (.templateRemoved, "The fingerprint or face that matched was removed"),
        ]
    )
    func revalidationFailed(_ failure: RevalidationFailure, _ words: String) {
        var desk = EngineHarness(.webcam)
        let id = desk.evaluate(.biometrics)
        desk.scan("webcam", matching: true)
        desk.send(.revalidationFailed(id, failure))
        #expect(desk.refusal(id) == .systemCancel && desk.end(id) == .system)
        #expect(desk.message(id).hasPrefix(words))
        #expect(desk.send(.confirmed(id)).isEmpty)
    }

    @Test("L39: A removed template's match ends its sensor, and the last one names the cause")
    func templateRemoved() throws {
        var desk = EngineHarness(.finger, .webcam)
        let id = desk.evaluate(.biometrics)
        let finger = try #require(desk.operations.first { $0.sensor == "finger" }).id
        desk.send(.templateRemoved(finger))
        #expect(desk.isPending(id))
        let face = try #require(desk.operations.first { $0.sensor == "webcam" }).id
        desk.send(.templateRemoved(face))
        #expect(desk.refusal(id) == .systemCancel)
        #expect(desk.message(id).hasPrefix("The fingerprint or face that matched was removed"))
    }

    @Test("R25: A match after the deadline does not count, even before a timer fires")
    func lateMatch() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometrics) { $0.timeout = .seconds(1) }
        desk.now = desk.now + .seconds(1)
        desk.scan(matching: true)
        #expect(desk.refusal(id) == .systemCancel)
    }

    @Test("R30: The reply comes exactly once, regardless of later events")
    func replyOnce() {
        for isGranted in [true, false] {
            var desk = EngineHarness(.finger, .webcam)
            let id = desk.evaluate(.biometricsOrPasscode, context: EngineHarness.context)
            let operations = desk.operations
            if isGranted { desk.scan(matching: true) } else { desk.send(.canceled(id)) }
            #expect(!desk.isPending(id) && (desk.grant(id) != nil) == isGranted)
            expectNothing(of: id, operations.map(\.id), &desk)
        }
    }

    /// Sends every event of an evaluation that has ended, and expects no effect.
    private func expectNothing(
        of id: EvaluationID,
        _ operations: [OperationID],
        _ desk: inout EngineHarness
    ) {
        var after: [Effect] = []
        for operation in operations {
            after += desk.send(.sensorMatched(operation, template: "x"))
            let refused = desk.send(.sensorMissed(operation, attempt: 1))
            #expect(refused == [.answerMiss(operation, attempt: 1, .refused)])
            after += desk.send(.sensorEnded(operation)) + desk.send(.templateRemoved(operation))
        }
        after += desk.send(.canceled(id)) + desk.send(.fellBack(id)) + desk.send(.confirmed(id))
        after += desk.send(.passcodeOffered(id)) + desk.send(.passcodeVerified(id, .correct))
        after += desk.send(.passwordOffered(id)) + desk.send(.passwordTried(id, .correct))
        after += desk.send(.revalidationFailed(id, .templateRemoved))
        after += desk.send(.lookedUp(id, desk.facts)) + desk.send(.lookUpFailed(id))
        after += desk.send(.promptBegan(id)) + desk.send(.promptFailed(id))
        after += desk.send(.clientGone(EngineHarness.client)) + desk.send(.stopping)
        #expect(after.isEmpty)
    }

    @Test("R30: A caller that disconnects ends its own evaluations and no others")
    func callerGone() {
        var desk = EngineHarness(.finger)
        let first = desk.evaluate(.biometrics)
        let second = desk.evaluate(.biometrics)
        let other = desk.evaluate(.biometrics, client: EngineHarness.other)
        desk.send(.clientGone(EngineHarness.client))
        #expect(desk.outcomes[first] != nil && desk.outcomes[second] != nil)
        #expect(desk.presentation(second) == nil)
        desk.scan(matching: true)
        #expect(desk.grant(other) != nil)
    }

    @Test("R30: Contexts end with their caller, and successes with an invalid context")
    func forgottenContexts() {
        var desk = EngineHarness(.finger)
        let own = desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        let foreign = ContextID(2)
        let other = desk.evaluate(.biometrics, client: EngineHarness.other, context: foreign)
        desk.scan(matching: true)
        #expect(desk.grant(own) != nil && desk.grant(other) != nil)
        desk.send(.clientGone(EngineHarness.client))
        #expect(Array(desk.engine.contexts.keys) == [foreign])
        #expect(desk.engine.contexts[foreign]?.successes.count == 1)
        desk.send(.invalidated(foreign))
        #expect(desk.engine.contexts[foreign]?.successes.isEmpty == true)
    }

    @Test("R31: Invalidate without a context ends only the caller's own evaluations")
    func oneShots() {
        var desk = EngineHarness()
        let ids = (1...2).map { desk.evaluateElsewhere($0) }
        let client = ClientID(1)
        let inContext = desk.evaluate(
            .biometricsOrPasscode,
            client: client,
            context: EngineHarness.context
        )
        desk.send(.oneShotsInvalidated(client))
        #expect(desk.refusal(ids[0]) == .appCancel)
        #expect(desk.isPending(ids[1]) && desk.isPending(inContext))
    }

    @Test("A time before the last event does not restart or extend a delay")
    func earlierMoments() {
        var desk = EngineHarness(.finger)
        let moment = desk.now + .seconds(100)
        desk.pass(.seconds(100))
        desk.pass(.seconds(-50))
        #expect(desk.engine.now == moment)
        desk.pass(.seconds(51))
        #expect(desk.engine.now == moment + .seconds(1))
    }

    @Test("R31: Invalidate ends evaluations with -9; later calls get -10, and repeating is safe")
    func invalidate() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometrics, context: EngineHarness.context)
        let oneShot = desk.evaluate(.biometrics)
        desk.send(.invalidated(EngineHarness.context))
        #expect(desk.refusal(id) == .appCancel)
        #expect(desk.end(id) == .canceled)
        #expect(desk.isPending(oneShot))
        #expect(desk.send(.invalidated(EngineHarness.context)).isEmpty)
        #expect(
            desk.available(.biometricsOrPasscode, context: EngineHarness.context) == .invalidContext
        )
        let before = desk.effects.count
        let later = desk.evaluate(.biometrics, context: EngineHarness.context)
        #expect(desk.refusal(later) == .invalidContext)
        #expect(desk.effects.count == before + 1, "nothing is looked up for it")
        #expect(desk.engine.isInvalid(EngineHarness.context))
        desk.send(.released(EngineHarness.context))
        #expect(!desk.engine.isInvalid(EngineHarness.context))
    }

    @Test("R31: No success survives Invalidate, not even one that is being written")
    func invalidateWhileWriting() {
        var desk = EngineHarness(.finger)
        desk.fail(1)
        desk.writes = false
        let id = desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        desk.send(.invalidated(EngineHarness.context))
        desk.write()
        #expect(desk.refusal(id) == .appCancel)
        func kept() -> Grant? {
            desk.engine.success(
                of: EngineHarness.context,
                for: .biometrics,
                uid: EngineHarness.uid,
                isEnrolmentKnown: true,
                at: desk.now
            )
        }
        #expect(desk.engine.contexts[EngineHarness.context]?.successes.isEmpty == true)
        #expect(kept() == nil)
        desk = EngineHarness(.finger)
        succeed(&desk, .biometry)
        #expect(kept() != nil)
        desk.send(.invalidated(EngineHarness.context))
        #expect(kept() == nil)
    }

    @Test("R33: A context with a success needs no second prompt, another context does")
    func reuse() {
        var desk = EngineHarness(.finger)
        desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        let prompts = desk.prompts
        let again = desk.evaluate(.biometrics, context: EngineHarness.context)
        #expect(desk.grant(again)?.mechanism == .context)
        #expect(desk.grant(again)?.sensor == "finger")
        #expect(desk.prompts == prompts)
        let other = desk.evaluate(.biometrics, context: ContextID(2))
        #expect(desk.isPending(other))
    }

    @Test("R33: Biometry counts for 1, 2, 4, a companion for 3, 4, a password for 2 only")
    func reuseTable() {
        let counts: [(Mechanism, Set<Policy>)] = [
            (.biometry, [.biometrics, .biometricsOrPasscode, .biometricsOrCompanion]),
            (.companion, [.companion, .biometricsOrCompanion]),
            (.passcode, [.biometricsOrPasscode]),
        ]
        for (mechanism, policies) in counts {
            for policy in Policy.allCases {
                var desk = EngineHarness(.finger, .key)
                succeed(&desk, mechanism)
                let id = desk.evaluate(policy, context: EngineHarness.context)
                #expect((desk.grant(id) != nil) == policies.contains(policy))
            }
        }
    }

    private func succeed(_ desk: inout EngineHarness, _ mechanism: Mechanism) {
        switch mechanism {
        case .companion:
            desk.evaluate(.companion, context: EngineHarness.context)
            desk.scan("key", matching: true)
        case .passcode:
            let id = desk.evaluate(.biometricsOrPasscode, context: EngineHarness.context)
            desk.passcode(id, .correct)
        default:
            desk.evaluate(.biometrics, context: EngineHarness.context)
            desk.scan(matching: true)
        }
    }

    @Test("L11b, R33: While the enrolment is unknown, only biometric successes do not count")
    func unknownEnrolment() throws {
        let proofs: [(Mechanism, Policy, counts: Bool)] = [
            (.biometry, .biometrics, false), (.companion, .companion, true),
            (.passcode, .biometricsOrPasscode, true),
        ]
        for (mechanism, policy, counts) in proofs {
            var desk = EngineHarness(.finger, .key)
            succeed(&desk, mechanism)
            desk.facts.isEnrolmentKnown = false
            let id = desk.evaluate(policy, context: EngineHarness.context)
            #expect((desk.grant(id)?.mechanism == .context) == counts)
            desk.send(.canceled(id))
            desk.facts.isEnrolmentKnown = true
            let again = desk.evaluate(policy, context: EngineHarness.context)
            #expect(desk.grant(again)?.mechanism == .context)
        }
        var desk = EngineHarness(.finger)
        succeed(&desk, .biometry)
        desk.facts.isEnrolmentKnown = false
        #expect(desk.isPending(try desk.access([.biometryAny], context: EngineHarness.context)))
    }

    @Test("R33: A success ends after ten minutes, a lockout, an enrolment change, Release")
    func reuseEnds() {
        let ends: [(inout EngineHarness) -> Void] = [
            { $0.now = $0.now + .milliseconds(500) },
            { $0.fail(5) },
            { $0.send(.enrolmentChanged(uid: EngineHarness.uid)) },
            { $0.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote))) },
            { $0.send(.released(EngineHarness.context)) },
        ]
        let proofs: [(Mechanism, Policy)] = [
            (.biometry, .biometrics), (.passcode, .biometricsOrPasscode), (.companion, .companion),
        ]
        for end in ends {
            for (mechanism, policy) in proofs {
                var desk = EngineHarness(.finger, .key)
                succeed(&desk, mechanism)
                desk.now = desk.now + .seconds(599)
                let before = desk.evaluate(policy, context: EngineHarness.context)
                #expect(desk.grant(before)?.mechanism == .context)
                desk.now = desk.now + .milliseconds(500)
                end(&desk)
                let after = desk.evaluate(policy, context: EngineHarness.context)
                #expect(desk.grant(after) == nil, "\(mechanism)")
            }
        }
    }

    @Test("An enrolment change keeps the password's age, so one password covers several changes")
    func passcodeAge() {
        var desk = EngineHarness(.finger)
        succeed(&desk, .passcode)
        desk.send(.enrolmentChanged(uid: EngineHarness.uid))
        let age = desk.engine.passcodeAge(
            of: EngineHarness.context,
            uid: EngineHarness.uid,
            at: desk.now
        )
        #expect(age == .zero)
    }

    @Test("Only a password for a policy has an age, for its user, while its success lasts")
    func passcodeAgeOfOthers() throws {
        var desk = EngineHarness(.finger)
        func age(_ uid: UInt32 = EngineHarness.uid) -> Duration? {
            desk.engine.passcodeAge(of: EngineHarness.context, uid: uid, at: desk.now)
        }
        succeed(&desk, .biometry)
        #expect(age() == nil)
        let access = try desk.access([.devicePasscode], context: EngineHarness.context)
        desk.passcode(access, .correct)
        #expect(desk.grant(access)?.mechanism == .passcode)
        #expect(age() == nil)
        let policy = desk.evaluate(.biometricsOrPasscode, context: EngineHarness.context)
        #expect(desk.grant(policy)?.mechanism == .context)
        #expect(age() == nil)

        desk = EngineHarness(.finger)
        succeed(&desk, .passcode)
        #expect(age(2000) == nil)
        desk.now = desk.now + .seconds(599)
        #expect(age() == .seconds(599))
        desk.now = desk.now + .seconds(1)
        #expect(age() == nil)
    }

    @Test("R33: A caller can shorten the life of its successes, but not extend it")
    func lifetime() {
        for (asked, seconds) in [(60, 60), (86_400, 600)] {
            var desk = EngineHarness(.finger)
            desk.send(.successesLast(.seconds(asked), EngineHarness.context, EngineHarness.client))
            succeed(&desk, .biometry)
            desk.pass(.seconds(seconds - 1))
            let before = desk.evaluate(.biometrics, context: EngineHarness.context)
            #expect(desk.grant(before)?.mechanism == .context)
            desk.pass(.seconds(1))
            let after = desk.evaluate(.biometrics, context: EngineHarness.context)
            #expect(desk.isPending(after))
        }
    }

    @Test("R33: A success that a lockout ended stays ended after the password")
    func reuseStaysEnded() {
        var desk = EngineHarness(.finger)
        succeed(&desk, .biometry)
        desk.fail(5)
        let passcode = desk.evaluate(.biometricsOrPasscode)
        desk.passcode(passcode, .correct)
        let id = desk.evaluate(.biometrics, context: EngineHarness.context)
        #expect(desk.isPending(id))
    }

    @Test("R33: A success counts only up to its strength, and only for its own user")
    func reuseStrength() {
        var desk = EngineHarness(.webcam, .finger)
        let weak = desk.evaluate(.biometrics, context: EngineHarness.context) {
            $0.requiresConfirmation = false
        }
        desk.scan("webcam", matching: true)
        #expect(desk.grant(weak) != nil)
        let strong = desk.evaluate(.biometrics, context: EngineHarness.context) {
            $0.minimumStrength = .weak
        }
        #expect(desk.isPending(strong))
        desk.scan(matching: true)
        let again = desk.evaluate(.biometrics, context: EngineHarness.context) {
            $0.minimumStrength = .strong
        }
        #expect(desk.grant(again)?.sensor == "finger")
        let elsewhere = desk.evaluate(.biometrics, context: EngineHarness.context) {
            $0.sensors = ["nowhere"]
        }
        #expect(desk.refusal(elsewhere) == .biometryNotAvailable)
        let other = desk.engine.success(
            of: EngineHarness.context,
            for: .biometrics,
            uid: 2000,
            isEnrolmentKnown: true,
            at: desk.now
        )
        #expect(other == nil)
    }

    @Test("R36: With interaction forbidden, an evaluation that needs the user is -1004")
    func interactionNotAllowed() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometrics) { $0.isInteractionNotAllowed = true }
        #expect(desk.refusal(id) == .notInteractive)
        desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        let reuse = desk.evaluate(.biometrics, context: EngineHarness.context) {
            $0.isInteractionNotAllowed = true
        }
        #expect(desk.grant(reuse)?.mechanism == .context)
        #expect(desk.prompts == 1)
    }

    @Test("An agent serves its own user and session; a process's agent precedes normal")
    func agents() {
        var desk = EngineHarness()
        desk.register(AgentID(2), kind: .fallback)
        desk.register(AgentID(3), kind: .process(100))
        desk.register(AgentID(6), kind: .process(99))
        desk.register(AgentID(4), session: "other")
        desk.register(AgentID(5), uid: 2000)
        func chosen(_ processes: [Int32] = []) -> AgentID? {
            let (uid, home) = (EngineHarness.uid, EngineHarness.session)
            return desk.engine.agent(for: uid, session: home, processes: processes)?.id
        }
        #expect(chosen([99, 100]) == AgentID(6) && chosen([98, 100]) == AgentID(3))
        #expect(chosen() == EngineHarness.agent)
        desk.send(.agentGone(EngineHarness.agent))
        #expect(chosen() == AgentID(2))
        desk.send(.agentGone(AgentID(2)))
        #expect(chosen() == nil)
        var facts = desk.facts
        facts.processes = []
        #expect(desk.engine.prompter(for: EngineHarness.uid, facts) == .failure(.noAgent))
    }
}
