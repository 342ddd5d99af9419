import DBus
import Glibc

/// Tracks which users have been only at this machine ever since they logged in (L2).
///
/// A user's systemd units outlive the session that started them. After an SSH session has ended, a
/// unit that it started looks like a unit of the desktop. Therefore the user's current sessions are
/// no sufficient proof.
struct LoginHistory {
    /// Since when the history is complete, in microseconds of CLOCK_MONOTONIC.
    private var beginning = UInt64.max
    /// The last time that each user had a session away from this machine.
    private var elsewhere: [UInt32: UInt64] = [:]
    /// New sessions whose user is unknown so far.
    private var nameless: Set<ObjectPath> = []
    /// New sessions of each user that have not been looked up.
    private var unknown: [UInt32: Set<ObjectPath>] = [:]
    /// Each user's last trusted agent.
    ///
    /// After a restart of the service the agent stays trusted, even if the user had remote sessions
    /// meanwhile.
    private var agents: [UInt32: Program] = [:]
    private let now: () -> UInt64

    /// A process, identified so that a reused pid does not match.
    struct Program: Equatable {
        let pid: Int32
        /// In clock ticks since boot.
        let start: UInt64
    }

    /// The most users and sessions; more start a new history.
    static let limit = 1024

    init(now: @escaping () -> UInt64 = Self.monotonic) { self.now = now }

    /// Starts a new history, in which earlier sessions are unknown.
    mutating func begin() {
        self = Self(now: now)
        beginning = now()
    }

    /// Records a new session, whose user the next change of a user tells.
    mutating func addSession(_ session: ObjectPath) {
        makeRoom()
        nameless.insert(session)
    }

    /// Assigns the new sessions to a user.
    ///
    /// - Returns: The sessions to look up. Call `recordPlace` for each.
    mutating func assignSessions(to uid: UInt32) -> Set<ObjectPath> {
        defer { nameless = [] }
        if !nameless.isEmpty { unknown[uid, default: []].formUnion(nameless) }
        return nameless
    }

    /// Records where a session is; a session that has ended already may have been anywhere.
    mutating func recordPlace(_ session: ObjectPath, of uid: UInt32, isAtMachine: Bool) {
        guard unknown[uid]?.remove(session) != nil else { return }
        if unknown[uid]?.isEmpty == true { unknown[uid] = nil }
        if !isAtMachine { elsewhere[uid] = now() }
    }

    /// Whether a user who has been logged in since `login` has had sessions only at this machine.
    func isAtMachine(_ uid: UInt32, since login: UInt64) -> Bool {
        guard beginning < login, nameless.isEmpty, unknown[uid] == nil else { return false }
        return elsewhere[uid].map { $0 < login } ?? true
    }

    /// Records that an agent in a unit was trusted.
    mutating func believed(_ agent: Program, of uid: UInt32) {
        makeRoom()
        agents[uid] = agent
    }

    /// Whether this agent was trusted before.
    func knows(_ agent: Program, of uid: UInt32) -> Bool { agents[uid] == agent }

    /// Whether all known sessions have been looked up.
    var isSettled: Bool { nameless.isEmpty && unknown.isEmpty }

    private mutating func makeRoom() {
        let known = nameless.count + elsewhere.count + agents.count
        let count = unknown.values.reduce(known) { $0 + $1.count }
        if count >= Self.limit { begin() }
    }

    /// Returns the time of the clock that the login manager uses for timestamps.
    static func monotonic() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}

extension LoginHistory {
    /// The settled facts as lines of text.
    var text: String {
        var lines = ["since \(beginning)"]
        lines += elsewhere.map { "elsewhere \($0) \($1)" }
        lines += agents.map { "agent \($0) \($1.pid) \($1.start)" }
        return lines.joined(separator: "\n")
    }

    /// Reads the text of another process; nil if it is incomplete.
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
