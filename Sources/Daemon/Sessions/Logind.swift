import BusGuard
import DBus
import Linux

/// The login manager on the bus: queries, signals and the lock that delays sleep.
///
/// Queries go over the bus to the process that sends the signals, so that answers and signals
/// arrive in order. sd-login reads files instead, and serves answers that can't wait.
@BusActor
final class Logind {
    static let name = "org.freedesktop.login1"
    static let path = ObjectPath(trusted: "/org/freedesktop/login1")
    static let manager = "org.freedesktop.login1.Manager"
    static let session = "org.freedesktop.login1.Session"
    static let user = "org.freedesktop.login1.User"
    /// The timeouts of a query's attempts, because neighbours can fill the queue or make the bus
    /// drop the answer.
    static let patience = [Duration.seconds(10), .seconds(10)]

    enum News {
        /// A trusted process owns the name, or no process does.
        case present(Bool)
        case changed(session: ObjectPath, [String: Variant])
        /// A session must lock itself.
        case locking(session: ObjectPath)
        case removed(session: ObjectPath, id: String)
        case loggedOut(uid: UInt32)
        /// A session has begun; nil if the signal does not name it.
        case began(session: ObjectPath?)
        /// A user's sessions or state changed; nil if the signal does not name the user.
        case changedUser(uid: UInt32?)
        /// A user logged in; nil if the signal does not name the user.
        case newUser(uid: UInt32?)
        /// The machine goes to sleep (true), or is awake again (false).
        case sleeping(Bool)
        /// The lid may have moved, for which the login manager sends no signal (L3).
        case lidMoved
    }

    private let connection: Connection
    private let lanes: CallBudget
    private let isTrusted: (UInt32) -> Bool
    private let hear: @BusActor (News) -> Void
    private let service: SupervisedService
    /// The owner's process.
    private(set) var process: LoginHistory.Program?
    private var lidSource: EventSource?
    private var inhibitor: OwnedDescriptor?
    /// A separate thread takes the inhibitor, because the call receives a descriptor and may block.
    private lazy var inhibitorThread = try? SerialThread(named: "the login manager")
    private var delaysSleep = false

    init(
        connection: Connection,
        lanes: CallBudget,
        isTrusted: @escaping (UInt32) -> Bool,
        hear: @escaping @BusActor (News) -> Void
    ) {
        self.connection = connection
        self.lanes = lanes
        self.isTrusted = isTrusted
        self.hear = hear
        service = SupervisedService(Self.name, on: connection, starts: .never, patience: .zero)
        service.user = self
    }

    /// The owner's unique name; nil if the login manager is missing or not trusted.
    var owner: String? { service.peer?.name }

    /// Whether this is the login manager whose files sd-login reads.
    var isSystems: Bool { connection.address == .system }

    /// Starts watching; the first event tells whether the login manager is present.
    func start() {
        service.startWatching()
        // UPower signals movements of the lid. The state itself comes from the login manager.
        _ = connection.watchName("org.freedesktop.UPower") { [weak self] owner in
            guard let self else { return }
            lidSource?.cancel()
            lidSource = owner.map { owner in
                self.connection.subscribe(
                    sender: owner,
                    path: ObjectPath(trusted: "/org/freedesktop/UPower"),
                    interface: Self.properties,
                    member: "PropertiesChanged",
                    broadcast: true
                ) { [weak self] _ in self?.hear(.lidMoved) }
            }
        }
        connection.onDisconnect { [weak self] in self?.service.ownerChanged(to: nil) }
    }

    // MARK: - Signals

    private func sources(of owner: String) -> [EventSource] {
        [
            subscribe(owner, Self.properties) { [weak self] message in
                self?.propertiesChanged(message)
            },
            subscribe(owner, Self.session) { [weak self] message in
                guard message.member == "Lock", let path = message.path.flatMap(ObjectPath.init)
                else { return }
                self?.hear(.locking(session: path))
            },
            subscribe(owner, Self.manager) { [weak self] message in self?.managerTold(message) },
        ]
    }

