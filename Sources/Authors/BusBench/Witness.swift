public import DBus

/// Remembers what happened, and waits for what has not happened yet.
@BusActor public final class Witness<Element: Sendable> {
    /// Everything so far, in order.
    public private(set) var seen: [Element] = []
    private var waiting: [@BusActor () -> Void] = []
    private var wakes = 0

    /// Nothing has happened yet.
    public init() {}

    /// Something happened.
    public func record(_ element: Element) {
        seen.append(element)
        wake()
    }

    /// Forgets everything.
    public func forget() { seen = [] }

    /// The first element of this kind, now or later.
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
                // It may have happened on the way here.
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
