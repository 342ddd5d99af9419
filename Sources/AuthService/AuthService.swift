import AuthEngine
public import AuthStore
import CLinux
public import DBus
import Glibc
public import KeychainStore
import LocalAuthBus
import ServiceProgram

/// The daemon: the objects on the bus around one engine.
///
/// All of it runs on the loop's thread; here alone does the engine change.
@BusActor
public final class AuthService {
    /// The daemon's bus name.
    public static let name = "org.localauth.Authentication1"

    let connection: Connection
    let store: AuthStore
    private(set) var configuration: Configuration
    private(set) var engine: AuthEngine
    let setAside: String?
    let audit: AuditTrail
    let keychain: Keychain?
    private let readConfiguration: (@Sendable () throws(ConfigurationError) -> Configuration)?

    private(set) lazy var directory = SensorDirectory(connection: connection, service: self)
    private(set) lazy var sessions = Sessions(service: self)
    private(set) lazy var agents = AgentDirectory(service: self)
    private(set) lazy var verifier = PasscodeVerifier(connection: connection, service: self)
    private(set) lazy var enrolments = Enrolments(loadedEnrolments, store: store, service: self)
    private(set) lazy var monitors = Monitors(service: self)
    private(set) lazy var manager = AuthenticationObject(service: self)
    private(set) lazy var items = KeychainObject(keychain: keychain, service: self)
    private var loadedEnrolments: [UInt32: Enrolment]

    var evaluations: [EvaluationID: Evaluation] = [:]
    var prompts: [String: EvaluationID] = [:]
    var looking: [OperationID: SensorLink] = [:]
    var lastSave: SaveID?
    var savedLast: SaveID?
    var saveWaiters: [(id: SaveID, done: CheckedContinuation<Bool, Never>)] = []
    private var clients: [String: Client] = [:]
    private var announcedTypes: [BiometryType] = []
    private var lastID: UInt64 = 0
    private var events: [Event] = []
    private var isHandling = false
    private var trimming: EventSource?
    private var timer: (source: EventSource, at: Instant)?

    /// A service that has nothing on the bus yet.
    ///
    /// - Parameters:
    ///   - connection: where it will serve: a bus, or the server's end of a socketpair.
    ///   - store: where counters and generations are kept.
    ///   - state: what the store held.
    ///   - configuration: the administrator's settings.
    ///   - keychain: where items and keys are kept; nil: there is no keychain.
    ///   - rereadConfiguration: how `reload()` gets them anew.
    ///   - journal: the socket of the journal that decisions are written to.
    public init(
        connection: Connection,
        store: AuthStore,
        state: LoadedState,
        configuration: Configuration,
        keychain: Keychain? = nil,
        rereadConfiguration: (@Sendable () throws(ConfigurationError) -> Configuration)? = nil,
        journal: String = "/run/systemd/journal/socket"
    ) {
        self.connection = connection
        self.store = store
        self.configuration = configuration
        self.keychain = keychain
        readConfiguration = rereadConfiguration
        let isSystemBus = connection.address == .system
        setAside = state.setAside
        loadedEnrolments = state.enrolments
        audit = AuditTrail(path: journal, records: state.records, unknown: state.unknown)
        engine = AuthEngine(
            settings: configuration.engineSettings(isSystemBus: isSystemBus),
            records: state.records,
            unknown: state.unknown,
            since: isSystemBus ? Instant(nanoseconds: 0) : Instant.now()
        )
    }

    /// Puts the objects on the bus and looks for sensors, then takes the name.
    ///
    /// - Throws: Failed when the name is taken.
    public func start() throws(DBusError) {
        // Sensors may run as the same user: they are not to look into this process.
        if isSystemBus { _ = forbid_tracing() }
        connection.serveObjectManager(at: AuthenticationObject.path)
        connection.export(AuthenticationObject.path, [Authentication1Interface(manager)])
        connection.export(KeychainObject.path, [Keychain1Interface(items)])
        directory.disabled = Set(configuration.disabledSensors)
        sessions.start()
        directory.start()
        verifier.start()
        if !connection.isPeerToPeer { try connection.requestName(Self.name) }
        audit.write(AuditRecord(.serviceStarted))
        if let setAside { audit.write(AuditRecord(.databaseSetAside, [.file: setAside])) }
    }

    /// Ends every evaluation with SystemCancel, then writes what is still to be written.
    public func stop() async {
        handle(.stopping)
        directory.stop()
        await withCheckedContinuation { continuation in
            onLoop { continuation.resume() }
        }
        connection.flush()
        connection.releaseName(Self.name)
        connection.flush()
        audit.close()
        store.close()
    }