    private func subscribe(
        _ owner: String,
        _ interface: String,
        _ body: @escaping @BusActor (Message) -> Void
    ) -> EventSource {
        connection.subscribe(
            sender: owner,
            path: nil,
            interface: interface,
            member: nil,
            broadcast: true,
            body
        )
    }

    private func propertiesChanged(_ message: Message) {
        guard let path = message.path.flatMap(ObjectPath.init) else { return }
        let news = try? message.read("sa{sv}as") { reader throws(DBusError) in
            (
                try reader.read(String.self), try reader.read([String: Variant].self),
                try reader.read([String].self)
            )
        }
        guard let (interface, changed, invalidated) = news else { return }
        let names = Set(changed.keys).union(invalidated)
        guard names.isEmpty || !names.isSubset(of: Self.idleHints) else { return }
        switch interface {
        case Self.session: hear(.changed(session: path, changed))
        case Self.user: hear(.changedUser(uid: Self.user(at: path)))
        case Self.manager: hear(.lidMoved)
        default: break
        }
    }

    /// Properties that any program in a session can change at any rate, and on which no decision
    /// rests.
    private static let idleHints: Set = [
        "IdleHint", "IdleSinceHint", "IdleSinceHintMonotonic",
    ]

    private func managerTold(_ message: Message) {
        switch message.member {
        case "PrepareForSleep":
            let isStarting = try? message.read("b") { reader throws(DBusError) in
                try reader.read(Bool.self)
            }
            if let isStarting { hear(.sleeping(isStarting)) }
        case "SessionRemoved":
            let session = try? message.read("so") { reader throws(DBusError) in
                (try reader.read(String.self), try reader.read(ObjectPath.self))
            }
            if let session { hear(.removed(session: session.1, id: session.0)) }
        case "UserRemoved":
            if let uid = Self.user(in: message) { hear(.loggedOut(uid: uid)) }
        case "SessionNew":
            let session = try? message.read("so") { reader throws(DBusError) in
                _ = try reader.read(String.self)
                return try reader.read(ObjectPath.self)
            }
            hear(.began(session: session))
        case "UserNew": hear(.newUser(uid: Self.user(in: message)))
        default: break
        }
    }

    private static func user(in message: Message) -> UInt32? {
        try? message.read("uo") { reader throws(DBusError) in
            let uid = try reader.read(UInt32.self)
            _ = try reader.read(ObjectPath.self)
            return uid
        }
    }

    /// Returns the user of an object path such as `…/user/_1000`.
    private static func user(at path: ObjectPath) -> UInt32? {
        let prefix = Self.path.rawValue + "/user/_"
        guard path.rawValue.hasPrefix(prefix) else { return nil }
        return UInt32(path.rawValue.dropFirst(prefix.count))
    }

    // MARK: - Sleep

    /// Makes sleep wait for `allowSleep`, up to the administrator's limit for inhibitors.
    func delaySleep() async {
        let words = ["sleep", "localauthd", "Running prompts and sensors have to end.", "delay"]
        guard let owner, let thread = inhibitorThread else { return }
        delaysSleep = true
        let (address, patience) = (connection.address, Self.patience[0])
        let (path, interface) = (Self.path, Self.manager)
        let taken = await withCheckedContinuation { continuation in
            thread.perform {
                let taken = DescriptorCall.call(
                    owner,
                    path,
                    interface,
                    "Inhibit",
                    words,
                    at: address,
                    timeout: patience
                )
                continuation.resume(returning: taken)
            }
        }
        // If the machine is going to sleep already, it would wait for this inhibitor.
        guard self.owner == owner, delaysSleep else { return }
        inhibitor = taken
    }

    func allowSleep() {
        delaysSleep = false
        inhibitor = nil
    }

    // MARK: - Queries

