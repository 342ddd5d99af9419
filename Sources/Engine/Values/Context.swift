/// The engine's state of a context, from its first request to its release.
struct Context: Hashable, Sendable {
    struct Success: Hashable, Sendable {
        let grant: Grant
        let moment: Instant
        /// Whether the success only proves how long ago a password was given.
        var isOver = false
        /// The operation it was proved for; nil means a policy, which counts for every operation.
        var operation: AccessOperation?
        let session: String
    }

    var client: ClientID?
    var isInvalid = false
    var successes: [Success] = []
    /// How long each success stays valid, as the caller requested.
    var lifetime = Duration.seconds(600)
}
