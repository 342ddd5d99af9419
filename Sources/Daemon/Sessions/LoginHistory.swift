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
    /// The last agent of each user that was believed.
    ///
    /// When the service is started again it is the same one, whoever came from elsewhere meanwhile.
    private var agents: [UInt32: Program] = [:]
    private let now: () -> UInt64

    /// A process, which no other one is that gets its number later.
    struct Program: Equatable {
        let pid: Int32
        /// In clock ticks since the boot.
        let start: UInt64
    }

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

    /// An agent that is a unit is believed.
    mutating func believed(_ agent: Program, of uid: UInt32) {
        makeRoom()
        agents[uid] = agent
    }

    /// Whether an agent has been believed before.
    func knows(_ agent: Program, of uid: UInt32) -> Bool { agents[uid] == agent }

    /// Whether it is known of each session that was heard of where it is.
    var isSettled: Bool { nameless.isEmpty && unknown.isEmpty }

    private mutating func makeRoom() {
        let known = nameless.count + elsewhere.count + agents.count
        let count = unknown.values.reduce(known) { $0 + $1.count }
        if count >= Self.limit { begin() }
    }

    /// The clock of the login manager's timestamps.
    static func monotonic() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}

extension LoginHistory {
    /// What is settled, as lines.
    var text: String {
        var lines = ["since \(beginning)"]
        lines += elsewhere.map { "elsewhere \($0) \($1)" }
        lines += agents.map { "agent \($0) \($1.pid) \($1.start)" }
        return lines.joined(separator: "\n")
    }

    /// What another process wrote down; nil: that isn't all of it.
    init?(text: String, now: @escaping () -> UInt64 = Self.monotonic) {
        self.init(now: now)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { UInt64($0) }
            switch (words.first, numbers.count) {
            case ("since", 1): beginning = numbers[0]
            case ("elsewhere", 2): elsewhere[UInt32(clamping: numbers[0])] = numbers[1]
            case ("agent", 3):
                agents[UInt32(clamping: numbers[0])] = Program(
                    pid: Int32(clamping: numbers[1]),
                    start: numbers[2]
                )
            default: return nil
            }
            guard elsewhere.count + agents.count <= Self.limit else { return nil }
        }
    }
}
