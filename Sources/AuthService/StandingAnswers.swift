import AuthEngine
import AuthStore
import DBus

/// Of which users what was asked still stands: nothing was told since that puts it in doubt (L11b).
@BusActor
final class StandingAnswers {
    /// Of so many users something is kept; the one who was asked about longest ago makes room.
    static let limit = 1024
    /// Behind an answer what stands is asked again, no more often than this.
    static let pause = Duration.seconds(1)

    private struct User {
        var askedAt: Instant
        var stands = false
        /// Whether the question under way was begun after the last doubt.
        var isAsking = false
    }

    private var users: [UInt32: User] = [:]
    private var waiting: [UInt32: [CheckedContinuation<Void, Never>]] = [:]
    private let forget: @BusActor (UInt32) -> Void

    /// `forget` is told of each user who makes room.
    init(forget: @escaping @BusActor (UInt32) -> Void) {
        self.forget = forget
    }

    func stands(of uid: UInt32) -> Bool { users[uid]?.stands == true }

    /// Whether it was asked a moment ago: what nobody answered then is not asked again yet.
    func isRecent(of uid: UInt32, at now: Instant) -> Bool {
        users[uid].map { now - $0.askedAt < Self.pause } ?? false
    }

    /// Whether it is to be asked behind an answer; then that counts as asked.
    func isDue(of uid: UInt32, at now: Instant) -> Bool {
        guard !isRecent(of: uid, at: now) else { return false }
        var user = users[uid] ?? User(askedAt: now)
        user.askedAt = now
        keep(user, uid)
        return true
    }

    // MARK: - Asking

    func begin(_ uid: UInt32) {
        keep(User(askedAt: Instant.now(), stands: stands(of: uid), isAsking: true), uid)
    }

    private func keep(_ user: User, _ uid: UInt32) {
        users[uid] = user
        guard users.count > Self.limit,
            let oldest = users.min(by: { $0.value.askedAt < $1.value.askedAt })?.key
        else { return }
        users[oldest] = nil
        forget(oldest)
    }

    /// The question was answered; what was told meanwhile may be younger than the answer.
    func end(_ uid: UInt32) {
        if users[uid]?.isAsking == true { users[uid]?.stands = true }
        users[uid]?.isAsking = false
        users[uid]?.askedAt = Instant.now()
        for waiter in waiting.removeValue(forKey: uid) ?? [] { waiter.resume() }
    }

    /// Waits for the question under way, unless something was told since it began.
    func join(_ uid: UInt32) async {
        guard users[uid]?.isAsking == true else { return }
        await withCheckedContinuation { waiting[uid, default: []].append($0) }
    }

    // MARK: - Doubt

    /// It was told that something of a user changed: an answer on its way may be from before that.
    func doubt(_ uid: UInt32) {
        users[uid]?.stands = false
        users[uid]?.isAsking = false
    }

    /// Who is asked is another, or what it is.
    func askAnew() {
        for uid in users.keys { users[uid]?.stands = false }
    }

    /// It was told that something may have changed for everybody.
    func doubtAll() {
        for uid in users.keys { doubt(uid) }
    }
}
