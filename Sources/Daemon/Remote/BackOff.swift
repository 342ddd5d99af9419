import AuthEngine

/// The pause before the daemon starts a helper again: a second after a fault, and after faults in
/// a row 2, 4 … 60 s, until the helper has worked for a while.
struct BackOff {
    /// Work that makes earlier faults forgotten.
    private static let probation = Duration.seconds(60)
    /// Faults that may come from a person who ended the helper by hand.
    private static let excused = 6

    private var faults = 0
    private var readySince = Instant(nanoseconds: 0)

    mutating func recovered(at now: Instant) {
        readySince = now
    }

    /// Forgets earlier faults, if it has worked for long enough until it ended.
    mutating func ended(at now: Instant, wasReady: Bool) {
        if wasReady, now - readySince >= Self.probation { faults = 0 }
    }

    /// Counts a fault, and says how long to wait.
    mutating func failed(at now: Instant, wasReady: Bool) -> Duration {
        ended(at: now, wasReady: wasReady)
        defer { faults += 1 }
        return .seconds(min(1 << min(max(0, faults - Self.excused), 6), 60))
    }

    mutating func forgive() {
        faults = 0
    }
}
