/// A context as far as the engine knows it: from its first request to its release.
struct Context: Hashable, Sendable {
    struct Success: Hashable, Sendable {
        let grant: Grant
        let moment: Instant
        /// Whether it proves only how long ago a passcode was given.
        var isOver = false
        /// What it was given for; nil: a policy, and so for anything.
        var operation: AccessOperation?
        /// The session in which it was proved.
        let session: String
    }

    var client: ClientID?
    var isInvalid = false
    var successes: [Success] = []
    /// How long each of them stays, as the caller wants it.
    var lifetime = Duration.seconds(600)
}
