import DBus
import KeychainStore

/// Access groups of sandboxed apps (L36).
extension KeychainObject {
    /// Returns the only access group of a sandboxed caller, or nil for a caller outside sandboxes.
    ///
    /// - Throws: AccessDenied for a sandboxed caller without an id.
    func accessGroup(of peer: Peer) throws(DBusError) -> String? {
        let sandbox = evaluations.clients[peer].sandbox
        guard sandbox.isSandboxed else { return nil }
        guard let group = sandbox.accessGroup else {
            throw .denied("a sandboxed program without an id has no keychain")
        }
        return group
    }

    /// Returns the attributes of a new item, in the group that its caller may use.
    func placed(
        _ attributes: [String: Variant],
        of peer: Peer
    ) throws(DBusError) -> [String: Variant] {
        guard let group = try accessGroup(of: peer) else {
            try Self.checkOutside(attributes)
            return attributes
        }
        return try Self.inside(group, attributes)
    }

    /// Restricts a query to the items that its caller may see.
    func visible(
        _ query: [String: Variant],
        to peer: Peer
    ) throws(DBusError) -> [String: Variant] {
        guard let group = try accessGroup(of: peer) else { return query }
        return try Self.inside(group, query)
    }

    /// Refuses a change of the access group that the caller may not make.
    func checkGroup(
        of changes: [String: Variant],
        changedBy peer: Peer
    ) throws(DBusError) {
        if let group = try accessGroup(of: peer) {
            _ = try Self.inside(group, changes)
        } else {
            try Self.checkOutside(changes)
        }
    }

    /// Refuses to move an item out of the group of a sandboxed app.
    func checkMove(
        of item: Item,
        _ changes: [String: Variant],
        by peer: Peer
    ) throws(DBusError) {
        guard let group = changes["agrp"]?.asString,
            case .text(let old) = item.allAttributes["agrp"],
            old != group
        else { return }
        try Self.checkOutside(["agrp": .string(old)])
    }

    private static func inside(
        _ group: String,
        _ attributes: [String: Variant]
    ) throws(DBusError) -> [String: Variant] {
        guard attributes["agrp"] == nil || attributes["agrp"] == .string(group) else {
            throw .denied("a sandboxed app has the access group \(group) alone")
        }
        return attributes.merging(["agrp": .string(group)]) { _, new in new }
    }

    private static func checkOutside(_ attributes: [String: Variant]) throws(DBusError) {
        guard attributes["agrp"]?.asString?.hasPrefix(Sandbox.groupPrefix) != true else {
            throw .denied(
                "access groups that begin with \(Sandbox.groupPrefix) are for sandboxed apps"
            )
        }
    }
}
