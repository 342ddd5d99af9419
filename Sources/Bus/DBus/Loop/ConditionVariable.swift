/// Wakes whoever waits on the loop for something to change; they look again what it was.
@BusActor
public final class ConditionVariable {
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Nobody waits yet.
    public init() {}

    /// Wakes everybody who waits now.
    public func notifyAll() {
        let woken = waiting
        waiting = []
        for continuation in woken { continuation.resume() }
    }

    /// Waits for the next ``notifyAll()``.
    public func wait() async {
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Returns when the condition holds, or when it's too late.
    ///
    /// - Returns: Whether it holds.
    public func wait(
        atMost limit: Duration,
        until condition: @BusActor () -> Bool
    ) async -> Bool {
        var isLate = false
        let timer = EventLoop.shared.schedule(after: limit) {
            isLate = true
            self.notifyAll()
        }
        defer { timer.cancel() }
        while !condition(), !isLate { await wait() }
        return condition()
    }
}
