import DBus
import TestSupport
import Testing

/// Starts the loop's thread before any test of a suite runs on it.
struct RunningLoop: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        EventLoop.shared.startThread()
        try await function()
    }
}

extension Trait where Self == RunningLoop {
    /// For every suite that uses ``BusActor``.
    static var runningLoop: Self { Self() }
}

/// Runs a test body with a service that owns a name on a private bus, and a client.
func withBus(
    _ body: @BusActor (PrivateBus, _ server: Connection, _ client: Connection) async throws -> Void
) async throws {
    try await PrivateBus.run { bus in
        try await body(bus, try bus.connect(), try bus.connect())
    }
}
