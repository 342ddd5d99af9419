/// How long the face of one attempt has been looked at: in pictures that were compared, and in
/// which it could have matched.
///
/// Somebody who leaves takes nothing of it along: who comes again and again would never fail.
struct FaceAttempt {
    private var looked = Duration.zero
    /// When it was last compared, a picture or two before this one.
    private var last: ContinuousClock.Instant?
    private var framesNotCompared = 0

    /// Takes the next frame into account.
    mutating func see(_ sight: Sight, wasCompared: Bool, at now: ContinuousClock.Instant) {
        if wasCompared {
            if let last { looked += now - last }
            last = now
            framesNotCompared = 0
            return
        }
        // An infrared camera has a dark frame between two lit ones, and a face is missed in some.
        if !sight.isDark { framesNotCompared += 1 }
        if framesNotCompared >= Advice.patience { last = nil }
    }

    /// Whether a face that didn't match was looked at for long enough; then the next one begins.
    mutating func hasFailed() -> Bool {
        guard looked >= Scanner.attempt else { return false }
        self = Self()
        return true
    }
}
