package import DBus

/// How something ended: the first that is said counts.
@BusActor
package final class Outcome<Value: Sendable> {
    private var settled: Value?
    private var waiting: [CheckedContinuation<Value, Never>] = []

    package nonisolated init() {}

    /// Whether it has ended.
    package var isSettled: Bool { settled != nil }

    /// Ends it; what comes after the first is dropped.
    package func settle(_ value: Value) {
        guard settled == nil else { return }
        settled = value
        for continuation in waiting { continuation.resume(returning: value) }
        waiting = []
    }

    /// Waits for the end.
    package var value: Value {
        get async {
            if let settled { return settled }
            return await withCheckedContinuation { waiting.append($0) }
        }
    }
}

extension ServiceConnection {
    /// Awaits a body, and gives a service up that hangs, after two seconds.
    ///
    /// The service is asked whether it is there. A prompt may be up for as long as the person
    /// takes, because the service answers that question meanwhile. What it still answers to the
    /// body later is dropped.
    ///
    /// - Parameters:
    ///   - silence: What is returned when the service doesn't answer.
    ///   - body: What to await.
    /// - Returns: What the body returned.
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

    /// Settles an outcome when the service doesn't answer, until the source is canceled.
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
