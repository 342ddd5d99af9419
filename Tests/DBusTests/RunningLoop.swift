import DBus
import Testing

/// Starts the loop's thread before anything of a suite is run on it.
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
