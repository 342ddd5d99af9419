public import DBus

/// Who owns `org.localauth.Authentication1` now: the only caller that sensors and the passcode
/// verifier serve.
@BusActor public final class DaemonCaller {
    private var owner: String?
    private var isKnown = false
    private var firstLook: [CheckedContinuation<Void, Never>] = []
    private var watch: EventSource?
    private weak var connection: Connection?

    /// Returns when the present owner, or that there is none, is known.
    public init(on connection: Connection) async {
        self.connection = connection
        watch = connection.watchName(Authentication1.busName) { [weak self] owner in
            self?.changed(owner)
        }
        if !isKnown { await withCheckedContinuation { firstLook.append($0) } }
    }

    /// Refuses a call that doesn't come from the daemon.
    ///
    /// - Throws: `accessDenied`.
    public func require(_ call: IncomingCall) throws(DBusError) {
        guard let owner, call.peer.name == owner, !call.peer.hasLeft else {
            throw DBusError(
                .accessDenied,
                "Only the owner of \(Authentication1.busName) may call this."
            )
        }
    }

    /// Returns when the daemon has taken in what the bus told it before, or doesn't answer.
    ///
    /// The bus keeps the order of what it hands over: before the first answer the daemon has read
    /// it, and before the second one it has asked the bus whatever it wants to know about it.
    public func hasHeard(within limit: Duration) async {
        guard let connection else { return }
        for _ in 0..<2 {
            guard let owner else { return }
            _ = try? await connection.call(
                to: owner,
                path: Authentication1.path,
                interface: "org.freedesktop.DBus.Peer",
                member: "Ping",
                timeout: limit
            )
        }
    }

    private func changed(_ owner: String?) {
        self.owner = owner
        isKnown = true
        for continuation in firstLook { continuation.resume() }
        firstLook = []
    }
}
