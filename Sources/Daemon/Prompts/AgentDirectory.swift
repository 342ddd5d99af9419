import AuthEngine
import DBus
import Linux
import LocalAuthBus

/// The registered prompt agents and their addresses; the engine decides which agent shows a prompt.
@BusActor
final class AgentDirectory {
    static let limit = 4
    /// The limit for all connections of a user; each registration may hold a descriptor.
    static let limitPerUser = 64

    static let longestPath = 256
    private static let longestSession = 256

    final class Registration {
        fileprivate(set) var agent: Agent
        /// Whether the session that the agent serves has ended.
        fileprivate var hasNoSession = false
        let peer: Peer
        let path: ObjectPath
        fileprivate var sources: [EventSource] = []

        init(agent: Agent, peer: Peer, path: ObjectPath) {
            self.agent = agent
            self.peer = peer
            self.path = path
        }
    }

    private struct ServedProcess {
        let pid: Int32
        /// A pidfd, so that a later process with a reused pid is not mistaken for it.
        let descriptor: OwnedDescriptor
    }

    private var registrations: [AgentID: Registration] = [:]
    private var lastID: UInt64 = 0
    private let connection: Connection
    private let sessions: Sessions
    private let clients: Clients
    private let audit: AuditTrail
    private let events: any AgentEvents

    init(
        connection: Connection,
        sessions: Sessions,
        clients: Clients,
        audit: AuditTrail,
        events: any AgentEvents
    ) {
        self.connection = connection
        self.sessions = sessions
        self.clients = clients
        self.audit = audit
        self.events = events
    }

    subscript(_ id: AgentID) -> Registration? { registrations[id] }

    /// Returns a user's registrations, oldest first.
    func serving(uid: UInt32) -> [Registration] {
        registrations.values.filter { $0.agent.uid == uid }
            .sorted { $0.agent.id.rawValue < $1.agent.id.rawValue }
    }

    /// Registers an agent and returns its session.
    ///
    /// - Throws: InvalidArgs, AccessDenied, AgentExists, LimitsExceeded.
    func register(
        _ peer: Peer,
        path: ObjectPath,
        options: [String: Variant]
    ) throws(DBusError) -> Answer<String> {
        guard path.rawValue.utf8.count <= Self.longestPath else {
            throw .invalid("the path of the agent is over \(Self.longestPath) bytes")
        }
        let reader = OptionReader(options)
        let isFallback = try reader.value("fallback", \.asBool) ?? false
        let process = try reader.value("process", \.asUInt32)
        let isLockScreen = try reader.value("lock-screen", \.asBool) ?? false
        guard !isLockScreen || process == UInt32(peer.pid) else {
            throw .denied("the agent of a lock screen serves its own process")
        }
        let session = try Self.session(in: reader, of: peer, isForProcess: process != nil)
        guard !Confinement.mayHold(peer) else {
            throw .denied("a sandboxed program can't be a prompt agent")
        }
        let served = try process.map { number throws(DBusError) in
            try Self.serve(number, for: peer)
        }
        return .later { [self] () throws(DBusError) in
            let home = try await sessions.home(
                of: peer,
                isForProcess: served != nil,
                isLockScreen: isLockScreen,
                named: session
            )
            // An agent that has left must not keep another agent from its place.
            await connection.refreshNames()
            guard let home, !peer.hasLeft else {
                throw .denied("the caller has no session that prompts can be shown in")
            }
            let kind: Agent.Kind =
                served.map { .process($0.pid) } ?? (isFallback ? .fallback : .normal)
            return try register(peer, path: path, kind: kind, serving: served, in: home)
        }
    }

    /// Returns the session that root names for its agent of a process.
    private static func session(
        in reader: OptionReader,
        of peer: Peer,
        isForProcess: Bool
    ) throws(DBusError) -> String? {
        guard let session = try reader.value("session", \.asString) else { return nil }
        guard peer.uid == 0, isForProcess else {
            throw .denied("only root names a session, for an agent of a process")
        }
        guard (1...longestSession).contains(session.utf8.count) else {
            throw .invalid("the id of a session has 1 to \(longestSession) bytes")
        }
        return session
    }

