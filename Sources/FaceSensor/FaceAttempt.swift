/// How long the face of one attempt has been looked at.
struct FaceAttempt {
    private var since: ContinuousClock.Instant?
    private var framesWithout = 0

    /// Takes the next frame into account.
    mutating func see(_ sight: Sight, at now: ContinuousClock.Instant) {
        guard sight.count == 0 else {
            framesWithout = 0
            since = since ?? now
            return
        }
        framesWithout += 1
        if framesWithout >= Scanner.framesOfLeaving { since = nil }
    }

    /// Whether a face that didn't match was looked at for long enough; then the next one begins.
    mutating func hasFailed(at now: ContinuousClock.Instant) -> Bool {
        guard let since, now - since >= Scanner.attempt else { return false }
        self.since = nil
        return true
    }
}
