import Contract

/// The weight of misses in the lockout (R3).
///
/// A finger misses because a person put it on the sensor. A camera also misses passers-by, and
/// people looking at another screen. Misses of a camera count half, so that passers-by do not lock
/// the user's fingers. A lockout by the face alone comes after twice as many attempts at most.
extension UserRecord {
    /// Counts a miss.
    ///
    /// A passive sensor's miss counts half.
    mutating func countMiss(of type: BiometryType) {
        if type.isPassive { countHalfMiss() } else { countWholeMiss() }
    }

    mutating func countHalfMiss() {
        if hasHalfMiss { countWholeMiss() }
        hasHalfMiss.toggle()
    }

    private mutating func countWholeMiss() { misses = min(misses, Int.max - 1) + 1 }

    mutating func clearMisses() {
        misses = 0
        hasHalfMiss = false
    }

    func hasSameMisses(as other: UserRecord) -> Bool {
        misses == other.misses && hasHalfMiss == other.hasHalfMiss
    }

    /// Misses of this type that remain until the lockout counts `limit` of them.
    func missesLeft(of type: BiometryType, until limit: Int) -> Int {
        let whole = max(0, limit - misses)
        guard type.isPassive, whole > 0 else { return whole }
        let (halves, overflows) = whole.multipliedReportingOverflow(by: 2)
        return overflows ? Int.max : halves - (hasHalfMiss ? 1 : 0)
    }
}
