import AuthEngine

/// How long a program that the bus starts is left alone after a fault: a second, and after faults
/// that follow each other 2, 4 … 60 s, until it has worked for a while.
struct BackOff {
    /// How long it must have worked for its earlier faults to be forgotten.
    private static let probation = Duration.seconds(60)
    /// So many faults may be somebody who ended it by hand.
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
