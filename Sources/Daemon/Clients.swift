import AuthEngine
import DBus
import Sealing

/// The connections that have state here, from the first call that needs it until the connection
/// leaves.
@BusActor
final class Clients {
    let unknownOptions = UnknownOptions()
    private var clients: [String: Client] = [:]
    private var lastID: UInt64 = 0
    private let disconnected: @BusActor (Client) -> Void

    /// - Parameter disconnected: called after a connection has left the bus.
    init(disconnected: @escaping @BusActor (Client) -> Void) {
        self.disconnected = disconnected
    }

    /// Returns the state of a connection, created on first use.
    subscript(_ peer: Peer) -> Client {
        if let client = clients[peer.name] { return client }
        lastID += 1
        let client = Client(id: ClientID(lastID), peer: peer)
        clients[peer.name] = client
        _ = peer.onLeave { [weak self] in
            self?.clients[client.peer.name] = nil
            self?.disconnected(client)
        }
        return client
    }

    var contexts: [ContextObject] { clients.values.flatMap(\.contexts.values) }

    func contexts(of uid: UInt32) -> [ContextObject] {
        contexts.filter { $0.client.peer.uid == uid }
    }

    func contextCount(of uid: UInt32) -> Int {
        clients.values.reduce(0) { $0 + ($1.peer.uid == uid ? $1.contexts.count : 0) }
    }

    /// Returns the caller's context that the option `context` names, or nil without that option.
    ///
    /// - Throws: UnknownObject if the context belongs to another connection.
    func lentContext(
        _ options: [String: Variant],
        of peer: Peer
    ) throws(DBusError) -> ContextObject? {
        guard let path = try OptionReader(options).value("context", \.asObjectPath) else {
            return nil
        }
        return try self[peer].context(at: path)
    }
}

@BusActor
final class Client {
    let id: ClientID
    let peer: Peer
    var contexts: [ContextID: ContextObject] = [:]
    /// The client's sandbox, determined once: a process can't leave its sandbox.
    private(set) lazy var sandbox = Sandbox.of(peer)
    /// The key of the last sealed reply.
    private var recipient: (bytes: [UInt8], key: RecipientKey)?

    fileprivate init(id: ClientID, peer: Peer) {
        self.id = id
        self.peer = peer
    }

    /// Returns a checked key for sealing; nil for malformed bytes.
    ///
    /// Clients keep their key, and a check costs as much as sealing a secret.
    func recipientKey(_ bytes: [UInt8]) -> RecipientKey? {
        if let recipient, recipient.bytes == bytes { return recipient.key }
        guard let key = RecipientKey(bytes) else { return nil }
        recipient = (bytes, key)
        return key
    }

    /// Returns the context at a path.
    ///
    /// - Throws: UnknownObject if the context belongs to another connection.
    func context(at path: ObjectPath) throws(DBusError) -> ContextObject {
        guard let own = contexts.values.first(where: { $0.path == path }) else {
            throw DBusError(.unknownObject, "no context of yours is there")
        }
        return own
    }
}
