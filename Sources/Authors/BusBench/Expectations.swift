public import DBus
import Synchronization

/// A failed check: the expectation and the result.
public struct TestFailure: Error, CustomStringConvertible, Hashable {
    public let description: String

    public init(_ message: String) { description = message }
}

/// Throws a failure unless the condition holds.
public func expect(
    _ condition: Bool,
    _ message: @autoclosure () -> String
) throws(TestFailure) {
    guard condition else { throw TestFailure(message()) }
}

/// Throws a failure unless `body` throws an error with a name in this list.
@BusActor public func expectError(
    _ names: DBusError.Name...,
    of what: String,
    _ body: @BusActor () async throws -> Void
) async throws(TestFailure) {
    do {
        try await body()
    } catch let error as DBusError {
        try expect(names.contains(error.name), "expected \(names) of \(what), got \(error)")
        return
    } catch {
        throw TestFailure("expected \(names) of \(what), got \(error)")
    }
    throw TestFailure("expected \(names) of \(what), got an answer")
}

/// Polls a condition until it holds.
@BusActor public func eventually(
    _ what: @autoclosure () -> String,
    within limit: Duration = .seconds(60),
    _ isSo: @BusActor () async throws -> Bool
) async throws {
    let start = ContinuousClock.now
    while try await !isSo() {
        try Task.checkCancellation()
        let waited = ContinuousClock.now - start
        try expect(waited < limit, "expected \(what()) within \(limit)")
        // Poll with back-off, because polling takes time from the process under test.
        await pause(min(max(.milliseconds(5), waited / 10), .milliseconds(250)))
    }
}

/// Runs a test's body on the bus loop, which has its own thread.
///
/// A timeout of the test cancels the body.
public func onBus<T: Sendable>(
    _ body: @escaping @BusActor @Sendable () async throws -> T
) async throws -> T {
    EventLoop.shared.startThread()
    let result = Mutex<Result<T, any Error>?>(nil)
    let task = onLoop {
        do {
            let value = try await body()
            result.withLock { $0 = .success(value) }
        } catch {
            result.withLock { $0 = .failure(error) }
        }
    }
    await withTaskCancellationHandler {
        await task.value
    } onCancel: {
        task.cancel()
    }
    guard let result = result.withLock({ $0 }) else { throw CancellationError() }
    return try result.get()
}
