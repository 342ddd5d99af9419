import AuthEngine
import Contract
import Testing

@Suite("Sessions and sleep")
struct SessionRuleTests {
    @Test(
        "L4: A locked or left session ends its prompts and queue, and no others",
        arguments: [Interruption.locked, .left]
    )
    func interrupted(_ interruption: Interruption) {
        var desk = EngineHarness(.finger)
        desk.register(AgentID(2), session: "other")
        let prompting = desk.evaluate(.biometrics)
        let waiting = desk.evaluate(.biometricsOrPasscode)
        desk.facts.session = "other"
        let elsewhere = desk.evaluate(.biometrics, client: EngineHarness.other)
        desk.send(.interrupted(session: EngineHarness.session, interruption))
        #expect(desk.refusal(prompting) == .systemCancel)
        #expect(desk.refusal(waiting) == .systemCancel)
        #expect(desk.end(prompting) == .system)
        #expect(desk.isPending(elsewhere))
        desk.scan(matching: true)
        #expect(desk.grant(elsewhere) != nil)
    }

    @Test("L4: An evaluation that waits for a write ends as well")
    func interruptedWhileHeld() {
        var desk = EngineHarness(.finger)
        let scanned = desk.evaluate(.biometrics)
        desk.writes = false
        desk.scan(matching: false)
        let held = desk.evaluate(.biometrics, client: EngineHarness.other)
        desk.send(.interrupted(session: EngineHarness.session, .locked))
        #expect(desk.refusal(scanned) == .systemCancel)
        #expect(desk.refusal(held) == .systemCancel)
    }

    @Test("L4: An evaluation that waits for a write belongs to the session found last")
    func interruptedElsewhere() {
        var desk = EngineHarness(.finger)
        let first = desk.evaluate(.biometrics)
        let ids = (0..<2).map { _ in desk.evaluate(.biometrics, client: EngineHarness.other) }
        desk.writes = false
        desk.send(.passcodeRequired(uid: EngineHarness.uid, cause: PasscodeCause(.remote)))
        desk.facts.session = "other"
        desk.send(.canceled(first))
        #expect(ids.allSatisfy(desk.isPending))
        desk.send(.interrupted(session: EngineHarness.session, .left))
        #expect(desk.isPending(ids[0]))
        desk.send(.interrupted(session: "other", .left))
        #expect(desk.refusal(ids[0]) == .systemCancel)
    }

