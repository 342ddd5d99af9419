import AuthStore
import DBus
import TestSupport
import Testing

@testable import AuthService

/// How the service deals with a verifier that fails whenever it is started.
@Suite("A verifier that fails", .timeLimit(.minutes(10)))
struct VerifierRestTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    @Test("L26: A verifier that failed again and again is left alone for a while, which is told")
    @BusActor
    func rest() async throws {
        try await PrivateBus.run { bus in
            try await bus.offer(ScriptedVerifier.name, ["/bin/false"])
            let verifier = PasscodeVerifier(
                connection: try bus.connect(),
                isSystemBus: false,
                shadowFile: nil
            ) { _, _ in
            }
            for _ in 0..<11 { _ = verifier.backOff.failed(at: .now(), wasReady: false) }
            #expect(await verifier.state(of: 0) == nil)
            guard case .notStarting = verifier.absence else {
                Issue.record("\(String(describing: verifier.absence))")
                return
            }
            // Nobody waits for the half minute that it is left alone.
            let start = ContinuousClock.now
            #expect(await verifier.state(of: 0) == nil)
            #expect(verifier.absence == .resting)
            #expect(ContinuousClock.now - start < .seconds(10))
        }
    }
}
