import AuthEngine
import DBus

/// Who sits where: the sessions of the callers, by the login manager (L2 to L4).
///
/// Where there has been none, as in a container or on a private bus, each user has one session,
/// always in front.
@BusActor
final class Sessions {
    /// Where a caller stands.
    struct Place {
        /// The session whose agent may ask; nil when none may.
        var session: String?
        var isRemote = false
    }

    private enum Presence {
        case unknown
        case absent
        case present
        /// It was there, or must be: nobody is let pass without it.
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
    private var sessions: [ObjectPath: LoginSession] = [:]
    /// The session that each caller is in; nil: none.
    private var callers: [Caller: ObjectPath?] = [:]
    private var logind: Logind?
    private let callerLookUps = SharedLookUps<Caller, ObjectPath?>()
    private let lidLookUps = SharedLookUps<Bool, Void>()
    private let catchUps = SharedLookUps<UInt32, Void>()
    /// How often something was heard.
    private var newsCount = 0
    private let connection: Connection
    private let events: any SessionEvents

    /// `connection` is where the service serves.
    init(connection: Connection, events: any SessionEvents) {
        self.connection = connection
        self.events = events
    }

    /// Looks for the login manager: of the system for a user's service, else on the own bus.
    func start() {
        guard let bus = Self.bus(beside: connection) else {
            presence = .absent
            return
        }
        let isSystemBus = connection.address == .system
        let logind = Logind(
            connection: bus,
            isTrusted: { $0 == 0 || (!isSystemBus && $0 == ProcessIdentity.uid) },
            hear: { [weak self] in self?.heard($0) }
        )
        self.logind = logind
        logind.start()
    }

    private static func bus(beside connection: Connection) -> Connection? {
        if connection.isPeerToPeer { return nil }
        return connection.address == .session ? try? Connection(.system) : connection
    }

    // MARK: - Questions

    /// Whether there is no login manager.
    var isAbsent: Bool { presence == .absent }

    /// Finds out ahead of `place` what it will need.
    func refresh(_ peer: Peer, for uid: UInt32) async {
        await settled()
        guard presence == .present else { return }
        let lid = onLoop { await self.lidLookUps.share(true) { await self.lookAtLid() } }
        _ = await path(of: peer, for: uid)
        await lid.value
    }

    /// Finds out what a signal that a full bus dropped would have said of a user's sessions and of
    /// sleep, and does then what that signal would have done.
    ///
    /// Those who wait at the same time share two questions. A session that can't be looked at
    /// counts as left.
    func catchUp(_ uid: UInt32) async {
        await settled()
        guard presence == .present else { return }
        await catchUps.share(uid) { await self.lookAgain(uid) }
    }

    private func lookAgain(_ uid: UInt32) async {
        guard let logind else { return }
        let asked = newsCount
        for path in sessions.filter({ $0.value.uid == uid }).keys {
            let found = await logind.session(at: path, for: uid)
            guard let known = sessions[path] else { continue }
            guard let found else {
                interrupt(path, .left)
                sessions[path] = nil
                continue
            }
            // What was heard meanwhile may be younger; worse news than that are taken all the same.
            guard asked == newsCount || found.isWorse(than: known) else { continue }
            take(found, at: path)
        }
        // Nobody is asked while it may be asleep.
        let isSleeping = await logind.isSleeping() ?? true
        if asked == newsCount || isSleeping { sleepChanged(isSleeping) }
    }

    /// Where a user is asked when this caller wants it.
    ///
    /// An unlock is what a locked session waits for.
    func place(of peer: Peer, for uid: UInt32, isUnlock: Bool) async -> Place {
        await settled()
        if isAbsent { return Place(session: Self.only(of: uid)) }
        guard let session = await session(of: peer, for: uid) else { return Place() }
        let isPresent = session.uid == uid && session.isInFront && (!session.isLocked || isUnlock)
        return Place(session: isPresent ? session.id : nil, isRemote: session.isRemote)
    }

