import DBus
import Foundation
import LocalAuthBus
import TestSupport
import Testing

/// After any kill at any moment, every call is answered, every reported miss still counts, and the
/// programs recover.
///
/// `LA_SEED` replays a round first; `LA_ROUNDS` sets the number of rounds.
@Suite("Crashes of every process", .timeLimit(.minutes(30)))
struct CrashTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    private func number(_ variable: String) -> UInt64? {
        ProcessInfo.processInfo.environment[variable].flatMap(UInt64.init)
    }

    @Test("Killing sensors, agents, verifiers, clients and the daemon breaks no promise")
    @BusActor
    func rounds() async throws {
        let base = number("LA_SEED") ?? UInt64.random(in: 0...UInt64.max)
        let rounds = number("LA_ROUNDS") ?? 10
        print("LA_SEED=\(base) LA_ROUNDS=\(rounds)")
        try await CrashBench.run { bench in
            for round in 0..<rounds {
                let seed = base &+ round &* 0xD134_2543_DE82_EF95
                var random = SeededGenerator(seed)
                let victim = CrashBench.Victim.allCases.randomElement(using: &random) ?? .daemon
                let what: Comment = "LA_SEED=\(seed) LA_ROUNDS=1, \(victim)"
                try await live(bench, victim, what, &random)
                try await recover(bench, what)
            }
            print("seen:", bench.seen.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })
        }
    }

    /// Makes evaluations and attempts, and kills a process in between.
    @BusActor
    private func live(
        _ bench: CrashBench,
        _ victim: CrashBench.Victim,
        _ what: Comment,
        _ random: inout SeededGenerator
    ) async throws {
        bench.told = 0
        bench.wrongPasscodes = 0
        bench.mood = Bool.random(using: &random) ? .wrong : .watching
        let doomed = try await bench.connectByProcess()
        defer { doomed.connection.close() }
        if victim == .agent {
            try await bench.unregister()
            let agent = ScriptedAgent(doomed.connection)
            agent.will(.watch)
            try await agent.register()
        }
        let clients = [bench.connection, try bench.bystander(), doomed.connection]
        var calls: [(isDoomed: Bool, answer: Task<String?, Never>)] = []
        for client in clients {
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let policy = UInt32.random(in: 1...2, using: &random)
                calls.append(
                    (
                        client === doomed.connection,
                        Task { await bench.evaluate(policy, on: client) }
                    )
                )
            }
        }
        await attempts(bench, &random)
        let sensor = Bool.random(using: &random) ? "One" : "Two"
        switch victim {
        case .daemon: try await bench.kill("daemon")
        case .verifier: try await bench.kill("verifier")
        case .sensor: try await bench.kill(sensor)
        case .agent, .client: Glibc.kill(doomed.pid, SIGKILL)
        }
        if victim == .daemon {
            bench.forgetPrompts()
            try await bench.start("daemon")
        } else if victim == .verifier {
            try await bench.start("verifier")
        } else if victim == .sensor {
            try await bench.start(sensor)
        }
        if victim == .agent || victim == .daemon { try await bench.comeBack() }
        bench.cancelAll()
        for call in calls {
            let answer = await call.answer.value
            bench.seen[answer ?? "success", default: 0] += 1
            let isOurs =
                answer?.hasPrefix("org.localauth.Error.") == true
                || answer == "org.freedesktop.DBus.Error.LimitsExceeded"
            let isTheBusses = Self.ofTheBus.contains(answer ?? "")
            #expect(isOurs || (isTheBusses && (call.isDoomed || victim == .daemon)), what)
        }
        #expect(bench.programs["daemon"]?.isRunning == true, what)
    }

    private static let ofTheBus = ["NoReply", "NameHasNoOwner", "ServiceUnknown", "Disconnected"]
        .map { "org.freedesktop.DBus.Error." + $0 }

    /// Makes misses and calls until a number of messages has been seen.
    @BusActor
    private func attempts(_ bench: CrashBench, _ random: inout SeededGenerator) async {
        // Every other time, the sensors look first.
        let ready = Bool.random(using: &random) ? bench.messages + 3 : 0
        for _ in 0..<100 where bench.messages < ready {
            _ = try? await bench.manager.canEvaluate(policy: 1)
        }
        let end = bench.messages + Int.random(in: 0..<12, using: &random)
        for _ in 0..<Int.random(in: 0..<60, using: &random) where bench.messages < end {
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                let name = Bool.random(using: &random) ? "One" : "Two"
                try? await bench.sensor(name).touch(matching: false)
            case 1: _ = try? await bench.manager.canEvaluate(policy: 1)
            default: for _ in 0..<Int.random(in: 0..<50, using: &random) { await Task.yield() }
            }
        }
    }

    /// Expects that reported misses count, and that the password and every sensor then succeed.
    @BusActor
    private func recover(_ bench: CrashBench, _ what: Comment) async throws {
        try await bench.sensorsAreThere()
        bench.mood = .watching
        let told = bench.told
        if told > 0 { bench.seen["told \(told)", default: 0] += 1 }
        if let left = try await bench.attemptsLeftAfterOneMore() {
            #expect(Int(left) <= CrashBench.lockout - told - 1, "\(what): \(told) were told")
        }
        bench.mood = .right
        #expect(await bench.evaluate(2) == nil, what)
        bench.mood = .watching
        for name in CrashBench.sensorNames {
            try await bench.sensor(name).queue(outcomes: ["match"])
            #expect(await bench.evaluate(1, ["sensors": .strings([name])]) == nil, what)
        }
    }

    @Test("Reported wrong passwords still count after the daemon was killed")
    @BusActor
    func wrongPasscodes() async throws {
        try await CrashBench.run { bench in
            for _ in 0..<3 {
                // Two in each life of the daemon; the sixth starts the delay.
                for _ in 0..<2 {
                    bench.wrongPasscodes = 3
                    bench.mood = .wrong
                    let answer = Task.immediate { @BusActor in
                        await bench.evaluate(2, ["sensors": .strings(["One"])])
                    }
                    try await eventually("a wrong passcode to be told") { bench.isRejected }
                    bench.isRejected = false
                    bench.cancelAll()
                    #expect(await answer.value == "org.localauth.Error.UserCancel")
                    bench.mood = .watching
                }
                try await bench.kill("daemon")
                bench.forgetPrompts()
                try await bench.start("daemon")
                try await bench.register()
                try await bench.sensorsAreThere()
            }
            // With no named sensor, the password is the only mechanism.
            let failed = "org.localauth.Error.AuthenticationFailed"
            #expect(await bench.evaluate(2, CrashBench.passcodeAlone) == failed)
        }
    }
}
