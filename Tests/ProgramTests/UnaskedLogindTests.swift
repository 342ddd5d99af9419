import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Others fill the bus, and the login manager can't be asked: that is no word from it.
@Suite("Questions to logind that don't get through", .timeLimit(.minutes(2)))
struct UnaskedLogindTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    @Test("L4, L21: a question that finds no room is asked again, and not taken for sleep")
    @BusActor
    func again() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        bench.logind.refusals = 1
        #expect(try await bench.evaluateWithMatch() == nil)
        #expect(bench.logind.refusals == 0)
    }

    @Test("L4, L21: while it can't be asked nobody new is served, and what runs goes on")
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

    @Test("L4: a match while it can't be asked is none")
    @BusActor
    func matching() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation()
        bench.logind.refusals = .max
        try await bench.simulated.touch(matching: true)
        #expect(await bench.end(of: running)?.name == .systemCancel)
        bench.logind.refusals = 0
        #expect(try await bench.evaluateWithMatch() == nil)
    }

    @Test("L4: a right passcode while it can't be asked is none, and no attempt")
    @BusActor
    func typing() async throws {
        let bench = try await SessionBench()
        try await bench.registerAgent()
        let running = try await bench.evaluation(policy: 2)
        bench.logind.refusals = .max
        let packet = Array(PAMService.passcode.utf8)
        let channel = try #require(bench.agent.passcode)
        #expect(send(channel.rawValue, packet, packet.count, 0) == packet.count)
        #expect(await bench.end(of: running)?.name == .systemCancel)
    }
}
