public import DBus

/// The owner of `org.localauth.Authentication1`: the only caller that sensors and the passcode
/// verifier serve.
///
/// A signal of another owner may get lost. The bus is therefore asked again when its last answer is
/// older than a second.
@BusActor public final class DaemonCaller {
    private static let longestTrust = Duration.seconds(1)

    private let connection: Connection
    private let owners = SharedLookUps<Bool, String?>()
    /// The last answer of the bus, and the time of its question.
    private var confirmed: (owner: String, at: ContinuousClock.Instant)?
    /// Counts the signals of another owner.
    private var changes = 0
    private lazy var watch = connection.watchName(Authentication1.busName) { [weak self] owner in
        guard let self, owner != confirmed?.owner else { return }
        changes += 1
        confirmed = nil
    }

    /// For calls that come through a connection.
    public init(on connection: Connection) {
        self.connection = connection
    }

    /// Refuses a caller that isn't the daemon.
    ///
    /// - Throws: `accessDenied`, also when the bus doesn't say who is.
    public func require(_ peer: Peer) async throws(DBusError) {
        guard await isOwner(peer), !peer.hasLeft else {
            throw DBusError(
                .accessDenied,
                "Only the owner of \(Authentication1.busName) may call this."
            )
        }
    }

    private func isOwner(_ peer: Peer) async -> Bool {
        _ = watch
        let now = ContinuousClock.now
        if let confirmed, confirmed.owner == peer.name, now - confirmed.at < Self.longestTrust {
            return true
        }
        let before = changes
        guard let owner = await owner() else { return false }
        if changes == before { confirmed = (owner, now) }
        return peer.name == owner
    }

    /// Returns when the daemon has taken in what the bus told it before, or doesn't answer.
    ///
    /// The bus keeps the order of what it hands over: before the first answer the daemon has read
    /// it, and before the second one it has asked the bus whatever it wants to know about it.
    public func hasHeard(within limit: Duration) async {
        guard let owner = await owner() else { return }
        for _ in 0..<2 {
            _ = try? await connection.call(
                to: owner,
                path: Authentication1.path,
                interface: "org.freedesktop.DBus.Peer",
                member: "Ping",
                timeout: limit
            )
        }
    }

    /// Who it is now; nil: nobody, or the bus doesn't say.
    private func owner() async -> String? {
        let connection = connection
        return await owners.share(true) {
            (try? await connection.nameOwner(Authentication1.busName)) ?? nil
        }
    }
}
