import AuthEngine
import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Kills each process, and the bus, at each step of an evaluation.
///
/// `CrashTests` kills at random moments; this suite covers every step of an evaluation, an
/// enrolment and a read of the keychain. The daemon and the bus are killed at each step, others
/// only where the service waits for them, or at each step with `LA_NIGHTLY`.
@Suite("A kill at each step", .timeLimit(.minutes(10)))
struct KilledStepTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    typealias Step = KilledCall.Step

    enum Victim: CaseIterable {
        case daemon, verifier, sensor, agent, client, bus

        var steps: [Step] {
            guard getenv("LA_NIGHTLY") == nil else { return Step.allCases }
            return switch self {
            case .daemon, .bus: Step.allCases
            case .verifier: [.verifying]
            case .sensor: [.looking, .enrolling]
            case .agent: [.confirming]
            case .client: [.verifying, .asked]
            }
        }
    }

    @Test(
        "L17, L26: A kill at any step of an evaluation grants nothing, and the programs recover",
        arguments: Victim.allCases
    )
    @BusActor
    func killed(_ victim: Victim) async throws {
        try await CrashBench.run { bench in
            try await bench.letIn()
            for step in victim.steps {
                let what: Comment = "\(victim), \(step)"
                try await live(bench, victim, step, what)
            }
        }
    }

    @BusActor
    private func live(
        _ bench: CrashBench,
        _ victim: Victim,
        _ step: Step,
        _ what: Comment
    ) async throws {
        // Makes counts that could decrease.
        #expect(await bench.evaluate(touching: [false]) != nil, what)
        bench.mood = .wrongOnce
        #expect(await bench.evaluate(2, CrashBench.passcodeInTime) != nil, what)
        bench.mood = .watching
        let doomed = try await bench.connectByProcess()
        defer { doomed.connection.close() }
        if victim == .agent {
            try await bench.unregister()
            try await bench.showPrompts(on: doomed.connection)
        }
        let client = victim == .client ? doomed.connection : bench.connection
        let call = try await KilledCall(step, of: client, at: bench)
        try await reach(call, at: bench)
        switch victim {
        case .daemon: try await bench.kill("daemon")
        case .verifier: try await bench.kill("verifier")
        case .sensor: try await bench.kill("One")
        case .agent, .client: kill(doomed.pid, SIGKILL)
        case .bus: try await bench.killBus()
        }
        await expectNotice(of: victim, call, what)
        if !Self.endsByItself(call, without: victim) {
            if victim != .bus { bench.cancelAll() }
            await call.cancel()
        }
        let refusal = await call.end()
        if let refusal {
            // The bus, or the broken connection to it, reports the loss of its own processes.
            let isTheirs = refusal.name.rawValue.hasPrefix("org.localauth.")
            #expect(isTheirs || [.daemon, .client, .bus].contains(victim), "\(what): \(refusal)")
        } else {
            #expect(step == .matching, what)
        }
        try await recover(bench, victim, call, isGranted: refusal == nil, what)
    }

    /// Whether a call ends without Cancel.
    private static func endsByItself(_ call: KilledCall, without victim: Victim) -> Bool {
        switch (victim, call.step) {
        case (.agent, .confirming), (.sensor, .enrolling): true
        default: false
        }
    }

    /// Waits until the service reports the loss of a process that the call does not need.
    @BusActor
    private func expectNotice(
        of victim: Victim,
        _ call: KilledCall,
        _ what: Comment
    ) async {
        let kind: String
        switch (victim, call.step) {
        case (.verifier, .verifying): kind = "passcode-required"
        case (.sensor, .looking): kind = "sensor-failed"
        default: return
        }
        for await event in call.events where event.kind == kind { return }
        Issue.record("\(what): the call ended, and \(kind) was not told")
    }

    @BusActor
    private func reach(_ call: KilledCall, at bench: CrashBench) async throws {
        switch call.step {
        case .called: return
        case .reading: return try await eventually("a prompt") { bench.hasPrompt }
        case .asked:
            return try await eventually("another question") { bench.isAskedForPassword }
        default: break
        }
        var stages = 0
        for await event in call.events {
            switch (event.kind, call.step) {
            case ("prompt-shown", .shown), ("sensor-ready", .looking), ("no-match", .missed),
                ("passcode-rejected", .rejected), ("confirmation-required", .confirming):
                return
            case ("sensor-ready", .missed): try await bench.sensor("One").touch(matching: false)
            case ("sensor-ready", .matching):
                onLoop { try? await bench.sensor("One").touch(matching: true) }
                return
            case ("sensor-ready", .confirming):
                try await bench.sensor("One").touch(matching: true)
            case ("sensor-ready", .rejected): try await type("1357", at: bench)
            case ("sensor-ready", .typed), ("sensor-ready", .verifying):
                let passcode = call.step == .typed ? "1357" : PAMService.passcode
                try await type(passcode, at: bench)
                return try await eventually("a check") { bench.isCheckHeld }
            case ("stage", .enrolling):
                stages += 1
                if stages == 2 { return }
            default: break
            }
        }
        Issue.record("the call ended before \(call.step): \(String(describing: await call.end()))")
    }

    /// Types a password into the prompt, which another process shows, perhaps later than an event.
    @BusActor
    private func type(_ passcode: String, at bench: CrashBench) async throws {
        try await eventually("a prompt") { bench.hasPrompt }
        bench.typeEverywhere(passcode)
    }

    /// Expects that reported counts still count, with a password without verdict, and that the
    /// programs recover.
    @BusActor
    private func recover(
        _ bench: CrashBench,
        _ victim: Victim,
        _ call: KilledCall,
        isGranted: Bool,
        _ what: Comment
    ) async throws {
        bench.mood = .watching
        let told = call.step.misses
        let endsDaemon = [.daemon, .bus].contains(victim)
        // The service forgives the attempt once it learns that the password was right.
        let isCounted =
            [.typed, .rejected].contains(call.step)
            || call.step == .verifying && (endsDaemon || victim == .verifier)
        let record = endsDaemon ? try bench.record() : try bench.recordOfRunningDaemon()
        if !isGranted { #expect(record.misses >= told, what) }
        #expect(record.wrongPasscodes >= call.step.wrongPasscodes + (isCounted ? 1 : 0), what)
        // No call waits for this verdict.
        if call.step.isHeld { bench.letChecksGoOn() }
        switch victim {
        case .daemon, .bus:
            bench.forgetPrompts()
            if victim == .bus {
                try await bench.startOnNewBus()
            } else {
                try await bench.start("daemon")
            }
        case .verifier: try await bench.start("verifier")
        case .sensor: try await bench.start("One")
        case .agent: bench.forgetPrompts()
        case .client: break
        }
        if [.daemon, .agent].contains(victim) { try await bench.comeBack() }
        try await bench.sensorsAreThere()
        try await call.expectNothingLeft(at: bench, what)
        if let left = try await bench.attemptsLeftAfterOneMore() {
            // The read succeeded with a match, which cleared the misses.
            let told = call.step == .reading ? 0 : told
            #expect(Int(left) <= CrashBench.lockout - told - 1, what)
        }
        try await bench.letIn(what)
    }
}
