import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// L2 and L28: prompts for processes in no session, and where none is possible.
///
/// The test's process is the caller. Agents other than its own are `localauthctl agent` on a
/// terminal.
@Suite("Processes in no session", .timeLimit(.minutes(10)))
struct OutsideTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    /// A bench whose session has an agent on a terminal, while the test's process is in no session.
    @BusActor
    private final class Desk {
        let bench: SessionBench
        private let pty: Pty
        private var agent: ChildProcess?

        init(terminal: String? = nil) async throws {
            let pty = try Pty()
            self.pty = pty
            let path = pty.path
            bench = try await SessionBench(
                terminal: terminal ?? String(path.dropFirst("/dev/".count))
            )
            bench.logind.others = bench.session
            agent = try ChildProcess(
                ["localauthctl", "agent", "--session", "--bus", bench.bus.address],
                terminal: path
            )
            try await eventually("an agent") {
                try await self.bench.manager.canInteract().available
            }
            leave(for: nil)
        }

        func leave(for session: StandInSession?) {
            bench.logind.current = session
            bench.logind.tell("SessionNew")
        }
    }

    @Test("L2: A process may use sensors if its prompt is on the session's own terminal")
    @BusActor
    func atTheMachine() async throws {
        let desk = try await Desk()
        let bench = desk.bench
        #expect(try await bench.evaluateWithMatch() == nil)
        #expect(try await bench.absence() == "")
        bench.logind.display = nil
        bench.logind.tell("UserNew")
        #expect(await bench.evaluate()?.name == .notInteractive)
        #expect(try await bench.absence() == "no-session")
        withExtendedLifetime(desk) {}
    }

    @Test("L2: With the prompt on another terminal, only the password is accepted")
    @BusActor
    func onAnotherTerminal() async throws {
        let desk = try await Desk(terminal: "tty2")
        let bench = desk.bench
        try await bench.simulated.queue(outcomes: ["match"])
        let refusal = await bench.evaluate()
        #expect(refusal?.name == .biometryNotAvailable)
        #expect(refusal?.message.contains("in no session") == true)
        #expect(try await bench.manager.canEvaluate(policy: 1).code == -6)
        try await bench.startCompanion(becoming: "")
        #expect(try await bench.manager.canEvaluate(policy: 3).code == -11)
        #expect(await bench.evaluate(policy: 3)?.name == .companionNotAvailable)
        let asked = try bench.manager.evaluateStream(policy: 2, reason: "test", options: [:])
        var kinds: [String] = []
        for await event in asked.events {
            kinds.append(event.kind)
            if event.kind == "prompt-shown" { try await bench.manager.invalidate() }
        }
        #expect(kinds.contains("prompt-shown") && !kinds.contains("sensor-ready"))
        #expect(await bench.end(of: asked)?.name == .appCancel)
        withExtendedLifetime(desk) {}
    }

    @Test("L2: An agent in no session is refused, except root's agent of a process")
    @BusActor
    func agent() async throws {
        let bench = try await SessionBench()
        bench.logind.current = nil
        bench.logind.tell("SessionNew")
        var kinds: [[String: Variant]] = [[:], ["fallback": .bool(true)]]
        // Root's agent of a process, for example a PAM module, may run in no session.
        if getuid() != 0 { kinds.append(["process": .uint32(UInt32(getpid()))]) }
        for options in kinds {
            let refusal = await #expect(throws: DBusError.self) {
                try await bench.registerAgent(options)
            }
            #expect(refusal?.name == .accessDenied)
        }
        #expect(await bench.evaluate()?.name == .notInteractive)
        #expect(try await bench.absence() == "no-agent-at-machine")
        guard getuid() == 0 else { return }
        let refusal = await #expect(throws: DBusError.self) {
            _ = try await Person(bus: bench.bus, isForProcess: true)
        }
        #expect(refusal?.name == .accessDenied)
        try await bench.registerAgent(["process": .uint32(UInt32(getpid()))])
    }

    @Test("L2: Root may name the session in which its process shows the prompt")
    @BusActor
    func namedSession() async throws {
        let bench = try await SessionBench()
        bench.logind.current = nil
        bench.logind.tell("SessionNew")
        let process = Variant.uint32(UInt32(getpid()))
        let unserved = await #expect(throws: DBusError.self) {
            try await bench.registerAgent(["session": .string("c1")])
        }
        #expect(unserved?.name == .accessDenied)
        let empty = await #expect(throws: DBusError.self) {
            try await bench.registerAgent(["process": process, "session": .string("")])
        }
        #expect(empty?.name == (getuid() == 0 ? .invalidArgs : .accessDenied))
        guard getuid() == 0 else { return }
        try await bench.registerAgent(["process": process])
        #expect(await bench.evaluate()?.name == .biometryNotAvailable)
        try await bench.agent.manager.unregisterAgent(agent: ScriptedAgent.path)
        try await bench.registerAgent(["process": process, "session": .string("c1")])
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L2: A caller that leaves its session during the look-up counts as in no session")
    @BusActor
    func leavesMeanwhile() async throws {
        let bench = try await SessionBench()
        let passing = StandInSession("c2", at: bench.logind)
        bench.logind.current = passing
        passing.onLookUp = {
            passing.onLookUp = nil
            bench.logind.current = nil
            bench.logind.tell("SessionNew")
        }
        bench.logind.tell("SessionNew")
        let refusal = await #expect(throws: DBusError.self) { try await bench.registerAgent() }
        #expect(refusal?.name == .accessDenied)
        #expect(passing.onLookUp == nil)
    }

    @Test("L28: A session that is locked during the look-up counts as locked")
    @BusActor
    func lockedMeanwhile() async throws {
        let bench = try await SessionBench()
        let locked = StandInSession("c2", at: bench.logind)
        bench.logind.current = locked
        bench.logind.tell("SessionNew")
        locked.onLookUp = {
            locked.onLookUp = nil
            // The reply that was read is older than the lock.
            locked.lock(true)
        }
        #expect(try await bench.absence() == "locked")
        #expect(locked.onLookUp == nil)
    }

    @Test("L2: A user with only remote sessions is not at the machine")
    @BusActor
    func onlyRemote() async throws {
        let bench = try await SessionBench(isRemote: true)
        try await bench.registerAgent(["process": .uint32(UInt32(getpid()))])
        #expect(try await bench.absence() == "")
        bench.logind.current = nil
        bench.logind.tell("UserNew")
        for policy in [UInt32(1), 2] {
            #expect(await bench.evaluate(policy: policy)?.name == .notInteractive)
        }
        #expect(try await bench.absence() == "no-session")
    }

    @Test("L2: Of two local sessions, the session in front shows the prompt")
    @BusActor
    func twoSessions() async throws {
        let desk = try await Desk()
        let bench = desk.bench
        let away = StandInSession("c2", at: bench.logind)
        away.activate(false)
        bench.logind.display = away
        bench.logind.more = [away, bench.session]
        bench.logind.tell("SessionNew")
        #expect(try await bench.evaluateWithMatch() == nil)
        // No agent runs in that session.
        bench.session.activate(false)
        away.activate(true)
        #expect(await bench.evaluate()?.name == .notInteractive)
        #expect(try await bench.absence() == "no-agent-at-machine")
        bench.session.activate(true)
        away.activate(false)
        #expect(try await bench.evaluateWithMatch() == nil)
        withExtendedLifetime(desk) {}
    }

    @Test(
        "L2: A session made by su, a local ssh, a remote desktop or a timer does not count",
        arguments: [
            ("su-l", "user", ""), ("sshd", "user", ""), ("xrdp-sesman", "user", ""),
            ("cron", "background", ""), ("login", "background", "seat0"),
        ]
    )
    @BusActor
    func made(by service: String, kind: String, seat: String) async throws {
        let desk = try await Desk()
        let bench = desk.bench
        let made = StandInSession("c9", at: bench.logind)
        (made.service, made.kind, made.seat) = (service, kind, seat)
        bench.logind.current = made
        bench.logind.more = [made, bench.session]
        bench.logind.tell("SessionNew")
        let refusal = await #expect(throws: DBusError.self) {
            try await bench.registerAgent()
        }
        #expect(refusal?.name == .accessDenied)
        // The session at the machine shows the prompt.
        #expect(try await bench.evaluateWithMatch() == nil)
        withExtendedLifetime(desk) {}
    }

    @Test("L2: A login on a terminal without a seat is local")
    @BusActor
    func console() async throws {
        let bench = try await SessionBench()
        bench.session.seat = ""
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L2: A process of a remote session is refused, even if its user is at the machine too")
    @BusActor
    func remote() async throws {
        let desk = try await Desk()
        let bench = desk.bench
        let remote = StandInSession("c9", at: bench.logind, isRemote: true)
        bench.logind.current = remote
        bench.logind.more = [bench.session, remote]
        bench.logind.tell("SessionNew")
        #expect(await bench.evaluate()?.name == .biometryNotAvailable)
        #expect(await bench.evaluate(policy: 2)?.name == .notInteractive)
        #expect(try await bench.absence() == "no-agent")
        withExtendedLifetime(desk) {}
    }

    // MARK: - L28

    /// Obstacles to Evaluate's prompt, which begin and end.
    enum Hindrance: CaseIterable {
        case lock, leave, suspend, otherUser, logout

        @BusActor func begin(at bench: SessionBench) {
            switch self {
            case .lock: bench.session.lock(true)
            case .leave: bench.session.activate(false)
            case .suspend: bench.logind.prepareForSleep(true)
            case .otherUser:
                bench.logind.current = StandInSession("c2", at: bench.logind, uid: getuid() + 1)
                bench.logind.tell("UserNew")
            case .logout: bench.logind.remove(bench.session)
            }
        }

        var cause: String {
            switch self {
            case .lock: "locked"
            case .leave: "inactive"
            case .suspend: "asleep"
            case .otherUser: "other-user"
            case .logout: "no-session"
            }
        }

        var remedy: String {
            switch self {
            case .lock: "Unlock the screen."
            case .leave: "Switch to your session."
            case .suspend: "Wait until the system is awake."
            case .otherUser: "Ask in a session of your own: su and sudo make none."
            case .logout: "Log in at the machine."
            }
        }
    }

    @Test(
        "L28: Interactive is true exactly while Evaluate can prompt, and changes are signalled",
        arguments: Hindrance.allCases
    )
    @BusActor
    func hindrance(_ hindrance: Hindrance) async throws {
        let bench = try await SessionBench()
        #expect(try await bench.absence() == "no-agent")
        try await bench.registerAgent()
        #expect(try await bench.absence() == "")
        let announced = EventRecorder<Void>()
        let source = bench.manager.onPropertiesChanged { _, invalidated in
            if invalidated.contains("Interactive") { announced.record(()) }
        }
        defer { source.cancel() }
        _ = try await bench.manager.version()
        hindrance.begin(at: bench)
        _ = try await announced.first("an announcement") { _ in true }
        #expect(try await bench.manager.interactive() == false)
        #expect(try await bench.absence() == hindrance.cause)
        let said = try await bench.manager.canInteract()
        #expect(said.remedy == hindrance.remedy)
        let refusal = await bench.evaluate(policy: 2)
        #expect(refusal?.message == said.message)
        #expect(refusal?.name == (hindrance == .suspend ? .systemCancel : .notInteractive))
        #expect(try await bench.manager.canEvaluate(policy: 2).code == 0)
    }
}
