public import DBus

/// Who owns `org.localauth.Authentication1` now: the only caller that sensors and the passcode
/// verifier serve.
@BusActor public final class DaemonCaller {
    private var owner: String?
    private var isKnown = false
    private var firstLook: [CheckedContinuation<Void, Never>] = []
    private var watch: EventSource?

    /// Returns when the present owner, or that there is none, is known.
    public init(on connection: Connection) async {
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

    private func changed(_ owner: String?) {
        self.owner = owner
        isKnown = true
        for continuation in firstLook { continuation.resume() }
        firstLook = []
    }
}
