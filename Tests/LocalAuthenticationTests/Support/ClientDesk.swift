import DBus
import LocalAuthClient
package import TestSupport

/// A ``Desk`` that this process's client uses.
package enum ClientDesk {
    /// Gives a test a desk of its own, one after another: a process has one client.
    ///
    /// - Parameters:
    ///   - isDaemonRunning: Whether the daemon, a sensor with a template, and the agent are there.
    ///   - body: The test; it runs off the loop, so that it may block.
    /// - Throws: What the test throws, with what the programs said.
    package static func run(
        isDaemonRunning: Bool = true,
        _ body: @Sendable (Desk) async throws -> Void
    ) async throws {
        try await DeskTurn.shared.take {
            try await PrivateBus.run { bus in
                let desk = try Desk(on: bus)
                ServiceConnection.shared.use(.address(bus.address))
                if isDaemonRunning { try await desk.startEverything() }
                try await body(desk)
            }
        }
    }
}

/// Lets one test after another have the process's client.
private actor DeskTurn {
    static let shared = DeskTurn()

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
