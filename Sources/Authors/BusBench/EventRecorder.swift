public import DBus

/// Records events, and waits for events that are still to come.
@BusActor public final class EventRecorder<Element: Sendable> {
    /// All events so far, in order.
    public private(set) var seen: [Element] = []
    private var waiting: [@BusActor () -> Void] = []
    private var wakes = 0

    public init() {}

    public func record(_ element: Element) {
        seen.append(element)
        wake()
    }

    public func forget() { seen = [] }

    /// Returns the first event that matches, past or future.
    public func first(
        _ what: String,
        within limit: Duration = .seconds(60),
        where matches: @BusActor (Element) -> Bool
    ) async throws(TestFailure) -> Element {
        var isLate = false
        let timer = EventLoop.shared.schedule(after: limit) {
            isLate = true
            self.wake()
        }
        defer { timer.cancel() }
        while true {
            if let found = seen.first(where: { matches($0) }) { return found }
            if isLate { throw TestFailure("expected \(what) within \(limit), got \(seen)") }
            let count = wakes
            await withCheckedContinuation { continuation in
                // The event may have arrived since the check.
                if wakes == count {
                    waiting.append { continuation.resume() }
                } else {
                    continuation.resume()
                }
            }
        }
    }

    private func wake() {
        wakes += 1
        let woken = waiting
        waiting = []
        for body in woken { body() }
    }
}
