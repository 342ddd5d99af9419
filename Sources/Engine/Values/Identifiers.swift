/// A time in nanoseconds since boot (`CLOCK_BOOTTIME`).
///
/// The clock continues during suspend and cannot be set.
package struct Instant: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns a later time.
    ///
    /// Saturates instead of overflowing.
    package static func + (left: Instant, right: Duration) -> Instant {
        let (seconds, attoseconds) = right.components
        let (scaled, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, tooLate) = left.nanoseconds.addingReportingOverflow(scaled)
        let (exact, muchTooLate) = sum.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard tooLong || tooLate || muchTooLate else { return Instant(nanoseconds: exact) }
        return Instant(nanoseconds: right < .zero ? Int64.min : Int64.max)
    }

    /// Returns the time from `right` to `left`.
    ///
    /// Saturates instead of overflowing.
    package static func - (left: Instant, right: Instant) -> Duration {
        let (difference, overflows) = left.nanoseconds.subtractingReportingOverflow(
            right.nanoseconds
        )
        guard overflows else { return .nanoseconds(difference) }
        return .nanoseconds(left < right ? Int64.min : Int64.max)
    }
}

package struct ClientID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

package struct ContextID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

package struct EvaluationID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

package struct AgentID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// An operation of a sensor.
///
/// The engine assigns the numbers.
package struct OperationID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// A write of a user's record.
///
/// The engine assigns the numbers, and the store answers in order.
package struct SaveID: Hashable, Sendable {
    package let rawValue: UInt64
}
