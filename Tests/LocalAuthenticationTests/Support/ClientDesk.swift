import DBus
import LocalAuthClient
package import TestSupport
package import Testing

/// A ``Desk`` that this process's client uses.
package enum ClientDesk {
    /// Gives a test a desk of its own, one after another: a process has one client.
    ///
    /// The suite has the trait ``ClientTurn``, so that no test waits here but for cases of its own.
    ///
    /// - Parameters:
    ///   - isDaemonRunning: Whether the daemon, a sensor with a template, and the agent are there.
    ///   - body: The test; it runs off the loop, so that it may block.
    /// - Throws: What the test throws, with what the programs said.
    package static func run(
        isDaemonRunning: Bool = true,
        _ body: @Sendable (Desk) async throws -> Void
    ) async throws {
        try await Turn.ofRuns.take {
            try await PrivateBus.run { bus in
                let desk = try Desk(on: bus)
                ServiceConnection.shared.use(.address(bus.address))
                if isDaemonRunning { try await desk.startEverything() }
                try await body(desk)
            }
        }
    }
}

extension Desk {
    /// Has biometry locked out, by three misses in one prompt and two in the next.
    package func lockBiometryOut() async throws {
        for misses in [3, 2] {
            for _ in 0..<misses { try await queue("no-match") }
            _ = try? await AuthenticationSession().authenticate(.biometrics, reason: "look")
        }
    }
}

/// Has each test of a suite wait for its turn with the process's client before its time begins.
///
/// A test's time limit counts for what is inside its cases, and this goes around them: else the
/// last of eighty tests would have waited for longer than its limit on a busy machine.
package struct ClientTurn: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        testCase == nil && !test.isSuite ? self : nil
    }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing body: @Sendable () async throws -> Void
    ) async throws {
        try await Turn.ofTests.take(body)
    }
}

extension Trait where Self == ClientTurn {
    /// One test after another, each with its whole time.
    package static var clientTurn: Self { Self() }
}

/// Lets one after another in.
private actor Turn {
    static let ofTests = Turn()
    static let ofRuns = Turn()

    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take(_ body: @Sendable () async throws -> Void) async throws {
        await begin()
        defer { finish() }
        try await body()
    }

    private func begin() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func finish() {
        if waiting.isEmpty {
            isTaken = false
        } else {
            waiting.removeFirst().resume()
        }
    }
}