    @Test("L9: A lock screen's evaluation survives a lock of its session, but not leaving it")
    func lockScreen() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometricsOrPasscode) {
            $0.isUnlock = true
            $0.isForLockScreen = true
        }
        let command = desk.evaluate(.biometrics, client: EngineHarness.other) {
            $0.isUnlock = true
        }
        desk.send(.interrupted(session: EngineHarness.session, .locked))
        #expect(desk.refusal(command) == .systemCancel)
        #expect(desk.isPending(id))
        desk.send(.interrupted(session: EngineHarness.session, .left))
        #expect(desk.refusal(id) == .systemCancel)
    }

    @Test("L4: Suspend ends everything and refuses requests until the machine resumes")
    func suspend() {
        var desk = EngineHarness(.finger)
        var ids = [
            desk.evaluate(.biometrics), desk.evaluate(.biometrics, client: EngineHarness.other),
            desk.evaluateElsewhere(3), desk.evaluateElsewhere(4),
        ]
        ids.append(desk.evaluate(.biometrics, client: ClientID(5)) { $0.isUnlock = true })
        #expect(desk.refusal(ids.remove(at: 3)) == .systemCancel, "the unlock goes first")
        #expect(ids.allSatisfy(desk.isPending) && desk.prompts == 4)
        desk.send(.suspending)
        #expect(ids.allSatisfy { desk.refusal($0) == .systemCancel })
        #expect(desk.operations.isEmpty)
        desk.facts.session = EngineHarness.session
        #expect(desk.refused(.biometricsOrPasscode) == .systemCancel)
        desk.send(.resumed)
        let next = desk.evaluate(.biometrics)
        desk.scan(matching: true)
        #expect(desk.grant(next) != nil)
    }

    @Test("R33, L4: A context's successes end with suspend")
    func suspendedSuccess() {
        var desk = EngineHarness(.finger)
        desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        let kept = desk.evaluate(.biometrics, context: EngineHarness.context)
        #expect(desk.grant(kept) != nil)
        desk.send(.suspending)
        desk.send(.resumed)
        let next = desk.evaluate(.biometrics, context: EngineHarness.context)
        #expect(desk.isPending(next))
        desk.scan(matching: true)
        #expect(desk.grant(next) != nil)
    }

    @Test("R33, L4: A context's success ends with the lock of its session")
    func lockedSuccess() {
        for (session, isKept) in [(EngineHarness.session, false), ("other", true)] {
            var desk = EngineHarness(.finger)
            desk.evaluate(.biometrics, context: EngineHarness.context)
            desk.scan(matching: true)
            desk.send(.interrupted(session: session, .locked))
            let next = desk.evaluate(.biometrics, context: EngineHarness.context)
            #expect((desk.grant(next)?.mechanism == .context) == isKept, "\(session)")
        }
    }

    @Test("R33, L4: A context's success ends with its session, or with all sessions")
    func endedSuccess() {
        let cases: [(session: String?, isKept: Bool)] = [
            (EngineHarness.session, false), ("other", true), (nil, false),
        ]
        for (session, isKept) in cases {
            var desk = EngineHarness(.finger)
            desk.evaluate(.biometrics, context: EngineHarness.context)
            desk.scan(matching: true)
            desk.send(.sessionEnded(session: session))
            let next = desk.evaluate(.biometrics, context: EngineHarness.context)
            #expect((desk.grant(next)?.mechanism == .context) == isKept, "\(session ?? "all")")
        }
    }

    @Test("R33, L4: A context's success does not count while a lock may have been missed")
    func unknownPlace() {
        var desk = EngineHarness(.finger)
        desk.evaluate(.biometrics, context: EngineHarness.context)
        desk.scan(matching: true)
        desk.facts.hasMissedNoLock = false
        desk.facts.session = nil
        let next = desk.evaluate(.biometrics, context: EngineHarness.context)
        #expect(desk.refusal(next) == .notInteractive)
        let item = desk.evaluate(.biometrics, context: EngineHarness.context) {
            $0.operation = .useItem
        }
        #expect(desk.refusal(item) == .notInteractive)
        desk.facts.hasMissedNoLock = true
        desk.facts.session = EngineHarness.session
        let again = desk.evaluate(.biometrics, context: EngineHarness.context)
        #expect(desk.grant(again)?.mechanism == .context)
    }

    @Test("L2: A process's agent serves it in its own session only")
    func processAgent() {
        var desk = EngineHarness(.finger)
        desk.register(AgentID(3), session: "far", kind: .process(100))
        func chosen(in session: String) -> AgentID? {
            desk.engine.agent(for: EngineHarness.uid, session: session, processes: [100])?.id
        }
        #expect(chosen(in: EngineHarness.session) == EngineHarness.agent)
        #expect(chosen(in: "far") == AgentID(3))
    }

    @Test("L9: No window shows the evaluation of a user's own lock screen")
    func ownLockScreen() {
        var desk = EngineHarness(.finger)
        let id = desk.evaluate(.biometrics) { $0.isForLockScreen = true }
        #expect(desk.refusal(id) == .notInteractive)
        desk.register(AgentID(3), kind: .process(100))
        desk.facts.processes = [100]
        let foreign = desk.evaluate(.biometrics) { $0.isForLockScreen = true }
        #expect(desk.refusal(foreign) == .notInteractive)
        desk.send(.agentGone(AgentID(3)))
        desk.register(AgentID(4), kind: .process(100), client: EngineHarness.client)
        let next = desk.evaluate(.biometrics) { $0.isForLockScreen = true }
        desk.send(.interrupted(session: EngineHarness.session, .locked))
        #expect(desk.isPending(next))
        // The password opened the lock.
        desk.send(.interrupted(session: EngineHarness.session, .unlocked))
        #expect(desk.refusal(next) == .systemCancel)
    }

    @Test("L2, L9: Root's agent of a process shows root's evaluations there and no others")
    func rootsAgent() {
        var desk = EngineHarness(.finger)
        desk.register(AgentID(3), kind: .process(100), uid: 0)
        func shown(_ session: String = EngineHarness.session, _ process: Int32 = 100) -> AgentID? {
            desk.engine.agent(
                for: EngineHarness.uid,
                session: session,
                processes: [process, 1],
                isUnlock: true
            )?
            .id
        }
        #expect(shown() == AgentID(3))
        #expect(shown(EngineHarness.session, 101) == EngineHarness.agent)
        #expect(shown("other") == nil)
        let own = desk.engine.agent(
            for: EngineHarness.uid,
            session: EngineHarness.session,
            processes: [100]
        )
        #expect(own?.id == EngineHarness.agent)
        // An agent outside sessions serves its process in any session.
        desk.register(AgentID(4), session: "", kind: .process(200), uid: 0)
        #expect(shown("other", 200) == AgentID(4))
        #expect(shown("other", 201) == nil)
        // Root's session agents serve root alone.
        desk.register(AgentID(5), session: "other", uid: 0)
        #expect(shown("other") == nil)
    }

    @Test("L2: A caller in a remote session gets that reason before any other")
    func remote() {
        var desk = EngineHarness(.finger, .key)
        desk.facts.isRemote = true
        desk.facts.withholdSensors()
        let refused = desk.evaluate(.biometrics)
        #expect(desk.refusal(refused) == .biometryNotAvailable)
        #expect(desk.message(refused).contains("remote"))
        #expect(desk.refused(.companion) == .companionNotAvailable)
        #expect(desk.refused(.biometricsOrCompanion) == .biometryNotAvailable)
        let id = desk.evaluate(.biometricsOrPasscode)
        #expect(desk.isPending(id))
        #expect(desk.operations.isEmpty)
    }

    @Test("L2: A process in no session has sensors only if its prompt is at the machine")
    func inNoSession() {
        var desk = EngineHarness(.finger, .key)
        desk.facts.isInNoSession = true
        #expect(desk.refused(.biometrics) == .biometryNotAvailable)
        #expect(desk.refused(.companion) == .companionNotAvailable)
        #expect(desk.refused(.biometricsOrCompanion) == .biometryNotAvailable)
        let asked = desk.evaluate(.biometricsOrPasscode)
        #expect(desk.isPending(asked))
        #expect(desk.operations.isEmpty)
        desk.send(.canceled(asked))
        desk.send(.agentGone(EngineHarness.agent))
        #expect(desk.refused(.biometrics) == .notInteractive)
        var agent = Agent(
            id: AgentID(7),
            client: ClientID(107),
            uid: EngineHarness.uid,
            session: EngineHarness.session,
            kind: .normal
        )
        agent.isAtDisplay = true
        desk.send(.agentRegistered(agent))
        let looked = desk.evaluate(.biometrics)
        desk.scan(matching: true)
        #expect(desk.grant(looked) != nil)
        let touched = desk.evaluate(.companion)
        desk.scan("key", matching: true)
        #expect(desk.grant(touched)?.mechanism == .companion)
    }

    @Test("L28: The reason why a caller can't be prompted equals that of Evaluate")
    func absences() {
        for absence in Absence.allCases where ![.noAgent, .noAgentThere].contains(absence) {
            var desk = EngineHarness(.finger)
            desk.facts.session = nil
            desk.facts.absence = absence
            #expect(desk.engine.prompter(for: EngineHarness.uid, desk.facts) == .failure(absence))
            #expect(desk.refused(.biometrics) == absence.refusal.code)
        }
        var desk = EngineHarness(.finger)
        desk.send(.suspending)
        #expect(desk.engine.prompter(for: EngineHarness.uid, desk.facts) == .failure(.asleep))
    }
}
