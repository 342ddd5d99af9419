import AuthEngine
import AuthStore
import BusGuard
import DBus

/// Callers' login sessions (L2 to L4); without a login manager, a user has one active session.
@BusActor
final class Sessions {
    /// The place of a caller's process according to the login manager.
    private enum Location: Equatable {
        case session(ObjectPath)
        /// Outside any session that a person sits at, as a systemd unit of a user.
        case none
    }

    private enum Presence {
        case unknown
        case absent
        case present
        /// The login manager was present, or must be; without it no caller passes.
        case lost
    }

    private struct Caller: Hashable {
        let name: String
        let uid: UInt32
    }

    private(set) var surroundings = Surroundings() {
        didSet { events.surroundingsChanged(surroundings) }
    }
    private var presence = Presence.unknown
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private(set) var sessions: [ObjectPath: LoginSession] = [:]
    private var callers: [Caller: Location] = [:]
    /// Sessions of users with a caller outside sessions; the preferred session is first.
    private var users: [UInt32: [ObjectPath]] = [:]
    /// Callers with a running look-up for a property.
    private var pendingLookUps: Set<Caller> = []
    private(set) var logind: Logind?
    var history = LoginHistory()
    /// Where `history` is saved; nil without a login manager on the system bus.
    private(set) var record: LoginRecord?
    var isKeeping = false
    private let callerLookUps = SharedLookUps<Caller, Location?>()
    private lazy var lid = Mirror<Bool, Void> { [unowned self] _ in await lookAtLid() }
    let logoutLookUps = SharedLookUps<UInt32, Void>()
    /// Users who gave a password and have had a session since.
    var present: Set<UInt32> = []
    /// Catches up with changes of a user's sessions whose signals may be lost.
    private lazy var catchUps = Mirror<UInt32, Bool> { [unowned self] uid in
        await lookAgain(uid)
    }
    private lazy var sleep = Mirror<Bool, Bool> { [unowned self] _ in await logind?.isSleeping() }
    /// The number of events so far, to detect events during a query.
    private var newsCount = 0
    /// Users with a running look-up of their callers.
    private var arrangements = LookUpChanges<UInt32>()
    private var loads = LookUpChanges<ObjectPath>()
    private static let tries = 5
    private let connection: Connection
    private let lanes: CallBudget
    let events: any SessionEvents

    /// - Parameters:
    ///   - connection: the bus that the service serves.
    ///   - lanes: the quotas for calls on that bus.
    ///   - events: receives events of sessions and sleep.
    init(connection: Connection, lanes: CallBudget, events: any SessionEvents) {
        self.connection = connection
        self.lanes = lanes
        self.events = events
    }

    /// Looks for logind: on the system bus for a session's service, else on the service's own bus.
    func start() {
        guard let bus = Self.bus(beside: connection) else {
            presence = .absent
            return
        }
        let isSystemBus = connection.address == .system
        let logind = Logind(
            connection: bus,
            // The bus limits calls for each connection, so another connection has its own budget.
            lanes: bus === connection ? lanes : CallBudget(),
            isTrusted: { $0 == 0 || (!isSystemBus && $0 == ProcessIdentity.uid) },
            hear: { [weak self] in self?.heard($0) }
        )
        self.logind = logind
        if isSystemBus { record = .kept() }
        logind.start()
    }

    private static func bus(beside connection: Connection) -> Connection? {
        connection.address == .session ? try? Connection(.system) : connection
    }

    // MARK: - Queries

    var isAbsent: Bool { presence == .absent }

    /// For a decision, callers outside sessions are looked up again, because a signal about their
    /// user's sessions may be lost.
    func refresh(_ peer: Peer, for uid: UInt32, isDecision: Bool) async {
        await settled()
        guard presence == .present else { return }
        let lid = onLoop { await self.lid.revalidate(true) }
        _ = await spot(of: peer, for: uid, isDecision: isDecision)
        await lid.value
    }

    /// Queries the user's sessions and sleep, and handles changes whose signals were lost.
    ///
    /// - Returns: Whether the login manager answered. If not, no decision that rests on it may
    ///   grant. Running evaluations continue, because a missing answer proves no change.
    func catchUp(_ uid: UInt32) async -> Bool {
        await settled()
        guard presence == .present else { return isAbsent }
        return await catchUps.revalidate(uid) ?? false
    }

    /// Catches up in the background, at most once a second for a user, and announces a difference.
    func refreshInBackground(_ uid: UInt32, at now: Instant) {
        if presence == .present { catchUps.refreshInBackground(uid, at: now) }
    }

