import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// L2 and L4: who sits where, by what logind says.
@Suite("Sessions", .timeLimit(.minutes(10)))
struct SessionTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    @Test("L2: in an active local session the user is asked")
    @BusActor
    func local() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        #expect(try await bench.manager.interactive())
    }

    @Test("L11b: Interactive is what it is from the first question of a connection on")
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

    @Test("L2: what serves the caller is announced when it could not be found out at first")
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

    @Test("R25, L2: in an inactive or locked session nobody is asked, and it can be evaluated")
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

    @Test("L2: a session of another user is not the caller's")
    @BusActor
    func otherUser() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        bench.logind.current = StandInSession("c2", at: bench.logind, uid: getuid() + 1)
        bench.logind.tell("UserNew")
        // For this reason, and not because nothing there shows prompts.
        #expect(try await bench.absence() == "other-user")
        let refused = try #require(await bench.evaluate())
        #expect(refused.name == .notInteractive)
        #expect(refused.message.contains("session of another user"))
        #expect(bench.agent.count == 0)
    }

    @Test("L2: nobody becomes an agent of a session of another user")
    @BusActor
    func agentAtAnother() async throws {
        let bench = try await SessionBench()
        bench.logind.current = StandInSession("c2", at: bench.logind, uid: getuid() + 1)
        bench.logind.tell("UserNew")
        let refusal = await #expect(throws: DBusError.self) { try await bench.registerAgent() }
        #expect(refusal?.name == .accessDenied)
        #expect(refusal?.message.contains("no session that prompts can be shown in") == true)
    }

    @Test("L2: an agent that was there before the login manager belongs to its session then")
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

    @Test("L2: an agent serves the session that its user sits at next")
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

    @Test("L2: an agent whose session can't be found out when logind comes is asked for again")
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
        /// It is told of the last session alone.
        case untold
        /// No service runs when it happens.
        case unseen
    }

    @Test(
        "R50: after a logout biometry waits for a passcode",
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
        // A session ends while another one goes on, which logind is asked about.
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

    @Test("L16: a process that ends while its agent is looked up has none then")
    @BusActor
    func endedProcess() async throws {
        let bench = try await SessionBench()
        let process = try ChildProcess(["/bin/sleep", "600"])
        // Where the agent is, is asked anew.
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

    @Test("L2: an agent of a process serves what that process starts")
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

    @Test("L1: a look-up that fails refuses")
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

    @Test("L2: in a remote session policy 1 answers -6 and says why, policy 2 -1004")
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

    @Test("L2: in a remote session an agent serves one process, and asks for the passcode alone")
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
        let details = try #require(await bench.agent.prompts.next())
        #expect(details["stage"] == .string("passcode"))
        #expect(details["sensors"]?.asStrings == [])
        try await bench.manager.submitCancel(prompt: bench.agent.last)
        #expect(await bench.end(of: call)?.name == .userCancel)
        #expect(await bench.evaluate()?.name == .biometryNotAvailable)
    }

    @Test("L2: an agent of a remote session shows nothing for a process in a local one")
    @BusActor
    func agentFromAfar() async throws {
        let bench = try await SessionBench(isRemote: true)
        try await bench.registerAgent(["process": .uint32(UInt32(getpid()))])
        bench.logind.current = StandInSession("c2", at: bench.logind)
        bench.logind.tell("UserNew")
        #expect(try await bench.manager.canEvaluate(policy: 1).code == 0)
        // Its session is local and in front: it lacks an agent.
        #expect(try await bench.absence() == "no-agent")
        #expect(await bench.evaluate()?.name == .notInteractive)
    }

    enum Interruption: CaseIterable {
        case locked, askedToLock, left, removed, lost
    }

    @Test(
        "R25, L4: what runs and what waits ends with -4 when the session is locked or left",
        arguments: Interruption.allCases
    )
    @BusActor
    func interruption(_ interruption: Interruption) async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation()
        let waiting = try bench.manager.evaluateStream(policy: 2, reason: "test", options: [:])
        // Decided behind the one that waits.
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
        #expect(await bench.agent.ends.next() == "system")
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

    @Test("L1: only logind's own process is believed")
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
        // Answered behind what it forged.
        let own = Authentication1Proxy(forger, destination: bench.owner, path: TestDaemon.root)
        #expect(try await own.canEvaluate(policy: 1).code == 0)
        try await bench.simulated.touch(matching: true)
        #expect(await bench.end(of: running) == nil)
    }

    @Test(
        "L1: whoever takes logind's name and is another user is not believed, nor asked",
        .enabled(if: getuid() == 0, "only root becomes somebody else")
    )
    @BusActor
    func impostor() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        #expect(try await bench.evaluateWithMatch() == nil)
        bench.logind.stop()
        // Answered once the name is free.
        _ = try await bench.manager.version()
        let connection = try Connection(.address(Person.address(bench.bus)))
        defer { connection.close() }
        let impostor = StandInLogind(on: connection)
        let session = StandInSession("c1", at: impostor)
        (impostor.current, impostor.display) = (session, session)
        try impostor.start()
        // Answered once it is known who that is, and behind what it would be asked.
        let own = Authentication1Proxy(connection, destination: bench.owner, path: TestDaemon.root)
        for _ in 0..<5 { _ = try await own.version() }
        #expect(try await bench.evaluateWithMatch()?.name == .notInteractive)
        #expect(impostor.questions.isEmpty)
    }

    @Test("L2: when logind comes back everything is asked anew")
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

    @Test("L2: on a session bus the system's logind is asked")
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