    /// The session in which an agent may ask its user; nil when there is none.
    ///
    /// Root's agent of a process, such as a PAM module in sudo, is in a user's session, or in none
    /// (empty): then only that process says whom it shows its prompts.
    ///
    /// - Throws: AccessDenied for an agent that would ask everything of a remote session.
    func home(of agent: Peer, isForProcess: Bool) async throws(DBusError) -> String? {
        await settled()
        let isRoots = agent.uid == 0 && isForProcess
        if isAbsent { return isRoots ? "" : Self.only(of: agent.uid) }
        let session = await session(of: agent, for: agent.uid)
        if isRoots { return session?.id ?? "" }
        guard let session, session.uid == agent.uid else { return nil }
        guard isForProcess || !session.isRemote else {
            throw .denied("in a remote session an agent serves one process only")
        }
        return session.id
    }

    /// A caller's own session, for a property: what is not known yet is announced later.
    func knownSession(of peer: Peer) -> String? {
        if isAbsent { return Self.only(of: peer.uid) }
        if let path = callers[Caller(name: peer.name, uid: peer.uid)] {
            return path.flatMap { sessions[$0]?.id }
        }
        if let logind, logind.isSystems {
            return SystemLogin.session(of: peer.pid, uid: peer.uid)
        }
        askLater(peer)
        return nil
    }

    /// Whether a caller is known to be in a remote session.
    func isRemote(_ peer: Peer) -> Bool {
        if isAbsent { return false }
        if let path = callers[Caller(name: peer.name, uid: peer.uid)] {
            return path.flatMap { sessions[$0]?.isRemote } ?? false
        }
        guard let logind, logind.isSystems else {
            askLater(peer)
            return false
        }
        return SystemLogin.session(of: peer.pid, uid: peer.uid).map(SystemLogin.isRemote) ?? false
    }

    private func askLater(_ peer: Peer) {
        onLoop {
            if await self.session(of: peer, for: peer.uid) != nil { self.events.callersChanged() }
        }
    }

    /// The session of a user without a login manager.
    static func only(of uid: UInt32) -> String { "uid:\(uid)" }

