import DBus

/// Keys that go with the connection that had them made, and that no search finds until then.
@BusActor
final class TemporaryKeys {
    private var owners: [String: String] = [:]
    private var keys: [String: Set<String>] = [:]

    func contains(_ id: String) -> Bool { owners[id] != nil }

    /// Notes a new key; `delete` is called with all of the connection's when it leaves.
    func add(_ id: String, of peer: Peer, delete: @escaping @BusActor ([String]) -> Void) {
        owners[id] = peer.name
        guard keys[peer.name]?.insert(id) == nil else { return }
        keys[peer.name] = [id]
        _ = peer.onLeave { [weak self] in
            delete(Array(self?.keys.removeValue(forKey: peer.name) ?? []))
        }
    }

    /// Forgets what was deleted.
    func forget(_ ids: [String]) {
        for id in ids {
            guard let owner = owners.removeValue(forKey: id) else { continue }
            keys[owner]?.remove(id)
        }
    }
}
