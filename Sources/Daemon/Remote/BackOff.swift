import AuthEngine

/// The pause before the daemon starts a helper again.
///
/// The pause is a second after a fault, and 2, 4 … 60 s after repeated faults, until the helper has
/// worked for a while.
struct BackOff {
    /// Working time after which earlier faults are forgotten.
    private static let probation = Duration.seconds(60)
    /// Faults without a longer pause, because a person may have ended the helper by hand.
    private static let excused = 6

    private var faults = 0
    private var readySince = Instant(nanoseconds: 0)

    mutating func recovered(at now: Instant) {
        readySince = now
    }

    /// Forgets earlier faults if the helper worked long enough before it ended.
    mutating func ended(at now: Instant, wasReady: Bool) {
        if wasReady, now - readySince >= Self.probation { faults = 0 }
    }

    /// Counts a fault and returns the pause.
    mutating func failed(at now: Instant, wasReady: Bool) -> Duration {
        ended(at: now, wasReady: wasReady)
        defer { faults += 1 }
        return .seconds(min(1 << min(max(0, faults - Self.excused), 6), 60))
    }

    mutating func forgive() {
        faults = 0
    }
}
