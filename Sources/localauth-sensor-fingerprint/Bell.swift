import DBus

/// Wakes whoever waits for something to change; they look again what it was.
@BusActor final class Bell {
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func ring() {
        let woken = waiting
        waiting = []
        for continuation in woken { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Returns when the condition holds, or when it's too late.
    ///
    /// - Returns: Whether it holds.
    func wait(atMost limit: Duration, until condition: @BusActor () -> Bool) async -> Bool {
        var isLate = false
        let timer = EventLoop.shared.schedule(after: limit) {
            isLate = true
            self.ring()
        }
        defer { timer.cancel() }
        while !condition(), !isLate { await wait() }
        return condition()
    }
}
