import AuthEngine

/// Limits how often an event may occur in one second, to bound the cost of a flood.
struct Allowance {
    /// The number of events allowed in each second.
    let limit: Int
    private var start = Instant(nanoseconds: 0)
    private var count = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Counts an event if the limit allows it, and returns whether it does.
    mutating func take(at now: Instant) -> Bool {
        if now - start >= .seconds(1) {
            start = now
            count = 0
        }
        guard count < limit else { return false }
        count += 1
        return true
    }
}