    /// Returns once it is known whether there is a login manager.
    private func settled() async {
        guard presence == .unknown else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    private func session(of peer: Peer, for uid: UInt32) async -> LoginSession? {
        await settled()
        guard presence == .present, let path = await path(of: peer, for: uid) else { return nil }
        return sessions[path]
    }

    private func path(of peer: Peer, for uid: UInt32) async -> ObjectPath? {
        let caller = Caller(name: peer.name, uid: uid)
        if let known = callers[caller] {
            guard let path = known, sessions[path] == nil else { return known }
        }
        // What could not be found out is asked again the next time.
        guard let logind else { return nil }
        return await callerLookUps.share(caller) { await self.ask(peer, for: uid, logind) }
    }

    private func ask(_ peer: Peer, for uid: UInt32, _ logind: Logind) async -> ObjectPath? {
        let caller = Caller(name: peer.name, uid: uid)
        do throws(DBusError) {
            let found = try await find(peer, for: uid, logind)
            if callers.count >= 1024 { callers = [:] }
            callers[caller] = .some(found)
            return found
        } catch {
            return nil
        }
    }

    private func find(
        _ peer: Peer,
        for uid: UInt32,
        _ logind: Logind
    ) async throws(DBusError) -> ObjectPath? {
        if let own = try await logind.session(ofProcess: peer.pid, for: peer.uid) {
            let session = try await load(own, for: peer.uid, logind)
            // Root asks for users also from outside their sessions, but never from afar.
            let isForOther = peer.uid == 0 && uid != 0 && session.uid != uid
            guard isForOther, !session.isRemote else { return own }
        }
        guard let display = await logind.display(ofUser: uid) else { return nil }
        _ = try await load(display, for: peer.uid, logind)
        return display
    }

    private func load(
        _ path: ObjectPath,
        for uid: UInt32,
        _ logind: Logind
    ) async throws(DBusError) -> LoginSession {
        if let session = sessions[path] { return session }
        guard let session = await logind.session(at: path, for: uid) else {
            throw DBusError(.failed, "The session can't be looked up.")
        }
        sessions[path] = session
        return session
    }

    private func lookAtLid() async {
        guard let lid = await logind?.lid() else { return }
        var new = surroundings
        new.isLidClosed = lid.isClosed
        new.isDocked = lid.isDocked
        if new != surroundings { surroundings = new }
    }

    // MARK: - News

    private func heard(_ news: Logind.News) {
        newsCount += 1
        switch news {
        case .present(let isPresent): presenceChanged(isPresent)
        case .changed(let path, let properties): changed(path, properties)
        case .locking(let path): interrupt(path, .locked)
        case .removed(let path, let id):
            interrupt(path, .left)
            sessions[path] = nil
            events.sessionEnded(id)
            rearranged()
            lookForLogouts()
        case .loggedOut(let uid):
            rearranged()
            events.happened(.loggedOut(uid: uid))
        case .rearranged: rearranged()
        case .sleeping(let isSleeping): sleepChanged(isSleeping)
        case .lidMoved: onLoop { await self.lookAtLid() }
        }
    }

    private func presenceChanged(_ isPresent: Bool) {
        for path in sessions.keys { interrupt(path, .left) }
        sessions = [:]
        callers = [:]
        if isPresent {
            presence = .present
            onLoop { await self.lookAtLid() }
            events.sessionEnded(nil)
            events.sessionsRearranged()
            lookForLogouts()
        } else {
            let isExpected = logind?.isSystems == true && SystemLogin.isRunning
            let wasThere = presence == .present || presence == .lost
            presence = isExpected || wasThere ? .lost : .absent
        }
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    private func rearranged() {
        callers = [:]
        events.sessionsRearranged()
    }

    /// Whoever gave a passcode and has no session any more has logged out, here or while nobody
    /// was told (R50).
    private func lookForLogouts() {
        for uid in events.usersWithPasscode {
            onLoop {
                if await self.logind?.hasSession(uid) == false {
                    self.events.happened(.loggedOut(uid: uid))
                }
            }
        }
    }

    private func changed(_ path: ObjectPath, _ properties: [String: Variant]) {
        guard let before = sessions[path] else { return }
        var session = before
        session.update(properties)
        take(session, at: path)
    }

    private func take(_ session: LoginSession, at path: ObjectPath) {
        guard let before = sessions.updateValue(session, forKey: path) else { return }
        if before.isInFront, !session.isInFront { interrupt(path, .left) }
        if !before.isLocked, session.isLocked { interrupt(path, .locked) }
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
            onLoop {
                await self.events.sensorsIdle()
                if self.surroundings.isSuspended { self.logind?.allowSleep() }
            }
        } else {
            surroundings.isSuspended = false
            events.happened(.resumed)
            events.wokeUp()
            onLoop { await self.logind?.delaySleep() }
        }
    }
}

/// What the service hears of sessions and sleep, and says about its own part in them.
@BusActor
protocol SessionEvents: AnyObject {
    /// Something happened that the engine has to know.
    func happened(_ event: Event)
    func surroundingsChanged(_ surroundings: Surroundings)
    /// A session ended; nil: those of the time without a login manager.
    func sessionEnded(_ session: String?)
    /// Sessions came or went: a process may be in another one than before.
    func sessionsRearranged()
    /// The session of a caller is known that was not known before.
    func callersChanged()
    /// The machine is awake again.
    func wokeUp()
    /// Returns once no sensor runs anything, so that the machine may sleep.
    func sensorsIdle() async
    /// Those who gave a passcode, and have not logged out since.
    var usersWithPasscode: [UInt32] { get }
}
