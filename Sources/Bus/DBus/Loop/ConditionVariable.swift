/// Wakes tasks that wait on the loop for a change.
///
/// A woken task must check its condition again.
@BusActor
public final class ConditionVariable {
    private var waiting: [CheckedContinuation<Void, Never>] = []

    public init() {}

    public func notifyAll() {
        let woken = waiting
        waiting = []
        for continuation in woken { continuation.resume() }
    }

    /// Waits for the next ``notifyAll()``.
    public func wait() async {
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Returns when the condition holds, or after `limit`.
    ///
    /// - Returns: Whether the condition holds.
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
