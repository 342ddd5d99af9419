import DBus
import LocalAuthClient
package import TestSupport
package import Testing

/// A ``Desk`` that the client library of this process uses.
package enum ClientDesk {
    /// Runs a test with its own desk, one test at a time, because a process has one client.
    ///
    /// The suite has the trait ``ClientTurn``, so a test waits here only for other cases of its
    /// own.
    ///
    /// - Parameters:
    ///   - isDaemonRunning: Whether to start the daemon, a sensor with a template, and the agent.
    ///   - body: The test. It runs off the loop, so that it may block.
    /// - Throws: The test's error, with the output of the programs.
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
    /// Locks biometry out, by three misses in a prompt and two in the next.
    package func lockBiometryOut() async throws {
        for misses in [3, 2] {
            for _ in 0..<misses { try await queue("no-match") }
            _ = try? await AuthenticationSession().authenticate(.biometrics, reason: "look")
        }
    }
}

/// Makes each test wait for the process's client before its time limit starts.
///
/// A time limit covers the cases of a test, and this scope surrounds them. Otherwise the last of
/// eighty tests could exceed its limit by waiting on a busy machine.
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
    /// Runs one test at a time, each with its full time limit.
    package static var clientTurn: Self { Self() }
}

/// Admits one caller at a time.
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
