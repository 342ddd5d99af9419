import DBus

/// Keys that no search finds, and that are deleted when their creator's connection leaves.
@BusActor
final class TemporaryKeys {
    private var owners: [String: String] = [:]
    private var keys: [String: Set<String>] = [:]

    func contains(_ id: String) -> Bool { owners[id] != nil }

    /// Adds a new key; when the connection leaves, `delete` receives all its keys.
    func add(_ id: String, of peer: Peer, delete: @escaping @BusActor ([String]) -> Void) {
        owners[id] = peer.name
        guard keys[peer.name]?.insert(id) == nil else { return }
        keys[peer.name] = [id]
        _ = peer.onLeave { [weak self] in
            delete(Array(self?.keys.removeValue(forKey: peer.name) ?? []))
        }
    }

    func forget(_ ids: [String]) {
        for id in ids {
            guard let owner = owners.removeValue(forKey: id) else { continue }
            keys[owner]?.remove(id)
        }
    }
}
