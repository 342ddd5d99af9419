import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Neighbours fill the bus, so calls to logind fail.
///
/// A failed call is no answer.
@Suite("Failing calls to logind", .timeLimit(.minutes(10)))
struct UnaskedLogindTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    @Test("L4, L21: A call refused for lack of room is retried, and does not count as sleep")
    @BusActor
    func again() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        bench.logind.refusals = 1
        #expect(try await bench.evaluateWithMatch() == nil)
        #expect(bench.logind.refusals == 0)
    }

    @Test("L4, L21: While logind is unreachable, new calls are refused and running calls continue")
    @BusActor
    func running() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation()
        bench.logind.refusals = .max
        #expect(await bench.evaluate()?.name == .notInteractive)
        bench.logind.refusals = 0
        try await bench.simulated.touch(matching: true)
        #expect(await bench.end(of: running) == nil)
    }

    /// Signals changes of a user, also before each reply about a process.
    @BusActor
    private static func churn(_ bench: SessionBench, _ user: String, _ property: String) {
        let connection = bench.logind.connection
        let path = ObjectPath(unchecked: "/org/freedesktop/login1/user/_" + user)
        let tell: @BusActor @Sendable () -> Void = {
            let interface = "org.freedesktop.login1.User"
            StandInSession.changed(connection, path, interface, [property: .bool(true)])
        }
        tell()
        bench.logind.onLookUp = tell
    }

    @Test(
        "L2, L21: Activity in other sessions does not prevent a caller's look-up",
        arguments: [("4242", "IdleHint"), ("4242", "Display"), ("\(getuid())", "IdleHint")]
    )
    @BusActor
    func churn(user: String, property: String) async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        Self.churn(bench, user, property)
        // A connection that the daemon has not looked up yet.
        let guest = try bench.bus.connect()
        defer { guest.close() }
        let manager = Authentication1Proxy(guest, destination: bench.owner, path: TestDaemon.root)
        try await bench.simulated.queue(outcomes: ["match"])
        let result = try await manager.evaluate(policy: 1, reason: "test", options: [:])
        #expect(result["mechanism"] == .string("biometry"))
    }

    @Test("L2, L21: Frequent logins of other users do not prevent a caller's look-up")
    @BusActor
    func strangers() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let logind = bench.logind
        let path = ObjectPath(unchecked: "/org/freedesktop/login1/session/c9")
        let user = ObjectPath(unchecked: "/org/freedesktop/login1/user/_4242")
        // Before each reply, another user logs in and out.
        logind.onLookUp = {
            for member in ["UserNew", "SessionNew", "SessionRemoved", "UserRemoved"] {
                let isUser = member.hasPrefix("User")
                logind.tell(member, isUser ? "uo" : "so") { writer throws(DBusError) in
                    if isUser { try writer.write(UInt32(4242)) } else { try writer.write("c9") }
                    try writer.write(isUser ? user : path)
                }
                let interface = "org.freedesktop.login1.User"
                StandInSession.changed(logind.connection, user, interface, [:])
            }
        }
        logind.questions = [:]
        let guest = try bench.bus.connect()
        defer { guest.close() }
        let manager = Authentication1Proxy(guest, destination: bench.owner, path: TestDaemon.root)
        try await bench.simulated.queue(outcomes: ["match"])
        let result = try await manager.evaluate(policy: 1, reason: "test", options: [:])
        #expect(result["mechanism"] == .string("biometry"))
        #expect(logind.questions["GetSessionByPID"] == 1)
    }

    @Test("L2: While a user's own sessions change, new callers of that user are refused")
    @BusActor
    func ownChurn() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        Self.churn(bench, "\(getuid())", "Display")
        #expect(await bench.evaluate()?.name == .notInteractive)
        bench.logind.onLookUp = nil
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L2, L4: While logind is unreachable or gone, a context's proof does not count")
    @BusActor
    func kept() async throws {
        for isGone in [false, true] {
            let bench = try await SessionBench()
            let context = try await Self.proved(bench)
            let again = try await context.evaluate(policy: 1, reason: "test", options: [:])
            #expect(again["mechanism"] == .string("context"))
            // No signal would report a lock now.
            if isGone { bench.logind.stop() } else { bench.logind.refusals = .max }
            let refusal = await #expect(throws: DBusError.self) {
                try await context.evaluate(policy: 1, reason: "test", options: [:])
            }
            #expect(refusal?.name == .notInteractive)
        }
    }

    @Test("L2, L4: A context's proof ends with the session, and with logind")
    @BusActor
    func over() async throws {
        for isLogind in [false, true] {
            let bench = try await SessionBench()
            let context = try await Self.proved(bench)
            if isLogind {
                bench.logind.stop()
                try bench.logind.start()
            } else {
                bench.logind.remove(bench.session)
                let next = StandInSession("c2", at: bench.logind)
                (bench.logind.current, bench.logind.display) = (next, next)
                bench.logind.tell("SessionNew")
            }
            try await bench.becomes(interactive: true)
            try await bench.simulated.queue(outcomes: ["match"])
            let anew = try await context.evaluate(policy: 1, reason: "test", options: [:])
            #expect(anew["mechanism"] == .string("biometry"))
        }
    }

    @BusActor
    private static func proved(_ bench: SessionBench) async throws -> Context1Proxy {
        try await bench.registerAgent()
        let context = try await bench.context([:])
        try await bench.simulated.queue(outcomes: ["match"])
        _ = try await context.evaluate(policy: 1, reason: "test", options: [:])
        return context
    }

    @Test("L4, L39: A match while logind is unreachable does not count, and the reply says why")
    @BusActor
    func matching() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation()
        bench.logind.refusals = .max
        try await bench.simulated.touch(matching: true)
        let refusal = await bench.end(of: running)
        #expect(refusal?.name == .systemCancel)
        #expect(refusal?.message.hasPrefix("The login manager did not confirm") == true)
        bench.logind.refusals = 0
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L4: A face confirmed while logind is unreachable does not count")
    @BusActor
    func confirming() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluationOfFace()
        bench.logind.refusals = .max
        try await bench.manager.submitConfirm(prompt: bench.agent.last)
        #expect(await bench.end(of: running)?.name == .systemCancel)
    }

    @Test("L4: An app's password while logind is unreachable is neither accepted nor kept")
    @BusActor
    func password() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        for refusals in [Int.max, 0] {
            bench.logind.refusals = 0
            let context = try await bench.context([:])
            let running = try await bench.evaluation(withPasswordIn: context)
            bench.logind.refusals = refusals
            bench.agent.enter("word")
            #expect(await bench.end(of: running)?.name == (refusals == 0 ? nil : .systemCancel))
            let isKept = try await context.isCredentialSet(credentialType: 0)
            #expect(isKept == (refusals == 0))
        }
    }

    @Test("L4: A match waits for a late reply, and counts then")
    @BusActor
    func late() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation()
        bench.logind.refusals = 1
        try await bench.simulated.touch(matching: true)
        #expect(await bench.end(of: running) == nil)
        #expect(bench.logind.refusals == 0)
    }

    @Test("L4: A right password while logind is unreachable does not count, nor as an attempt")
    @BusActor
    func typing() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        // If these counted, the sixth would start a delay of a minute without further attempts.
        for refusals in [Int](repeating: .max, count: 6) + [0] {
            bench.logind.refusals = 0
            let running = try await bench.evaluation(policy: 2)
            bench.logind.refusals = refusals
            bench.agent.enter(PAMService.passcode)
            #expect(await bench.end(of: running)?.name == (refusals == 0 ? nil : .systemCancel))
        }
    }
}