    private func lookAgain(_ uid: UInt32) async -> Bool {
        guard let logind else { return true }
        let asked = newsCount
        // Run both queries concurrently, because each answer takes long on a busy bus.
        var sleeping: Bool?
        let sleep = onLoop {
            sleeping = await self.sleep.revalidate(true)
        }
        var isKnown = true
        for path in sessions.filter({ $0.value.uid == uid }).keys {
            let found: LoginSession?
            do throws(DBusError) {
                found = try await logind.session(at: path, for: uid)
            } catch {
                isKnown = false
                continue
            }
            guard let known = sessions[path] else { continue }
            guard let found else {
                ended(path, known.id)
                continue
            }
            // An event may be newer than this answer. Apply an answer that is worse in any case.
            guard asked == newsCount || found.isWorse(than: known) else { continue }
            take(found, at: path)
        }
        await sleep.value
        guard let isSleeping = sleeping else { return false }
        if asked == newsCount || isSleeping { sleepChanged(isSleeping) }
        return isKnown
    }

    /// Returns where a user can be prompted for a caller; a lock screen prompts in a locked session.
    func place(of peer: Peer, for uid: UInt32, isForLockScreen: Bool = false) async -> Place {
        await settled()
        if isAbsent { return Place(session: Self.only(of: uid)) }
        guard presence == .present, let spot = await spot(of: peer, for: uid) else {
            return Place()
        }
        return place(at: spot, for: uid, isForLockScreen: isForLockScreen)
    }

    /// Returns the cached place of a caller, or nil if it is unknown.
    func cachedPlace(of peer: Peer) -> Place? {
        if isAbsent { return Place(session: Self.only(of: peer.uid)) }
        let caller = Caller(name: peer.name, uid: peer.uid)
        guard presence == .present, let spot = callers[caller], isLoaded(spot, for: peer.uid) else {
            return nil
        }
        return place(at: spot, for: peer.uid)
    }

    /// Returns the cached place for a property; nil while a look-up runs, which announces it.
    func knownPlace(of peer: Peer) -> Place? {
        if let place = cachedPlace(of: peer) { return place }
        askLater(peer)
        return nil
    }

    private func place(at spot: Location, for uid: UInt32, isForLockScreen: Bool = false) -> Place {
        var place = Place(isInNoSession: spot == .none)
        guard let session = session(at: spot, for: uid) else {
            place.absence = spot == .none ? .noSession : .unknown
            return place
        }
        place.isRemote = session.isRemote
        if session.uid != uid {
            place.absence = .otherUser
        } else if !session.isInFront {
            place.absence = .inactive
        } else if session.isLocked && !isForLockScreen {
            place.absence = .locked
        } else {
            place.session = session.id
        }
        return place
    }

    /// Returns the session of a spot; for a caller outside sessions, the local session of its user.
    private func session(at spot: Location, for uid: UInt32) -> LoginSession? {
        switch spot {
        case .session(let path): return sessions[path]
        case .none:
            let local = (users[uid] ?? []).compactMap { sessions[$0] }
                .filter { $0.uid == uid && $0.isLocal }
            return local.first { $0.isInFront && !$0.isLocked } ?? local.first(where: \.isInFront)
                ?? local.first
        }
    }

    /// Returns where an agent may prompt its user; nil if nowhere.
    ///
    /// Refuses agents outside sessions: their prompts may appear anywhere. Exceptions are units of
    /// a user without remote sessions so far, for a process only lock screens, and root's agents
    /// for a process. Root may name the session of its agent. Otherwise that session is empty.
    ///
    /// - Throws: AccessDenied for an agent of a remote session that is for no process.
    func home(
        of agent: Peer,
        isForProcess: Bool,
        isLockScreen: Bool = false,
        named: String? = nil
    ) async throws(DBusError) -> Home? {
        await settled()
        let isRoots = agent.uid == 0 && isForProcess
        if isAbsent {
            return Home(session: isRoots ? "" : Self.only(of: agent.uid), isAtDisplay: true)
        }
        guard presence == .present,
            let spot = await spot(of: agent, for: agent.uid, isDecision: true)
        else { return nil }
        guard case .session = spot else {
            if isRoots { return Home(session: named ?? "", isAtDisplay: named != nil) }
            if !isForProcess || isLockScreen,
                let desktop = await desktop(ofUnit: agent, isRemembered: !isForProcess)
            {
                return Home(session: desktop.id, isAtDisplay: true)
            }
            throw .denied(
                "an agent has to run in a login session, or as a unit of a user who has been at "
                    + "this machine alone since the first login"
            )
        }
        guard let session = session(at: spot, for: agent.uid), isRoots || session.uid == agent.uid
        else { return nil }
        guard isForProcess || !session.isRemote else {
            throw .denied("in a remote session an agent serves one process only")
        }
        return Home(
            session: session.id,
            isAtDisplay: session.shows(onTerminal: ProcessStatus.terminal(of: agent.pid))
        )
    }

