import AuthEngine
import AuthStore
import BusGuard
import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// A verifier that fails at each start, or never answers.
@Suite("Failing verifiers", .timeLimit(.minutes(10)))
struct VerifierRestTests {
    // Some tests run on the loop, which must have started before.
    init() { EventLoop.shared.startThread() }

    @Test("L26: a verifier that failed repeatedly rests for a while, and this is reported")
    @BusActor
    func rest() async throws {
        try await PrivateBus.run { bus in
            try await bus.offer(ScriptedVerifier.name, ["/bin/false"])
            let verifier = PasscodeVerifier(
                connection: try bus.connect(),
                lanes: CallBudget(),
                isSystemBus: false,
                shadowFile: nil
            ) { _, _ in
            }
            for _ in 0..<11 { _ = verifier.service.backOff.failed(at: .now(), wasReady: false) }
            #expect(await verifier.state(of: 0) == nil)
            guard case .notStarting = verifier.absence else {
                Issue.record("\(String(describing: verifier.absence))")
                return
            }
            // No call waits for the half minute of back-off.
            let start = ContinuousClock.now
            #expect(await verifier.state(of: 0) == nil)
            #expect(verifier.absence == .resting)
            #expect(ContinuousClock.now - start < .seconds(25))
        }
    }

    @Test("L16: after a minute of work a verifier's next fault counts as first, even after sleep")
    @BusActor
    func work() async throws {
        try await AuditBench.run { bench in
            let verifier = bench.service.verifier
            try await eventually("a verifier") { verifier.owner != nil }
            for _ in 0..<12 { _ = verifier.service.backOff.failed(at: .now(), wasReady: false) }
            verifier.service.backOff.recovered(at: Instant.now() + Duration.seconds(-60))
            bench.verifier.connection.releaseName(ScriptedVerifier.name)
            try await eventually("the next fault to be the first") {
                var backOff = verifier.service.backOff
                return backOff.failed(at: .now(), wasReady: false) < .seconds(60)
            }
        }
    }

    @Test("L16: a silent verifier costs its timeout, and the next password counts")
    @BusActor
    func silence() async throws {
        try await AuditBench.run { bench in
            let person = try await Person(bus: bench.bus)
            defer { person.connection.close() }
            person.passcode = nil
            let service = bench.service.verifier
            let patience = service.longestVerify
            service.longestVerify = .seconds(1)
            bench.verifier.isSilent = true
            let call = try Authentication1Proxy(
                person.connection,
                destination: bench.service.connection.uniqueName,
                path: TestDaemon.root
            )
            .evaluateStream(policy: 2, reason: "test", options: [:])
            let prompt = try await person.prompt()
            person.enter("wrong", into: prompt)
            for await event in call.events where event.kind == "passcode-required" {
                #expect(event.detail["cause"] == .string("verifier-failed"))
                break
            }
            // Wait until the verifier has read the first password.
            _ = try await bench.verifier.verified.first("the question") { _ in true }
            bench.verifier.isSilent = false
            service.longestVerify = patience
            person.enter(ScriptedVerifier.passcode, into: prompt)
            #expect(try await call.reply()["mechanism"] == .string("passcode"))
            #expect(bench.verifier.verified.seen.count == 2)
        }
    }
    @Test("L31: CanEvaluate is answered before a hanging verifier times out")
    @BusActor
    func hangs() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            bench.verifier.isHeld = true
            bench.verifier.tellChange()
            let start = ContinuousClock.now
            #expect(try await bench.canEvaluate(2, as: person.connection).code == -5)
            #expect(ContinuousClock.now - start < PasscodeVerifier.patience)
            bench.verifier.isHeld = false
            try await eventually("a passcode", within: .seconds(20)) {
                try await bench.canEvaluate(2, as: person.connection).code == 0
            }
        }
    }
}