    private func register(
        _ peer: Peer,
        path: ObjectPath,
        kind: Agent.Kind,
        serving served: ServedProcess?,
        in home: Sessions.Home
    ) throws(DBusError) -> String {
        let client = clients[peer].id
        let mine = registrations.values.filter { $0.agent.client == client }
        guard mine.count < Self.limit else {
            throw .exceeded("a connection registers at most \(Self.limit) agents")
        }
        let own = registrations.values.count { $0.peer.uid == peer.uid }
        guard own < Self.limitPerUser else {
            throw .exceeded("a user registers at most \(Self.limitPerUser) agents")
        }
        guard !mine.contains(where: { $0.path == path }) else {
            throw DBusError(.agentExists, "this object is registered already")
        }
        lastID += 1
        var agent = Agent(
            id: AgentID(lastID),
            client: client,
            uid: peer.uid,
            session: home.session,
            kind: kind
        )
        agent.isAtDisplay = home.isAtDisplay
        guard events.canRegister(agent) else {
            throw DBusError(.agentExists, "this session or process has an agent already")
        }
        try add(Registration(agent: agent, peer: peer, path: path), serving: served)
        return home.session
    }

    func unregister(_ peer: Peer, path: ObjectPath) throws(DBusError) {
        guard
            let found = registrations.values.first(where: { $0.peer === peer && $0.path == path })
        else { throw DBusError(.unknownObject, "no agent of yours is registered at this path") }
        remove(found.agent.id)
    }

    /// Marks agents of an ended session as homeless; nil means the sessions assumed without a login
    /// manager.
    func leave(session: String?) {
        for registration in registrations.values
        where registration.agent.session == session ?? Sessions.only(of: registration.agent.uid) {
            registration.hasNoSession = true
        }
    }

    /// Moves homeless agents to their process's current session; agents without a known session
    /// stay homeless.
    func reassignSessions() {
        for registration in registrations.values where registration.hasNoSession {
            onLoop { await self.move(registration) }
        }
    }

    private func move(_ registration: Registration) async {
        let (peer, old) = (registration.peer, registration.agent)
        let isForProcess = if case .process = old.kind { true } else { false }
        guard
            let home = try? await sessions.home(of: peer, isForProcess: isForProcess),
            registration.hasNoSession, registrations[old.id] === registration
        else { return }
        events.agentLeft(old.id)
        var agent = old
        agent.session = home.session
        agent.isAtDisplay = home.isAtDisplay
        // If another agent already serves there, this agent waits until that agent has left.
        guard events.canRegister(agent) else { return events.agentRegistered(old) }
        registration.agent = agent
        registration.hasNoSession = false
        events.agentRegistered(agent)
        events.agentsChanged()
    }

    private func add(
        _ registration: Registration,
        serving served: ServedProcess?
    ) throws(DBusError) {
        let id = registration.agent.id
        if let served {
            let descriptor = served.descriptor
            // The checks of this pid took time, so its process may have ended and the checks may
            // describe a successor.
            guard !ProcessDescriptor.hasEnded(descriptor) else { throw Self.noProcess(served.pid) }
            registration.sources.append(
                EventLoop.shared.watch(descriptor: descriptor.rawValue) { [weak self] in
                    withExtendedLifetime(descriptor) { self?.remove(id) }
                }
            )
        }
        registration.sources.append(
            registration.peer.onLeave { [weak self] in self?.remove(id) }
        )
        registrations[id] = registration
        record(.agentRegistered, registration)
        events.agentRegistered(registration.agent)
        events.agentsChanged()
    }

    private func remove(_ id: AgentID) {
        guard let registration = registrations.removeValue(forKey: id) else { return }
        for source in registration.sources { source.cancel() }
        registration.sources = []
        record(.agentLeft, registration)
        events.agentLeft(id)
        events.agentsChanged()
    }

    private func record(_ kind: AuditKind, _ registration: Registration) {
        let agent = registration.agent
        audit.write(
            AuditRecord(kind, uid: agent.uid, [.session: agent.session])
                .called(by: registration.peer)
        )
    }

    /// Opens the process that a caller may serve before it checks the pid, so that a reused pid is
    /// detected.
    private static func serve(
        _ number: UInt32,
        for peer: Peer
    ) throws(DBusError) -> ServedProcess {
        guard let pid = Int32(exactly: number), pid > 0 else { throw noProcess(number) }
        let descriptor = try ProcessDescriptor.open(pid)
        guard let owner = CallerProcess.owner(of: pid) else { throw noProcess(number) }
        guard owner == peer.uid || peer.uid == 0 else {
            throw .denied("process \(number) belongs to somebody else")
        }
        return ServedProcess(pid: pid, descriptor: descriptor)
    }

    private static func noProcess(_ number: some BinaryInteger) -> DBusError {
        .invalid("there is no process \(number)")
    }
}

/// Receives changes of agents, and tells whether the engine accepts them.
@BusActor
protocol AgentEvents: AnyObject {
    /// Whether the agent would be the only agent of its kind where it serves.
    func canRegister(_ agent: Agent) -> Bool
    func agentRegistered(_ agent: Agent)
    func agentLeft(_ id: AgentID)
    /// Called when callers may have gained or lost an agent.
    func agentsChanged()
}
