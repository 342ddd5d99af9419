import AuthEngine
import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Each process is killed at each step of an evaluation, and so is the bus.
///
/// `CrashTests` does it at any moment; here no step is left to chance. The daemon and the bus are
/// killed, with `LA_NIGHTLY` everybody.
@Suite("A kill at each step", .timeLimit(.minutes(10)))
struct KilledStepTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    /// How far the evaluation has come.
    enum Step: CaseIterable {
        case called, shown, looking, missed, typed, matching
    }

    enum Victim: CaseIterable {
        case daemon, verifier, sensor, agent, client, bus
    }

    @Test(
        "L17, L26: whoever is killed at a step of an evaluation, nobody is let in, all works on",
        arguments: getenv("LA_NIGHTLY") == nil ? [Victim.daemon, .bus] : Victim.allCases
    )
    @BusActor
    func killed(_ victim: Victim) async throws {
        try await CrashBench.run { bench in
            for step in Step.allCases {
                let what: Comment = "\(victim), \(step)"
                try await bench.letIn(what)
                let told = try await live(bench, victim, step, what)
                try await recover(bench, victim, told, what)
            }
        }
    }

    /// One evaluation, in whose midst somebody is killed; how many non-matches were told.
    @BusActor
    private func live(
        _ bench: CrashBench,
        _ victim: Victim,
        _ step: Step,
        _ what: Comment
    ) async throws -> Int {
        let doomed = try await bench.connectByProcess()
        defer { doomed.connection.close() }
        let agent = StandInAgent()
        if victim == .agent {
            try await bench.unregister()
            doomed.connection.export(CrashBench.agentPath, [Agent1Interface(agent)])
            _ = try await Authentication1Proxy(
                doomed.connection,
                destination: TestDaemon.name,
                path: TestDaemon.root
            )
            .registerAgent(agent: CrashBench.agentPath, options: [:])
        }
        let client = victim == .client ? doomed.connection : bench.connection
        let owner = try #require(try await bench.connection.nameOwner(TestDaemon.name))
        let daemon = Authentication1Proxy(client, destination: owner, path: TestDaemon.root)
        let call = try daemon.evaluateStream(
            policy: 2,
            reason: "test",
            options: ["sensors": .strings(["One"])]
        )
        let told = await reach(step, of: call, at: bench) {
            if victim == .agent { agent.type("1357") } else { bench.typeEverywhere("1357") }
        }
        switch victim {
        case .daemon: try await bench.kill("daemon")
        case .verifier: try await bench.kill("verifier")
        case .sensor: try await bench.kill("One")
        case .agent, .client: kill(doomed.pid, SIGKILL)
        case .bus: try await bench.killBus()
        }
        if victim != .bus { bench.cancelAll() }
        var isGranted = false
        do throws(DBusError) {
            _ = try await call.reply()
            isGranted = true
        } catch {
            #expect(!error.name.rawValue.isEmpty, what)
        }
        #expect(!isGranted || step == .matching, what)
        return isGranted ? 0 : told
    }

    /// Goes on until the step is reached; how many non-matches were told.
    @BusActor
    private func reach(
        _ step: Step,
        of call: StreamingCall<[String: Variant]>,
        at bench: CrashBench,
        type: @BusActor () -> Void
    ) async -> Int {
        guard step != .called else { return 0 }
        for await event in call.events {
            switch (event.kind, step) {
            case ("prompt-shown", .shown), ("sensor-ready", .looking): return 0
            case ("sensor-ready", .missed): try? await bench.sensor("One").touch(matching: false)
            case ("sensor-ready", .matching):
                bench.sensor("One").sendTouch(matching: true)
                return 0
            case ("sensor-ready", .typed):
                type()
                return 0
            case ("no-match", .missed): return 1
            default: break
            }
        }
        Issue.record("the evaluation ended before \(step)")
        return 0
    }

    @BusActor
    private func recover(
        _ bench: CrashBench,
        _ victim: Victim,
        _ told: Int,
        _ what: Comment
    ) async throws {
        bench.mood = .watching
        switch victim {
        case .daemon, .bus:
            #expect(try bench.record().failures >= told, what)
            bench.forgetPrompts()
            if victim == .bus {
                try await bench.startOnNewBus()
            } else {
                try await bench.start("daemon")
            }
        case .verifier: try await bench.start("verifier")
        case .sensor: try await bench.start("One")
        case .agent, .client: break
        }
        if [.daemon, .agent].contains(victim) { try await bench.comeBack() }
        try await bench.sensorsAreThere()
        if let left = try await bench.attemptsLeftAfterOneMore() {
            #expect(Int(left) <= CrashBench.lockout - told - 1, what)
        }
        try await bench.letIn(what)
    }
}

extension StandInAgent {
    /// Gives the prompt a passcode.
    fileprivate func type(_ passcode: String) {
        guard let channel = self.passcode else { return }
        let bytes = Array(passcode.utf8)
        _ = send(channel.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
