import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// L2 and L4: users' sessions as logind reports them.
@Suite("Sessions", .timeLimit(.minutes(10)))
struct SessionTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    @Test("L2: An active local session can evaluate")
    @BusActor
    func local() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        #expect(try await bench.manager.interactive())
    }

    @Test("L11b: Interactive is right from a connection's first read on")
    @BusActor
    func firstInteractive() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        for isAll in [false, true] {
            let client = try bench.bus.connect()
            let manager = Authentication1Proxy(
                client,
                destination: bench.owner,
                path: TestDaemon.root
            )
            if isAll {
                #expect(try await manager.properties()["Interactive"] == .bool(true))
            } else {
                #expect(try await manager.interactive())
            }
        }
    }

    @Test("L2: Interactive is signalled once a failed look-up succeeds")
    @BusActor
    func interactive() async throws {
        let bench = try await SessionBench()
        let announced = Feed<Void>()
        try await bench.registerAgent()
        let client = try bench.bus.connect()
        let manager = Authentication1Proxy(client, destination: bench.owner, path: TestDaemon.root)
        let logind = bench.logind
        logind.fault = DBusError(.failed, "I don't know.")
        logind.questions = [:]
        logind.onLookUp = {
            if logind.questions["GetSessionByPID", default: 0] > 1 { logind.fault = nil }
        }
        let source = manager.onPropertiesChanged { _, invalidated in
            if invalidated.contains("Interactive") { announced.add(()) }
        }
        defer { source.cancel() }
        #expect(try await !manager.interactive())
        await announced.next()
        #expect(try await manager.interactive())
    }

    @Test("R25, L2: An inactive or locked session shows no prompt, but CanEvaluate succeeds")
    @BusActor
    func absent() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        #expect(try await bench.absence().isEmpty)
        bench.session.activate(false)
        #expect(try await bench.absence() == "inactive")
        let inactive = try #require(await bench.evaluate())
        #expect(inactive.name == .notInteractive && inactive.message.contains("not in front"))
        #expect(await bench.evaluate(policy: 2) == inactive)
        #expect(try await bench.manager.canEvaluate(policy: 1).code == 0)
        bench.session.activate(true)
        bench.session.lock(true)
        #expect(try await bench.absence() == "locked")
        let locked = try #require(await bench.evaluate())
        #expect(locked.name == .notInteractive && locked.message.contains("locked"))
        #expect(bench.agent.count == 0)
        bench.session.lock(false)
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L2: A session of another user is not the caller's")
    @BusActor
    func otherUser() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        bench.logind.current = StandInSession("c2", at: bench.logind, uid: getuid() + 1)
        bench.logind.tell("UserNew")
        // For this reason, and not for lack of an agent.
        #expect(try await bench.absence() == "other-user")
        let refused = try #require(await bench.evaluate())
        #expect(refused.name == .notInteractive)
        #expect(refused.message.contains("session of another user"))
        #expect(bench.agent.count == 0)
    }

    @Test("L2: An agent can't register for a session of another user")
    @BusActor
    func agentAtAnother() async throws {
        let bench = try await SessionBench()
        bench.logind.current = StandInSession("c2", at: bench.logind, uid: getuid() + 1)
        bench.logind.tell("UserNew")
        let refusal = await #expect(throws: DBusError.self) { try await bench.registerAgent() }
        #expect(refusal?.name == .accessDenied)
        #expect(refusal?.message.contains("no session that prompts can be shown in") == true)
    }

    @Test("L2: An agent registered before logind starts then belongs to its session")
    @BusActor
    func lateLogind() async throws {
        let bench = try await SessionBench(startsLogind: false)
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        try bench.logind.start()
        let announced = Feed<Void>()
        let source = bench.manager.onPropertiesChanged { _, invalidated in
            if invalidated.contains("Interactive") { announced.add(()) }
        }
        defer { source.cancel() }
        while try await !bench.manager.interactive() { await announced.next() }
        #expect(try await bench.evaluateWithMatch() == nil)
        bench.session.lock(true)
        #expect(try await bench.absence() == "locked")
        #expect(await bench.evaluate()?.name == .notInteractive)
    }

    @Test("L2: An agent serves its user's next session")
    @BusActor
    func nextSession() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        bench.logind.remove(bench.session)
        #expect(await bench.evaluate()?.name == .notInteractive)
        let next = StandInSession("c2", at: bench.logind)
        bench.logind.current = next
        bench.logind.display = next
        bench.logind.tell("SessionNew")
        try await bench.becomes(interactive: true)
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L2: An agent's session is looked up again if logind's first reply is an error")
    @BusActor
    func lateSession() async throws {
        let bench = try await SessionBench(startsLogind: false)
        try await bench.registerAgent()
        bench.logind.fault = DBusError(.limitsExceeded, "Too many at once.")
        try bench.logind.start()
        try await bench.becomes(interactive: false)
        #expect(await bench.evaluate()?.name == .notInteractive)
        bench.logind.fault = nil
        bench.logind.tell("UserNew")
        try await bench.becomes(interactive: true)
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    enum Logout: CaseIterable {
        case told
        /// logind signals only the end of the last session.
        case untold
        /// The service does not run at that time.
        case unseen
    }

    @Test(
        "R50: After a logout, biometry needs a password first",
        .enabled(if: getuid() == 0, "only root reports unlocks"),
        arguments: Logout.allCases
    )
    @BusActor
    func logout(_ logout: Logout) async throws {
        let bench = try await SessionBench(configuration: "[Biometry]\nPasscodeAfterBoot=yes\n")
        let manager = bench.manager
        #expect(try await manager.canEvaluate(policy: 1).code == -8)
        try await manager.reportUnlock(uid: getuid(), method: "passcode")
        #expect(try await manager.canEvaluate(policy: 1).code == 0)
        // A session ends while another continues, so the daemon asks logind.
        bench.logind.questions = [:]
        bench.logind.tell("SessionRemoved", "so") { writer throws(DBusError) in
            try writer.write("c9")
            try writer.write(ObjectPath(trusted: "/org/freedesktop/login1/session/c9"))
        }
        while bench.logind.questions["GetUser"] == nil { _ = try await manager.version() }
        for _ in 0..<20 { _ = try await manager.version() }
        #expect(try await manager.canEvaluate(policy: 1).code == 0)
        switch logout {
        case .told:
            bench.logind.tell("UserRemoved", "uo") { writer throws(DBusError) in
                try writer.write(getuid())
                try writer.write(StandInLogind.user)
            }
        case .untold: bench.logind.logOut(bench.session)
        case .unseen:
            try await bench.restartDaemon { bench.logind.logOut(bench.session) }
            try await bench.device("Simulated", becomes: "")
        }
        try await eventually("biometry to wait for a passcode") {
            try await bench.manager.canEvaluate(policy: 1).code == -8
        }
    }

    @Test(
        "R50: A greeter's session may end between the password and the user's session",
        .enabled(if: getuid() == 0, "only root reports unlocks")
    )
    @BusActor
    func login() async throws {
        let bench = try await SessionBench(configuration: "[Biometry]\nPasscodeAfterBoot=yes\n")
        bench.logind.logOut(bench.session)
        try await bench.manager.reportUnlock(uid: getuid(), method: "passcode")
        bench.logind.questions = [:]
        bench.logind.tell("SessionRemoved", "so") { writer throws(DBusError) in
            try writer.write("c9")
            try writer.write(ObjectPath(trusted: "/org/freedesktop/login1/session/c9"))
        }
        while bench.logind.questions["GetUser"] == nil { _ = try await bench.manager.version() }
        for _ in 0..<20 { _ = try await bench.manager.version() }
        #expect(try await bench.manager.canEvaluate(policy: 1).code == 0)
    }

    @Test("L16: A process that exits during its agent's look-up has no agent")
    @BusActor
    func endedProcess() async throws {
        let bench = try await SessionBench()
        let process = try ChildProcess(["/bin/sleep", "600"])
        // Makes the daemon look up the agent's session again.
        bench.logind.tell("UserNew")
        bench.logind.onLookUp = {
            process.signal(SIGKILL)
            _ = try? process.wait()
        }
        let refusal = await #expect(throws: DBusError.self) {
            try await bench.registerAgent(["process": .uint32(UInt32(process.pid))])
        }
        #expect(refusal?.name == .invalidArgs)
        #expect(refusal?.message.contains("no process") == true)
    }

    @Test("L2: A process's agent serves child processes too")
    @BusActor
    func child() async throws {
        let bench = try await SessionBench()
        bench.logind.others = bench.session
        try await bench.registerAgent(["process": .uint32(UInt32(getpid()))])
        let words =
            ["--address=" + bench.bus.address, "call", TestDaemon.name]
            + [TestDaemon.root.rawValue, TestDaemon.name, "CanInteract"]
        let said = try await Installation.run("/usr/bin/busctl", words)
        #expect(said.output.hasPrefix("bsss true"), "\(said.output)")
    }

    @Test("L1: A failed look-up refuses")
    @BusActor
    func failure() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        bench.logind.fault = DBusError(.failed, "I don't know.")
        bench.logind.tell("UserNew")
        #expect(await bench.evaluate()?.name == .notInteractive)
        #expect(try await bench.absence() == "unknown")
        bench.logind.fault = nil
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L2: In a remote session policy 1 answers -6 with the cause, policy 2 -1004")
    @BusActor
    func remote() async throws {
        let bench = try await SessionBench(isRemote: true)
        let answer = try await bench.manager.canEvaluate(policy: 1)
        #expect(answer.code == -6)
        #expect(answer.message.contains("remote session"))
        let error = await bench.evaluate()
        #expect(error?.name == .biometryNotAvailable)
        #expect(error?.message == answer.message)
        #expect(try await bench.absence() == "no-agent")
        #expect(await bench.evaluate(policy: 2)?.name == .notInteractive)
        try await bench.startCompanion(becoming: "remote-session")
        #expect(try await bench.manager.canEvaluate(policy: 3).code == -11)
        #expect(await bench.evaluate(policy: 3)?.name == .companionNotAvailable)
        #expect(await bench.evaluate(policy: 4)?.name == .biometryNotAvailable)
        let findings = try await bench.manager.diagnose()
        for name in ["Simulated", "Key"] {
            let finding = findings.first { $0["name"] == .string("sensor " + name) }
            #expect(finding?["message"]?.asString?.contains("remote-session") == true)
        }
    }

    @Test("L2: In a remote session an agent serves one process, and accepts only the password")
    @BusActor
    func remoteAgent() async throws {
        let bench = try await SessionBench(isRemote: true)
        for options in [[:], ["fallback": Variant.bool(true)]] {
            let refusal = await #expect(throws: DBusError.self) {
                try await bench.registerAgent(options)
            }
            #expect(refusal?.name == .accessDenied)
            #expect(refusal?.message.contains("remote session") == true)
        }
        try await bench.registerAgent(["process": .uint32(UInt32(getpid()))])
        let call = try bench.manager.evaluateStream(policy: 2, reason: "test", options: [:])
        let details = try await bench.agent.prompt().details
        #expect(details["stage"] == .string("passcode"))
        #expect(details["sensors"]?.asStrings == [])
        try await bench.manager.submitCancel(prompt: bench.agent.last)
        #expect(await bench.end(of: call)?.name == .userCancel)
        #expect(await bench.evaluate()?.name == .biometryNotAvailable)
    }

    @Test("L2: A remote session's agent shows no prompt for a process in a local session")
    @BusActor
    func agentFromAfar() async throws {
        let bench = try await SessionBench(isRemote: true)
        try await bench.registerAgent(["process": .uint32(UInt32(getpid()))])
        bench.logind.current = StandInSession("c2", at: bench.logind)
        bench.logind.tell("UserNew")
        #expect(try await bench.manager.canEvaluate(policy: 1).code == 0)
        // The session is local and in front, but lacks an agent.
        #expect(try await bench.absence() == "no-agent")
        #expect(await bench.evaluate()?.name == .notInteractive)
    }

    enum Interruption: CaseIterable {
        case locked, askedToLock, left, removed, lost
    }

    @Test(
        "R25, L4: A lock or switch of the session ends running and queued evaluations with -4",
        arguments: Interruption.allCases
    )
    @BusActor
    func interruption(_ interruption: Interruption) async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation()
        let waiting = try bench.manager.evaluateStream(policy: 2, reason: "test", options: [:])
        // Decided after the queued call.
        let silent: [String: Variant] = ["interaction-not-allowed": .bool(true)]
        let silenced = await #expect(throws: DBusError.self) {
            try await bench.manager.evaluate(policy: 2, reason: "test", options: silent)
        }
        #expect(silenced?.name == .notInteractive)
        switch interruption {
        case .locked: bench.session.lock(true)
        case .askedToLock: bench.session.askToLock()
        case .left: bench.session.activate(false)
        case .removed: bench.logind.remove(bench.session)
        case .lost: bench.logind.stop()
        }
        #expect(await bench.end(of: running)?.name == .systemCancel)
        #expect(await bench.end(of: waiting)?.name == .systemCancel)
        #expect(try await bench.agent.end() == "system")
        switch interruption {
        case .locked: bench.session.lock(false)
        case .left: bench.session.activate(true)
        case .askedToLock: break
        case .removed, .lost:
            #expect(await bench.evaluate()?.name == .notInteractive)
            return
        }
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L1: The daemon trusts only logind's own process")
    @BusActor
    func forgery() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation()
        let forger = try bench.bus.connect()
        for destination in [nil, bench.owner] {
            StandInSession.changed(
                forger,
                bench.session.path,
                "org.freedesktop.login1.Session",
                ["Active": .bool(false), "LockedHint": .bool(true)],
                to: destination
            )
            forger.emit(
                path: StandInLogind.root,
                interface: "org.freedesktop.login1.Manager",
                member: "PrepareForSleep",
                signature: "b",
                to: destination
            ) { writer throws(DBusError) in try writer.write(true) }
        }
        // The daemon answers this call after the forged signals.
        let own = Authentication1Proxy(forger, destination: bench.owner, path: TestDaemon.root)
        #expect(try await own.canEvaluate(policy: 1).code == 0)
        try await bench.simulated.touch(matching: true)
        #expect(await bench.end(of: running) == nil)
    }

    @Test(
        "L1: A logind that runs as another user is neither trusted nor called",
        .enabled(if: getuid() == 0, "only root becomes somebody else")
    )
    @BusActor
    func impostor() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        bench.logind.stop()
        // The daemon answers this call once the name is free.
        _ = try await bench.manager.version()
        let connection = try Connection(.address(Person.address(bench.bus)))
        defer { connection.close() }
        let impostor = StandInLogind(on: connection)
        let session = StandInSession("c1", at: impostor)
        (impostor.current, impostor.display) = (session, session)
        try impostor.start()
        // The daemon answers these calls once it knows the name's owner, and after calls to it.
        let own = Authentication1Proxy(connection, destination: bench.owner, path: TestDaemon.root)
        for _ in 0..<5 { _ = try await own.version() }
        #expect(try await bench.evaluateWithMatch()?.name == .notInteractive)
        #expect(impostor.questions.isEmpty)
    }

    @Test("L2: After a restart of logind, all sessions are looked up again")
    @BusActor
    func comeback() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        bench.logind.stop()
        #expect(await bench.evaluate()?.name == .notInteractive)
        #expect(await bench.logind.delays.next() == true)
        #expect(await bench.logind.delays.next() == false)
        bench.session.lock(true)
        try bench.logind.start()
        #expect(await bench.logind.delays.next() == true)
        try await eventually("the lock to be known") { try await bench.absence() == "locked" }
        #expect(await bench.evaluate()?.name == .notInteractive)
        bench.session.lock(false)
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L2: On a session bus, the daemon uses the system's logind")
    @BusActor
    func sessionBus() async throws {
        let bus = try PrivateBus()
        let system = try PrivateBus()
        let logind = try StandInLogind(system)
        logind.current = StandInSession("c1", at: logind, isRemote: true)
        try logind.start()
        let daemon = try bus.run(
            ["localauthd", "--bus", "session", "--state-directory", bus.folder + "/state"],
            environment: [
                "DBUS_SESSION_BUS_ADDRESS": bus.address,
                "DBUS_SYSTEM_BUS_ADDRESS": system.address,
            ]
        )
        let owner = try await bus.waitForOwner(of: TestDaemon.name)
        let manager = Authentication1Proxy(
            try bus.connect(),
            destination: try #require(owner),
            path: TestDaemon.root
        )
        let answer = try await manager.canEvaluate(policy: 1)
        #expect(answer.code == -6)
        #expect(answer.message.contains("remote session"))
        #expect(daemon.isRunning)
    }
}
