import DBus
import Glibc

/// Which users have sat at this machine, and nowhere else, ever since they logged in (L2).
///
/// What systemd runs for a user outlives the session that had it started: a unit begun over SSH
/// looks like one of the desktop's as soon as that session is gone. So it isn't enough to know
/// where a user is now.
struct LoginHistory {
    /// Since when every new session has been heard of, in microseconds of CLOCK_MONOTONIC.
    private var beginning = UInt64.max
    /// When a session that was not at this machine was last heard of.
    private var elsewhere: [UInt32: UInt64] = [:]
    /// New sessions whose user isn't known yet.
    private var nameless: Set<ObjectPath> = []
    /// New sessions of a user that aren't known to be at this machine.
    private var unknown: [UInt32: Set<ObjectPath>] = [:]
    private let now: () -> UInt64

    /// How many users and sessions are kept; more begin a new history.
    static let limit = 1024

    init(now: @escaping () -> UInt64 = Self.monotonic) { self.now = now }

    /// Whatever comes from now on is heard; what was before isn't known.
    mutating func begin() {
        self = Self(now: now)
        beginning = now()
    }

    /// A session has come whose user the next word of a user names.
    mutating func appeared(_ session: ObjectPath) {
        makeRoom()
        nameless.insert(session)
    }

    /// The user of the sessions that have come.
    ///
    /// - Returns: The sessions to look at; each is `found` then.
    mutating func belong(to uid: UInt32) -> Set<ObjectPath> {
        defer { nameless = [] }
        if !nameless.isEmpty { unknown[uid, default: []].formUnion(nameless) }
        return nameless
    }

    /// Where a session is; one that is gone already may have been anywhere.
    mutating func found(_ session: ObjectPath, of uid: UInt32, isAtMachine: Bool) {
        guard unknown[uid]?.remove(session) != nil else { return }
        if unknown[uid]?.isEmpty == true { unknown[uid] = nil }
        if !isAtMachine { elsewhere[uid] = now() }
    }

    /// Whether a user who has been logged in since then has had no session but at this machine.
    func isAtMachine(_ uid: UInt32, since login: UInt64) -> Bool {
        guard beginning < login, nameless.isEmpty, unknown[uid] == nil else { return false }
        return elsewhere[uid].map { $0 < login } ?? true
    }

    private mutating func makeRoom() {
        let count = unknown.values.reduce(nameless.count + elsewhere.count) { $0 + $1.count }
        if count >= Self.limit { begin() }
    }

    /// The clock of the login manager's timestamps.
    static func monotonic() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}
