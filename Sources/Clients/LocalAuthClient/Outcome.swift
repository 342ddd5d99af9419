package import DBus

/// A result that is set once and awaited by any number of callers.
@BusActor
package final class Outcome<Value: Sendable> {
    private var settled: Value?
    private var waiting: [CheckedContinuation<Value, Never>] = []

    package nonisolated init() {}

    package var isSettled: Bool { settled != nil }

    /// Sets the result; later calls have no effect.
    package func settle(_ value: Value) {
        guard settled == nil else { return }
        settled = value
        for continuation in waiting { continuation.resume(returning: value) }
        waiting = []
    }

    package var value: Value {
        get async {
            if let settled { return settled }
            return await withCheckedContinuation { waiting.append($0) }
        }
    }
}

extension ServiceConnection {
    /// Awaits a body, and gives up after two seconds if the service hangs.
    ///
    /// The service is pinged meanwhile. A healthy service answers pings while a prompt is open, so
    /// the body may take as long as the user does. A late result of the body is dropped.
    ///
    /// - Parameters:
    ///   - silence: The result if the service doesn't answer.
    ///   - body: The call to await.
    /// - Returns: The body's result, or `silence`.
    package func answered<Value: Sendable>(
        orElse silence: Value,
        _ body: @escaping @BusActor @Sendable () async -> Value
    ) async -> Value {
        let outcome = Outcome<Value>()
        onLoop { outcome.settle(await body()) }
        let timer = watch(outcome, orElse: silence)
        defer { timer.cancel() }
        return await outcome.value
    }

    /// Settles an outcome with `silence` if the service stops answering, until the source is
    /// canceled.
    func watch<Value: Sendable>(
        _ outcome: Outcome<Value>,
        orElse silence: Value
    ) -> EventSource {
        EventLoop.shared.schedule(after: .milliseconds(500)) {
            onLoop {
                while !outcome.isSettled {
                    guard await self.isAnswering() else { return outcome.settle(silence) }
                    await pause(.seconds(5))
                }
            }
        }
    }
}
