import BusGuard
import DBus
import Linux

/// The login manager on the bus: questions, signals and the lock that delays sleep.
///
/// Questions go over the bus, to the process whose signals are believed, so that answers and
/// signals have one order. sd-login reads files; it serves what can't wait for an answer.
@BusActor
final class Logind {
    static let name = "org.freedesktop.login1"
    static let path = ObjectPath(trusted: "/org/freedesktop/login1")
    static let manager = "org.freedesktop.login1.Manager"
    static let session = "org.freedesktop.login1.Session"
    static let user = "org.freedesktop.login1.User"
    /// How long it may take to answer, each time it is asked.
    ///
    /// Others may fill the queue before its answer, or have the bus drop it.
    static let patience = [Duration.seconds(10), .seconds(10)]

    /// What it tells without being asked.
    enum News {
        /// A trusted process has its name now, or none has.
        case present(Bool)
        /// Properties of a session changed.
        case changed(session: ObjectPath, [String: Variant])
        /// A session is asked to lock itself.
        case locking(session: ObjectPath)
        /// A session ended.
        case removed(session: ObjectPath, id: String)
        /// A user's last session ended.
        case loggedOut(uid: UInt32)
        /// A session has begun; nil: nobody says which.
        case began(session: ObjectPath?)
        /// Something of a user changed, such as the sessions; nil: nobody says whose.
        case changedUser(uid: UInt32?)
        /// A user has come who wasn't logged in; nil: nobody says who.
        case newUser(uid: UInt32?)
        /// The machine goes to sleep, or is back.
        case sleeping(Bool)
        /// The lid may have moved: the login manager does not tell (L3).
        case lidMoved
    }

    private let connection: Connection
    private let lanes: CallBudget
    private let isTrusted: (UInt32) -> Bool
    private let hear: @BusActor (News) -> Void
    private let service: SupervisedService
    /// The process of the owner.
    private(set) var process: LoginHistory.Program?
    private var lidSource: EventSource?
    private var inhibitor: OwnedDescriptor?
    /// The thread that waits for an inhibitor: its call takes a descriptor, and may block.
    private lazy var inhibitorThread = try? SerialThread(named: "the login manager")
    /// Whether sleep is to wait; it need not from `allowSleep` on.
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

    /// The unique name; nil when the login manager isn't there, or isn't trusted.
    var owner: String? { service.peer?.name }

    /// Whether it is the one whose files sd-login reads.
    var isSystems: Bool { connection.address == .system }

    /// Watches for it; the first news is whether it is there.
    func start() {
        service.startWatching()
        // UPower tells when the lid moves; what to make of it, the login manager is asked.
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

    /// Whether somebody is there, which any program in a session may say as often as it likes.
    ///
    /// Nothing here rests on it.
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

    /// The user whom UserNew or UserRemoved is about.
    private static func user(in message: Message) -> UInt32? {
        try? message.read("uo") { reader throws(DBusError) in
            let uid = try reader.read(UInt32.self)
            _ = try reader.read(ObjectPath.self)
            return uid
        }
    }

    /// The user of an object, by its path, such as `…/user/_1000`.
    private static func user(at path: ObjectPath) -> UInt32? {
        let prefix = Self.path.rawValue + "/user/_"
        guard path.rawValue.hasPrefix(prefix) else { return nil }
        return UInt32(path.rawValue.dropFirst(prefix.count))
    }

    // MARK: - Sleep

    /// Has sleep wait for `allowSleep`, for as long as the administrator lets anybody delay it.
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
        // The machine may be going to sleep by now: it would wait for this inhibitor.
        guard self.owner == owner, delaysSleep else { return }
        inhibitor = taken
    }

    /// Sleep need not wait for us any more.
    func allowSleep() {
        delaysSleep = false
        inhibitor = nil
    }

    // MARK: - Questions

    /// The session of a caller's process.
    ///
    /// - Returns: Nil when it is in none.
    /// - Throws: What went wrong when that could not be found out, or when the process ended
    ///   meanwhile: its number may be another's.
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

    /// A user who is logged in, or whose units run.
    struct Login {
        /// Since when, in microseconds of CLOCK_MONOTONIC; no unit of the user's service manager is
        /// older.
        let since: UInt64
        /// The sessions, the one that the login manager prefers first; at most 64.
        let sessions: [ObjectPath]
    }

    /// The sessions of a user, as in ``Login``.
    ///
    /// - Throws: What went wrong when they could not be found out.
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

    /// The login of the user whose service manager runs a process; nil: none does.
    ///
    /// - Throws: What went wrong when that could not be found out, or when the process ended
    ///   meanwhile.
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

    /// Whether a user has a session that is not ending; nil: it doesn't say.
    ///
    /// It is asked in the service's place: whoever logs out, the users have theirs to themselves.
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

    /// What a session is; nil: it is none, or is none any more.
    ///
    /// - Throws: What went wrong when that could not be found out.
    func session(at path: ObjectPath, for uid: UInt32) async throws(DBusError) -> LoginSession? {
        guard let owner else { throw Self.absent }
        do throws(DBusError) {
            return LoginSession(try await properties(of: Self.session, at: path, for: uid, owner))
        } catch {
            guard Self.unasked.contains(error.name) || self.owner != owner else { return nil }
            throw error
        }
    }

    /// Whether the lid is closed, and whether the machine is docked or has an external display.
    ///
    /// - Returns: Nil when it doesn't say.
    func lid() async -> (isClosed: Bool, isDocked: Bool)? {
        guard let isClosed = await flag("LidClosed") else { return nil }
        guard isClosed else { return (false, false) }
        return (true, await flag("Docked") ?? false)
    }

    /// Whether the machine goes to sleep, or sleeps; nil: it doesn't say.
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

    /// Asks within the budget of the connection, for a user or for the service itself, and again if
    /// the question or its answer did not get through.
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
                // There was no room; with an answer that is missing, time has passed.
                if error.name == .limitsExceeded { await pause(Self.respite) }
            }
        }
        let last = Self.patience[Self.patience.count - 1]
        return try await lanes.run(.questions, for: uid) {
            () throws(DBusError) in try await body(last)
        }
    }

    /// What says of a question that it, or its answer, did not get through.
    private static let unasked: Set<DBusError.Name> = [
        .limitsExceeded, .noReply, .timeout, .disconnected,
    ]
    /// How long the bus may take until it has room again.
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
