import Contract

/// What a non-match counts for the lockout (R3).
///
/// A finger misses because somebody put one down. A camera misses whoever passes, or looks at
/// another screen: the user's fingers must not be locked by that, so its misses count half. A
/// lockout still comes after at most twice its attempts, all by the face.
extension UserRecord {
    /// Counts a non-match: half a one where the sensor looks by itself.
    mutating func countMiss(of type: BiometryType) {
        if type.isPassive { countHalfMiss() } else { countWholeMiss() }
    }

    /// Two halves are one.
    mutating func countHalfMiss() {
        if hasHalfFailure { countWholeMiss() }
        hasHalfFailure.toggle()
    }

    private mutating func countWholeMiss() { failures = min(failures, Int.max - 1) + 1 }

    /// The user was recognised, or gave the passcode.
    mutating func clearMisses() {
        failures = 0
        hasHalfFailure = false
    }

    /// Whether both count the same.
    func hasSameMisses(as other: UserRecord) -> Bool {
        failures == other.failures && hasHalfFailure == other.hasHalfFailure
    }

    /// How many more non-matches of this type there are until so many count.
    func missesLeft(of type: BiometryType, until limit: Int) -> Int {
        let whole = max(0, limit - failures)
        guard type.isPassive, whole > 0 else { return whole }
        let (halves, overflows) = whole.multipliedReportingOverflow(by: 2)
        return overflows ? Int.max : halves - (hasHalfFailure ? 1 : 0)
    }
}
