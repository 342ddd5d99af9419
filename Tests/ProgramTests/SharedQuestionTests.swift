import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// What the login manager is asked for many at once.
@Suite("Shared questions to logind", .timeLimit(.minutes(2)))
struct SharedQuestionTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    /// Has the daemon find so many calls in its queue at once, and counts what it asks for them.
    @BusActor
    private static func questions(
        _ bench: SessionBench,
        _ count: Int,
        _ call: @escaping @BusActor @Sendable (Authentication1Proxy) async -> Void
    ) async throws -> [String: Int] {
        // Of somebody new nothing was told that could be answered at once (L11b).
        let guest = try bench.bus.connect()
        let manager = Authentication1Proxy(guest, destination: bench.owner, path: TestDaemon.root)
        _ = try await manager.version()
        let ended = Witness<Bool>()
        bench.process.signal(SIGSTOP)
        defer { bench.process.signal(SIGCONT) }
        for _ in 0..<count {
            onLoop {
                await call(manager)
                ended.record(true)
            }
        }
        // The bus has them all when it answers this.
        _ = try await bench.logind.connection.nameOwner(TestDaemon.name)
        bench.logind.questions = [:]
        bench.process.signal(SIGCONT)
        try await eventually("all to be answered") { ended.seen.count == count }
        guest.close()
        return bench.logind.questions
    }

    @Test("L21: however many ask at once whether they may, logind is asked at most twice")
    @BusActor
    func lid() async throws {
        let bench = try await SessionBench()
        let asked = try await Self.questions(bench, 60) { manager in
            _ = try? await manager.canEvaluate(policy: 1)
        }
        #expect(1...2 ~= asked["LidClosed", default: 0], "\(asked)")
        #expect(1...2 ~= asked["GetSessionByPID", default: 0], "\(asked)")
    }

    @Test("L21: evaluations that begin at once share what is asked about sessions and sleep")
    @BusActor
    func decisions() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        _ = try await bench.manager.canEvaluate(policy: 1)
        let mayAnswer = Witness<Bool>()
        bench.logind.preparation = { _ = try? await mayAnswer.first("a word") { $0 } }
        bench.logind.questions = [:]
        let options: [String: Variant] = ["interaction-not-allowed": .bool(true)]
        let calls = try (0..<8)
            .map { _ in
                try bench.manager.evaluateStream(policy: 1, reason: "test", options: options)
            }
        // With each answer the service has had those of the bus to what it asked before: in the end
        // all have come to what logind is to say.
        for _ in 0..<20 { _ = try await bench.manager.version() }
        mayAnswer.record(true)
        for call in calls { _ = try? await call.reply() }
        let asked = bench.logind.questions
        #expect(1...2 ~= asked["PreparingForSleep", default: 0], "\(asked)")
        #expect(1...2 ~= asked["Session.LockedHint", default: 0], "\(asked)")
        #expect(asked["GetSessionByPID", default: 0] <= 2, "\(asked)")
    }
}
