public import DBus

/// The owner of `org.localauth.Authentication1`: the only caller that sensors and the
/// passcode verifier serve.
///
/// The signal of another owner may get lost. The bus is therefore asked again when its last answer
/// is older than a second.
@BusActor public final class DaemonCaller {
    private static let longestTrust = Duration.seconds(1)

    private let connection: Connection
    private let owners = SharedLookUps<Bool, String?>()
    /// The last answer of the bus, and the time of its query.
    private var confirmed: (owner: String, at: ContinuousClock.Instant)?
    /// Counts the signals of another owner.
    private var changes = 0
    private lazy var watch = connection.watchName(Authentication1.busName) { [weak self] owner in
        guard let self, owner != confirmed?.owner else { return }
        changes += 1
        confirmed = nil
    }

    public init(on connection: Connection) {
        self.connection = connection
    }

    /// Refuses a caller that is not the daemon.
    ///
    /// - Throws: `accessDenied`, also when the bus does not name the owner.
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

    /// Returns when the daemon has processed all earlier messages of the bus, or does not answer.
    ///
    /// The bus keeps the order of messages. Before its first reply, the daemon has read them.
    /// Before its second reply, it has asked the bus all resulting queries.
    public func waitUntilNotified(within limit: Duration) async {
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

    /// The daemon's unique name; nil when there is none, or the bus does not answer.
    private func owner() async -> String? {
        let connection = connection
        return await owners.share(true) {
            (try? await connection.nameOwner(Authentication1.busName)) ?? nil
        }
    }
}
