import AuthEngine
import DBus

/// The connections that have state here, each from its first call that needs it until it leaves.
@BusActor
final class Clients {
    /// What they misspelled.
    let unknownOptions = UnknownOptions()
    private var clients: [String: Client] = [:]
    private var lastID: UInt64 = 0
    private let left: @BusActor (Client) -> Void

    /// `left` is called when a connection has left the bus.
    init(left: @escaping @BusActor (Client) -> Void) {
        self.left = left
    }

    /// What is kept of a connection.
    subscript(_ peer: Peer) -> Client {
        if let client = clients[peer.name] { return client }
        lastID += 1
        let client = Client(id: ClientID(lastID), peer: peer)
        clients[peer.name] = client
        _ = peer.onLeave { [weak self] in
            self?.clients[client.peer.name] = nil
            self?.left(client)
        }
        return client
    }

    /// Every context.
    var contexts: [ContextObject] { clients.values.flatMap(\.contexts.values) }

    /// Every context of a user's connections.
    func contexts(of uid: UInt32) -> [ContextObject] {
        contexts.filter { $0.client.peer.uid == uid }
    }

    /// How many contexts a user's connections hold together.
    func contextCount(of uid: UInt32) -> Int {
        clients.values.reduce(0) { $0 + ($1.peer.uid == uid ? $1.contexts.count : 0) }
    }

    /// The context of the caller that the option `context` names; nil: it names none.
    ///
    /// - Throws: UnknownObject for another's.
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

/// One connection that has state here.
@BusActor
final class Client {
    let id: ClientID
    let peer: Peer
    var contexts: [ContextID: ContextObject] = [:]
    /// The client's sandbox, looked up once: a process cannot leave its sandbox.
    private(set) lazy var sandbox = Sandbox.of(peer)

    fileprivate init(id: ClientID, peer: Peer) {
        self.id = id
        self.peer = peer
    }

    /// One of its contexts.
    ///
    /// - Throws: UnknownObject for another's.
    func context(at path: ObjectPath) throws(DBusError) -> ContextObject {
        guard let own = contexts.values.first(where: { $0.path == path }) else {
            throw DBusError(.unknownObject, "no context of yours is there")
        }
        return own
    }
}