    /// Returns the session of a caller's process; nil if it is in none.
    ///
    /// - Throws: The error of the query, or Failed if the process ended meanwhile, because its pid
    ///   may have been reused.
    func session(of peer: Peer) async throws(DBusError) -> ObjectPath? {
        let process = try ProcessDescriptor.open(peer.pid)
        let found: ObjectPath?
        do throws(DBusError) {
            found = try await path("GetSessionByPID", UInt32(clamping: peer.pid), for: peer.uid)
        } catch {
            guard error.name.rawValue == "org.freedesktop.login1.NoSessionForPID" else {
                throw error
            }
            found = nil
        }
        guard !ProcessDescriptor.hasEnded(process) else {
            throw DBusError(.failed, "The caller's process has ended.")
        }
        return found
    }

    /// A user who is logged in, or has running units.
    struct Login {
        /// The time of login, in microseconds of CLOCK_MONOTONIC; no unit of the user's manager is
        /// older.
        let since: UInt64
        /// The user's sessions, at most 64; the login manager's preferred session is first.
        let sessions: [ObjectPath]
    }

    /// Returns the sessions of a user, as in ``Login``.
    ///
    /// - Throws: The error of the query.
    func sessions(ofUser uid: UInt32) async throws(DBusError) -> [ObjectPath] {
        let user: ObjectPath
        do throws(DBusError) {
            user = try await path("GetUser", uid, for: uid)
        } catch {
            guard error.name.rawValue == "org.freedesktop.login1.NoSuchUser" else { throw error }
            return []
        }
        return try await login(at: user, for: uid).sessions
    }

    /// Returns the login of the user whose service manager runs a process; nil if it is no unit of
    /// its user.
    ///
    /// - Throws: The error of the query, or Failed if the process ended meanwhile.
    func login(ofUnit peer: Peer) async throws(DBusError) -> Login? {
        let process = try ProcessDescriptor.open(peer.pid)
        guard try await session(of: peer) == nil else { return nil }
        let (pid, uid) = (UInt32(clamping: peer.pid), peer.uid)
        let user = try await path("GetUserByPID", pid, for: uid)
        guard try await path("GetUser", uid, for: uid) == user else { return nil }
        let login = try await login(at: user, for: uid)
        guard !ProcessDescriptor.hasEnded(process) else {
            throw DBusError(.failed, "The caller's process has ended.")
        }
        return login
    }

    private func login(at user: ObjectPath, for uid: UInt32) async throws(DBusError) -> Login {
        guard let owner else { throw Self.absent }
        let found = try await properties(of: Self.user, at: user, for: uid, owner)
        var pairs: [Variant] = found["Display"].map { [$0] } ?? []
        if case .array(_, let sessions)? = found["Sessions"] { pairs += sessions }
        var paths: [ObjectPath] = []
        for case .structure(let pair) in pairs {
            guard pair.count == 2, pair[0].asString?.isEmpty == false,
                let path = pair[1].asObjectPath, !paths.contains(path), paths.count < 64
            else { continue }
            paths.append(path)
        }
        return Login(since: found["TimestampMonotonic"]?.asUInt64 ?? 0, sessions: paths)
    }

    /// Whether a user has a session that is not closing; nil if the login manager does not answer.
    ///
    /// The query uses the service's own lane, so that frequent logouts can't use up a user's lane.
    func hasSession(_ uid: UInt32) async -> Bool? {
        guard let owner else { return nil }
        let user: ObjectPath
        do throws(DBusError) {
            user = try await path("GetUser", uid, for: CallBudget.service)
        } catch {
            return error.name.rawValue == "org.freedesktop.login1.NoSuchUser" ? false : nil
        }
        let service = CallBudget.service
        let found = try? await properties(of: Self.user, at: user, for: service, owner)
        return found?["State"]?.asString.map { ["active", "online", "opening"].contains($0) }
    }

    /// Returns the properties of a session; nil if it has ended or is invalid.
    ///
    /// - Throws: The error of the query.
    func session(at path: ObjectPath, for uid: UInt32) async throws(DBusError) -> LoginSession? {
        guard let owner else { throw Self.absent }
        do throws(DBusError) {
            return LoginSession(try await properties(of: Self.session, at: path, for: uid, owner))
        } catch {
            guard Self.unasked.contains(error.name) || self.owner != owner else { return nil }
            throw error
        }
    }