    func isRemote(_ peer: Peer) -> Bool {
        if isAbsent { return false }
        if let spot = callers[Caller(name: peer.name, uid: peer.uid)] {
            return session(at: spot, for: peer.uid)?.isRemote ?? false
        }
        guard let logind, logind.isSystems else {
            askLater(peer)
            return false
        }
        return SystemLogin.session(of: peer.pid).map(SystemLogin.isRemote) ?? false
    }

    private func askLater(_ peer: Peer) {
        guard pendingLookUps.insert(Caller(name: peer.name, uid: peer.uid)).inserted else { return }
        onLoop {
            let spot = await self.spot(of: peer, for: peer.uid)
            self.pendingLookUps.remove(Caller(name: peer.name, uid: peer.uid))
            if spot != nil { self.events.callersChanged() }
        }
    }

    /// Waits until the presence of a login manager is known.
    private func settled() async {
        guard presence == .unknown else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    private func isLoaded(_ spot: Location, for uid: UInt32) -> Bool {
        switch spot {
        case .session(let path): sessions[path] != nil
        case .none: users[uid] != nil
        }
    }

    private func spot(of peer: Peer, for uid: UInt32, isDecision: Bool = false) async -> Location? {
        await settled()
        let caller = Caller(name: peer.name, uid: uid)
        if let known = callers[caller], isLoaded(known, for: uid), known != .none || !isDecision {
            return known
        }
        // A failed look-up is not cached, so the next call repeats it.
        guard let logind else { return nil }
        return await callerLookUps.share(caller) { await self.ask(peer, for: uid, logind) }
    }

    /// - Returns: Nil if the query failed, or events outdated every answer.
    private func ask(_ peer: Peer, for uid: UInt32, _ logind: Logind) async -> Location? {
        arrangements.begin(uid)
        defer { arrangements.end(uid) }
        for _ in 0..<Self.tries {
            let asked = arrangements.count(of: uid)
            guard let (found, paths) = try? await find(peer, for: uid, logind) else { return nil }
            guard asked == arrangements.count(of: uid) else { continue }
            if let paths { keep(paths, for: uid) }
            if callers.count >= 1024 { callers = [:] }
            let known = callers.updateValue(found, forKey: Caller(name: peer.name, uid: uid))
            if let known, known != found { events.callersChanged() }
            return found
        }
        return nil
    }

    private func keep(_ paths: [ObjectPath], for uid: UInt32) {
        if users.count >= 1024 { users = [:] }
        let known = users.updateValue(paths, forKey: uid)
        if let known, known != paths { events.callersChanged() }
    }

    /// Finds a caller's place and, for a caller outside sessions, its user's sessions.
    private func find(
        _ peer: Peer,
        for uid: UInt32,
        _ logind: Logind
    ) async throws(DBusError) -> (Location, [ObjectPath]?) {
        if let own = try await logind.session(of: peer) {
            let session = try await load(own, for: peer.uid, logind)
            // Root may ask for users also from outside their sessions, but never from a remote
            // session.
            let isForOther = peer.uid == 0 && uid != 0 && session.uid != uid
            if session.isRemote || (session.isLocal && !isForOther) { return (.session(own), nil) }
        }
        let paths = try await logind.sessions(ofUser: uid)
        for path in paths { _ = try await load(path, for: uid, logind) }
        return (.none, paths)
    }

    func load(
        _ path: ObjectPath,
        for uid: UInt32,
        _ logind: Logind
    ) async throws(DBusError) -> LoginSession {
        if let session = sessions[path] { return session }
        loads.begin(path)
        defer { loads.end(path) }
        for _ in 0..<Self.tries {
            let asked = loads.count(of: path)
            let found = try await logind.session(at: path, for: uid)
            // An event during the query is newer than the answer.
            guard asked == loads.count(of: path) else { continue }
            guard let found else { break }
            sessions[path] = found
            return found
        }
        throw DBusError(.failed, "The session can't be looked up.")
    }

    private func lookAtLid() async {
        guard let lid = await logind?.lid() else { return }
        var new = surroundings
        new.isLidClosed = lid.isClosed
        new.isDocked = lid.isDocked
        if new != surroundings { surroundings = new }
    }

    // MARK: - Events

    private func heard(_ news: Logind.News) {
        newsCount += 1
        switch news {
        case .present(let isPresent): presenceChanged(isPresent)
        case .changed(let path, let properties): changed(path, properties)
        case .locking(let path): interrupt(path, .locked)
        case .removed(let path, let id): ended(path, id)
        case .loggedOut(let uid): loggedOut(uid)
        case .began(let path):
            // The user follows in the next change of a user.
            if let path { return history.addSession(path) }
            // The place of an unnamed session can't be looked up, so the history is no longer
            // complete.
            forgetHistory()
            rearranged()
        case .changedUser(let uid):
            if let uid { lookAtNew(of: uid) }
            rearranged(uid)
        case .newUser(let uid): rearranged(uid)
        case .sleeping(let isSleeping): sleepChanged(isSleeping)
        case .lidMoved: onLoop { await self.lookAtLid() }
        }
    }

    private func presenceChanged(_ isPresent: Bool) {
        for path in sessions.keys { interrupt(path, .left) }
        // A lock applies to known sessions only, and no session is known at this point.
        events.happened(.sessionEnded(session: nil))
        loads.changedAll()
        sessions = [:]
        forgetPlaces()
        recallHistory()
        if isPresent {
            presence = .present
            onLoop { await self.lookAtLid() }
            events.sessionEnded(nil)
            events.sessionsRearranged()
            lookForLogouts(afterSessionOf: nil, isStart: true)
        } else {
            let isExpected = logind?.isSystems == true && SystemLogin.isRunning
            let wasThere = presence == .present || presence == .lost
            presence = isExpected || wasThere ? .lost : .absent
        }
        events.callersChanged()
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    private func ended(_ path: ObjectPath, _ id: String) {
        interrupt(path, .left)
        loads.changed(path)
        let known = sessions.removeValue(forKey: path)
        events.sessionEnded(id)
        // A change of the user announces where its other processes are.
        if let uid = known?.uid { arrangements.changed(uid) }
        callers = callers.filter { $0.value != .session(path) }
        users = users.filter { !$0.value.contains(path) }
        tellRearranged()
        lookForLogouts(afterSessionOf: known?.uid)
    }

    /// Discards the places of one user only, so that users don't pay for changes of others.
    private func forgetPlaces(of uid: UInt32? = nil) {
        // Root may ask for other users from its own sessions.
        guard let uid, uid != 0 else {
            arrangements.changedAll()
            callers = [:]
            users = [:]
            return
        }
        arrangements.changed(uid)
        callers = callers.filter { $0.key.uid != uid }
        users[uid] = nil
    }

    func rearranged(_ uid: UInt32? = nil) {
        forgetPlaces(of: uid)
        tellRearranged()
    }

    private func tellRearranged() {
        events.sessionsRearranged()
        events.callersChanged()
    }

    private func changed(_ path: ObjectPath, _ properties: [String: Variant]) {
        loads.changed(path)
        guard var session = sessions[path] else { return }
        session.update(properties)
        take(session, at: path)
    }

    private func take(_ session: LoginSession, at path: ObjectPath) {
        guard let before = sessions.updateValue(session, forKey: path) else { return }
        if before.isInFront, !session.isInFront { interrupt(path, .left) }
        if !before.isLocked, session.isLocked { interrupt(path, .locked) }
        if before.isLocked, !session.isLocked { interrupt(path, .unlocked) }
        if before != session { events.callersChanged() }
    }

    private func interrupt(_ path: ObjectPath, _ interruption: Interruption) {
        guard let session = sessions[path] else { return }
        events.happened(.interrupted(session: session.id, interruption))
    }

    private func sleepChanged(_ isSleeping: Bool) {
        guard surroundings.isSuspended != isSleeping else { return }
        if isSleeping {
            events.happened(.suspending)
            surroundings.isSuspended = true
            events.callersChanged()
            onLoop {
                await self.events.sensorsIdle()
                if self.surroundings.isSuspended { self.logind?.allowSleep() }
            }
        } else {
            surroundings.isSuspended = false
            events.happened(.resumed)
            events.callersChanged()
            events.wokeUp()
            onLoop { await self.logind?.delaySleep() }
        }
    }
}
