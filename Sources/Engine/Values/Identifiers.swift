/// A moment on a clock that counts from boot, goes on during suspend and can't be set
/// (`CLOCK_BOOTTIME`), in nanoseconds.
package struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since boot.
    package var nanoseconds: Int64

    /// A moment so many nanoseconds after boot.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The moment so much later; saturates instead of overflowing.
    package static func + (left: Instant, right: Duration) -> Instant {
        let (seconds, attoseconds) = right.components
        let (scaled, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, tooLate) = left.nanoseconds.addingReportingOverflow(scaled)
        let (exact, muchTooLate) = sum.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard tooLong || tooLate || muchTooLate else { return Instant(nanoseconds: exact) }
        return Instant(nanoseconds: right < .zero ? Int64.min : Int64.max)
    }

    /// The time from `right` to `left`; saturates instead of overflowing.
    package static func - (left: Instant, right: Instant) -> Duration {
        let (difference, overflows) = left.nanoseconds.subtractingReportingOverflow(
            right.nanoseconds
        )
        guard overflows else { return .nanoseconds(difference) }
        return .nanoseconds(left < right ? Int64.min : Int64.max)
    }
}

/// One connection to the bus, as long as it lives.
package struct ClientID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// One context object.
package struct ContextID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// One evaluation, from the call to its reply.
package struct EvaluationID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// One registered prompt agent.
package struct AgentID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// One operation of one sensor; the engine numbers them.
package struct OperationID: Hashable, Sendable {
    /// The number that the sensor is told, too.
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// One write of a user's record; the engine numbers them, the store answers in the same order.
package struct SaveID: Hashable, Sendable {
    /// Counts up from 1.
    package let rawValue: UInt64
}
