import AuthEngine

/// How often something may happen in one second, so that a flood costs no more than that.
struct Allowance {
    /// How often, in each second.
    let limit: Int
    private var start = Instant(nanoseconds: 0)
    private var count = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether it may happen at this moment; then it counts.
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