    /// Reads the configuration anew; a bad one keeps the old settings and is told in the log.
    public func reload() {
        guard let readConfiguration else { return }
        do throws(ConfigurationError) {
            configuration = try readConfiguration()
            handle(.configured(configuration.engineSettings(isSystemBus: isSystemBus)))
            directory.disabled = Set(configuration.disabledSensors)
            let (keychain, itemLimit) = (keychain, configuration.itemsPerUser)
            onLoop { await keychain?.limitItems(to: itemLimit) }
            log(.notice, "the configuration was read again")
            audit.write(AuditRecord(.configurationReloaded))
        } catch {
            log(.error, "the old settings stay: \(error)")
            audit.write(AuditRecord(.configurationRefused, [.cause: "\(error)"]))
        }
    }

    /// The present moment on the clock that counts.
    var now: Instant { Instant.now() }

    /// A number that was not given away before.
    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Whether a process of this user may be a sensor or the passcode verifier.
    func isTrusted(uid: UInt32) -> Bool {
        uid == 0 || uid == ProcessIdentity.uid
    }

    /// Whether this instance serves the whole system.
    var isSystemBus: Bool { connection.address == .system }

    // MARK: - Events

    /// The one place where the engine changes.
    ///
    /// An event that an effect causes waits until the effects before it are done.
    func handle(_ event: Event) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        var index = 0
        while index < events.count {
            let effects = engine.step(events[index], at: now)
            for effect in effects { perform(effect) }
            index += 1
        }
        events.removeAll(keepingCapacity: events.count < 64)
        isHandling = false
        arm()
    }

    private func arm() {
        let next = engine.nextDeadline
        guard timer?.at != next else { return }
        timer?.source.cancel()
        timer = nil
        guard let next else { return }
        let wait = max(next - now, .zero)
        timer = (
            EventLoop.shared.schedule(after: wait) { [weak self] in
                self?.timer = nil
                self?.handle(.timePassed)
            }, next
        )
    }

    // MARK: - Clients

    /// What is kept of a connection, from its first call that needs it until it leaves.
    func client(of peer: Peer) -> Client {
        if let client = clients[peer.name] { return client }
        let client = Client(id: ClientID(nextID()), peer: peer)
        clients[peer.name] = client
        _ = peer.onLeave { [weak self] in self?.left(client) }
        return client
    }

    private func left(_ client: Client) {
        clients[client.peer.name] = nil
        handle(.clientGone(client.id))
        let hadContexts = !client.contexts.isEmpty
        for context in client.contexts.values {
            handle(.released(context.id))
            context.remove()
        }
        if hadContexts { giveBackMemory() }
    }

    /// What departed clients held goes back to the system, a moment later for all that leave
    /// together.
    private func giveBackMemory() {
        guard trimming == nil else { return }
        trimming = EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in
            self?.trimming = nil
            _ = malloc_trim(0)
        }
    }

    /// Whether a connection may wait for one more answer.
    func hasRoom(for client: Client) -> Bool {
        engine.pendingCount(of: client.id) + client.preparing
            < engine.settings.pendingPerConnection
    }

    /// How many contexts a user's connections hold together.
    func contextCount(uid: UInt32) -> Int {
        clients.values.reduce(0) { $0 + ($1.peer.uid == uid ? $1.contexts.count : 0) }
    }

    // MARK: - What others are told

    /// Sensors came, went or changed.
    func sensorsChanged() {
        enrolments.sensorsChanged()
        for uid in Set(clients.values.filter { !$0.contexts.isEmpty }.map(\.peer.uid)) {
            onLoop { await self.enrolments.refresh(uid) }
        }
        let types = directory.types
        guard types != announcedTypes else { return }
        announcedTypes = types
        connection.propertiesChanged(
            AuthenticationObject.path,
            Authentication1Interface(manager),
            ["BiometryType", "BiometryTypes"]
        )
        for client in clients.values {
            for context in client.contexts.values { context.announce("BiometryType") }
        }
    }

    /// Agents came or went.
    func agentsChanged() {
        connection.propertiesChanged(
            AuthenticationObject.path,
            Authentication1Interface(manager),
            ["Interactive"]
        )
    }

    /// A user's templates are others now: the contexts of that user say so.
    func enrolmentChanged(_ uid: UInt32) {
        audit.write(AuditRecord(.enrolmentChanged, uid: uid))
        items.enrolmentChanged(uid)
        for client in clients.values where client.peer.uid == uid {
            for context in client.contexts.values { context.announce("DomainState") }
        }
    }
}

/// One connection that has state here.
@BusActor
final class Client {
    let id: ClientID
    let peer: Peer
    var contexts: [ContextID: ContextObject] = [:]
    /// Enrolments and keychain calls that have not been answered, and don't wait for a prompt.
    var preparing = 0

    init(id: ClientID, peer: Peer) {
        self.id = id
        self.peer = peer
    }
}