    /// Returns whether the lid is closed, and whether the machine is docked or has an external
    /// display.
    ///
    /// - Returns: Nil if the login manager does not answer.
    func lid() async -> (isClosed: Bool, isDocked: Bool)? {
        guard let isClosed = await flag("LidClosed") else { return nil }
        guard isClosed else { return (false, false) }
        return (true, await flag("Docked") ?? false)
    }

    /// Whether the machine sleeps or is about to; nil if the login manager does not answer.
    func isSleeping() async -> Bool? { await flag("PreparingForSleep") }

    private func flag(_ name: String) async -> Bool? {
        guard let owner else { return nil }
        return try? await asking { timeout throws(DBusError) in
            try await self.connection.property(
                name,
                of: Self.manager,
                at: Self.path,
                on: owner,
                as: Bool.self,
                timeout: timeout
            )
        }
    }

    private func properties(
        of interface: String,
        at path: ObjectPath,
        for uid: UInt32,
        _ owner: String
    ) async throws(DBusError) -> [String: Variant] {
        try await asking(for: uid) { timeout throws(DBusError) in
            try await self.connection.properties(
                of: interface,
                at: path,
                on: owner,
                timeout: timeout
            )
        }
    }

    /// Runs a query in the lane of a user or the service, and again if the query or its answer was
    /// lost.
    private func asking<Value: Sendable>(
        for uid: UInt32 = CallBudget.service,
        _ body: (_ timeout: Duration) async throws(DBusError) -> Value
    ) async throws(DBusError) -> Value {
        for timeout in Self.patience.dropLast() {
            do throws(DBusError) {
                return try await lanes.run(.questions, for: uid) {
                    () throws(DBusError) in try await body(timeout)
                }
            } catch {
                guard Self.unasked.contains(error.name), !Task.isCancelled else { throw error }
                // The queue was full. After a missing answer, enough time has passed already.
                if error.name == .limitsExceeded { await pause(Self.respite) }
            }
        }
        let last = Self.patience[Self.patience.count - 1]
        return try await lanes.run(.questions, for: uid) {
            () throws(DBusError) in try await body(last)
        }
    }

    /// Errors of queries that did not reach the login manager, or lost their answer.
    private static let unasked: Set<DBusError.Name> = [
        .limitsExceeded, .noReply, .timeout, .disconnected,
    ]
    /// The pause until the bus may have room again.
    private static let respite = Duration.seconds(1)
    private static let absent = DBusError(.serviceUnknown, "No login manager is there.")

    private func path(
        _ member: String,
        _ number: UInt32,
        for uid: UInt32
    ) async throws(DBusError) -> ObjectPath {
        guard let owner else { throw Self.absent }
        let reply = try await asking(for: uid) { timeout throws(DBusError) in
            try await self.connection.call(
                to: owner,
                path: Self.path,
                interface: Self.manager,
                member: member,
                signature: "u",
                timeout: timeout
            ) { writer throws(DBusError) in try writer.write(number) }
        }
        return try reply.read("o") { reader throws(DBusError) in try reader.read(ObjectPath.self) }
    }

    private static let properties = "org.freedesktop.DBus.Properties"
}

extension Logind: SupervisedServiceUser {
    func distrust(of uid: UInt32?) -> String? {
        uid.flatMap { isTrusted($0) ? nil : UserName.of($0) }
    }

    func ownerArrived() { ownerLeft() }

    func ownerLeft() { (process, inhibitor) = (nil, nil) }

    func prepare(_ peer: Peer) async -> ServiceAbsence? {
        process = LoginHistory.Program(pid: peer.pid)
        service.listen { sources(of: peer.name) }
        await delaySleep()
        let isSleeping = await isSleeping() ?? false
        if owner == peer.name { hear(.sleeping(isSleeping)) }
        return nil
    }

    func stateChanged() {
        switch service.state {
        case .ready: hear(.present(true))
        case .broken: hear(.present(false))
        case .probing, .leaving, .asleep, .removed: break
        }
    }
}
