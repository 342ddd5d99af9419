import DBus

/// Wakes whoever waits for something to happen; they look again what it was.
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
}
