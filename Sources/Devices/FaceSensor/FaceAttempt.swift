/// Measures how long the face of an attempt has been compared.
///
/// Only time between compared frames counts. A face that disappears does not reset the time:
/// otherwise a user who leaves and returns repeatedly would never fail.
struct FaceAttempt {
    private var looked = Duration.zero
    /// The time of the last compared frame; nil after several frames without a comparison.
    private var last: ContinuousClock.Instant?
    private var framesNotCompared = 0

    mutating func see(_ sight: FrameFindings, wasCompared: Bool, at now: ContinuousClock.Instant) {
        if wasCompared {
            if let last { looked += now - last }
            last = now
            framesNotCompared = 0
            return
        }
        // Ignore dark frames: an infrared camera has them between lit frames. A face may be missed
        // in some.
        if !sight.isDark { framesNotCompared += 1 }
        if framesNotCompared >= Advice.patience { last = nil }
    }

    /// Returns whether the attempt has lasted long enough to fail; then starts the next attempt.
    mutating func hasFailed() -> Bool {
        guard looked >= Scanner.attempt else { return false }
        self = Self()
        return true
    }
}
