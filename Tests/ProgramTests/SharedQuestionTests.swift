import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Look-ups at logind that many calls share.
@Suite("Shared look-ups at logind", .timeLimit(.minutes(10)))
struct SharedQuestionTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    /// Makes logind withhold replies about the machine until all calls have reached that look-up.
    @BusActor
    private static func hold(_ bench: SessionBench) -> EventRecorder<Bool> {
        let mayAnswer = EventRecorder<Bool>()
        bench.logind.preparation = { _ = try? await mayAnswer.first("a word") { $0 } }
        bench.logind.questions = [:]
        return mayAnswer
    }

    /// Makes calls until all others have reached the look-up at logind, then lets it reply.
    ///
    /// With each reply, the service has received the bus's replies to its earlier calls.
    @BusActor
    private static func release(
        _ bench: SessionBench,
        _ mayAnswer: EventRecorder<Bool>
    ) async throws {
        for _ in 0..<20 { _ = try await bench.manager.version() }
        mayAnswer.record(true)
    }

    @Test("L21: Many concurrent calls look up logind's state at most twice")
    @BusActor
    func lid() async throws {
        let bench = try await SessionBench()
        // A new connection, for which no cached answer exists (L11b).
        let guest = try bench.bus.connect()
        defer { guest.close() }
        let manager = Authentication1Proxy(guest, destination: bench.owner, path: TestDaemon.root)
        _ = try await manager.version()
        let mayAnswer = Self.hold(bench)
        let ended = EventRecorder<Bool>()
        for _ in 0..<60 {
            onLoop {
                _ = try? await manager.canEvaluate(policy: 1)
                ended.record(true)
            }
        }
        try await Self.release(bench, mayAnswer)
        try await eventually("all to be answered") { ended.seen.count == 60 }
        let asked = bench.logind.questions
        #expect(1...2 ~= asked["LidClosed", default: 0], "\(asked)")
        #expect(1...2 ~= asked["GetSessionByPID", default: 0], "\(asked)")
    }

    @Test(
        "R50, L21: Many ending sessions cause at most two look-ups of their user",
        .enabled(if: getuid() == 0, "only root reports unlocks")
    )
    @BusActor
    func logouts() async throws {
        let bench = try await SessionBench()
        try await bench.manager.reportUnlock(uid: getuid(), method: "passcode")
        let mayAnswer = Self.hold(bench)
        for number in 0..<20 {
            bench.logind.tell("SessionRemoved", "so") { writer throws(DBusError) in
                try writer.write("c9\(number)")
                try writer.write(ObjectPath(unchecked: "\(bench.session.path.rawValue)9\(number)"))
            }
        }
        try await Self.release(bench, mayAnswer)
        bench.logind.preparation = nil
        // Each look-up starts after the replies to the one before.
        for _ in 0..<20 { _ = try await bench.manager.version() }
        #expect(1...2 ~= bench.logind.questions["GetUser", default: 0])
    }

    @Test("L11b: Reads of Interactive refresh from logind at most once a second")
    @BusActor
    func interactive() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        try await eventually("somebody to be there") { try await bench.manager.interactive() }
        let start = ContinuousClock.now
        bench.logind.questions = [:]
        try await eventually("a question") {
            _ = try await bench.manager.interactive()
            return bench.logind.questions["PreparingForSleep"] != nil
        }
        for _ in 0..<100 { _ = try await bench.manager.interactive() }
        let seconds = Int((ContinuousClock.now - start).components.seconds)
        #expect(bench.logind.questions["PreparingForSleep", default: 0] <= seconds + 1)
    }

    @Test(
        "L11b: Reads of Interactive refresh two users in the same second",
        .enabled(if: getuid() == 0, "needs a second user")
    )
    @BusActor
    func twoUsers() async throws {
        let bench = try await SessionBench()
        let session = StandInSession("c2", at: bench.logind, uid: 65534)
        bench.logind.others = session
        let looks = EventRecorder<String>()
        for session in [bench.session, session] {
            let id = session.id
            session.onLookUp = { looks.record(id) }
        }
        let guest = try Connection(.address(Person.address(bench.bus)))
        defer { guest.close() }
        let manager = Authentication1Proxy(guest, destination: bench.owner, path: TestDaemon.root)
        /// Reads Interactive, and returns whether the read caused a look-up at logind.
        @BusActor
        func isAskedAbout(
            _ id: String,
            by manager: Authentication1Proxy
        ) async throws -> Bool {
            looks.forget()
            _ = try await manager.interactive()
            for _ in 0..<5 { _ = try await bench.manager.version() }
            return looks.seen.contains(id)
        }
        try await eventually("the guest's session to be known") {
            try await isAskedAbout("c2", by: manager)
        }
        try await eventually("both to be asked about within a second") {
            let start = ContinuousClock.now
            guard try await isAskedAbout("c1", by: bench.manager) else { return false }
            let isAsked = try await isAskedAbout("c2", by: manager)
            return isAsked && ContinuousClock.now - start < .seconds(1)
        }
    }

    @Test("L21: Evaluations that start together share look-ups of sessions and sleep")
    @BusActor
    func decisions() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        _ = try await bench.manager.canEvaluate(policy: 1)
        let mayAnswer = Self.hold(bench)
        let options: [String: Variant] = ["interaction-not-allowed": .bool(true)]
        let calls = try (0..<8)
            .map { _ in
                try bench.manager.evaluateStream(policy: 1, reason: "test", options: options)
            }
        try await Self.release(bench, mayAnswer)
        for call in calls { _ = try? await call.reply() }
        let asked = bench.logind.questions
        #expect(1...2 ~= asked["PreparingForSleep", default: 0], "\(asked)")
        #expect(1...2 ~= asked["Session.LockedHint", default: 0], "\(asked)")
        #expect(asked["GetSessionByPID", default: 0] <= 2, "\(asked)")
    }
}
