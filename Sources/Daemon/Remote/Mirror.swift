import AuthEngine
import AuthStore
import DBus

/// Answers of another process, by user or by name, each with its freshness (L11b).
///
/// A signal that something changed makes an answer stale. Signals can be lost: so an answer is
/// refreshed behind its use, at most once a second, and revalidated before a decision. Callers
/// share a question about a key, and never get an answer that is older than their call.
@BusActor
final class Mirror<Key: Hashable & Sendable, Value: Sendable> {
    /// The most keys with an answer; the key that was asked about longest ago makes room.
    private static var limit: Int { 1024 }
    /// The shortest time between two questions in the background.
    private static var pause: Duration { .seconds(1) }

    private struct Entry {
        var value: Value?
        var askedAt: Instant
        var isFresh = false
        /// Whether a question is under way that no change came after.
        var isAsking = false
    }

    private var entries: [Key: Entry] = [:]
    private var waiting: [Key: [CheckedContinuation<Void, Never>]] = [:]
    /// The keys of changes whose question has not begun.
    private var noted: Set<Key> = []
    private let lookUps = SharedLookUps<Key, Value?>()
    private let ask: @BusActor (Key) async -> Value?
    private let dropped: @BusActor (Key) -> Void

    /// Makes a mirror without answers.
    ///
    /// - Parameters:
    ///   - dropped: Called for each key that makes room.
    ///   - ask: Asks the other process; nil: the sensor does not answer.
    init(
        dropped: @escaping @BusActor (Key) -> Void = { _ in },
        ask: @escaping @BusActor (Key) async -> Value?
    ) {
        self.ask = ask
        self.dropped = dropped
    }

    // MARK: Cached answers

    /// Returns the last answer, fresh or stale.
    func last(_ key: Key) -> Value? { entries[key]?.value }

    /// Whether no signal since the last question has made its answer stale.
    func isFresh(_ key: Key) -> Bool { entries[key]?.isFresh == true }

    /// Returns the last answer if it is fresh.
    func cached(_ key: Key) -> Value? { isFresh(key) ? last(key) : nil }

    /// Whether a fresh or stale answer fulfils a condition.
    func contains(where isMatch: (Key, Value) -> Bool) -> Bool {
        entries.contains { key, entry in entry.value.map { isMatch(key, $0) } ?? false }
    }

    /// Whether the last question was a moment ago: an unanswered question is not repeated yet.
    func isRecent(_ key: Key, at now: Instant) -> Bool {
        entries[key].map { now - $0.askedAt < Self.pause } ?? false
    }

    // MARK: Asking

    /// Asks anew, even if an answer is cached.
    @discardableResult func revalidate(_ key: Key) async -> Value? {
        await lookUps.share(key) { await self.question(key) }
    }

    /// Waits for a question under way, if no change came since it was sent.
    func join(_ key: Key) async {
        guard entries[key]?.isAsking == true else { return }
        await withCheckedContinuation { waiting[key, default: []].append($0) }
    }

    /// Refreshes an answer behind its use, unless that was done a moment ago.
    func refreshInBackground(_ key: Key, at now: Instant) {
        guard !isRecent(key, at: now) else { return }
        keep(key) { $0.askedAt = now }
        onLoop { _ = await self.revalidate(key) }
    }

    private func question(_ key: Key) async -> Value? {
        noted.remove(key)
        keep(key) { entry in
            entry.askedAt = Instant.now()
            entry.isAsking = true
        }
        let value = await ask(key)
        if let value {
            entries[key]?.value = value
            // A change that came meanwhile may be younger than the answer.
            if entries[key]?.isAsking == true { entries[key]?.isFresh = true }
        } else if !isFresh(key) {
            entries[key]?.value = nil
        }
        entries[key]?.isAsking = false
        entries[key]?.askedAt = Instant.now()
        for waiter in waiting.removeValue(forKey: key) ?? [] { waiter.resume() }
        return value
    }

    private func keep(_ key: Key, _ change: (inout Entry) -> Void) {
        change(&entries[key, default: Entry(askedAt: Instant(nanoseconds: 0))])
        guard entries.count > Self.limit,
            let oldest = entries.min(by: { $0.value.askedAt < $1.value.askedAt })?.key
        else { return }
        entries[oldest] = nil
        dropped(oldest)
    }

    // MARK: Changes

    /// Changes the last answer, fresh or stale.
    func change(_ key: Key, _ change: (inout Value) -> Void) {
        guard var value = entries[key]?.value else { return }
        change(&value)
        entries[key]?.value = value
    }

    /// Makes an answer stale, and asks anew in the background; changes until then share that.
    func changed(_ key: Key) {
        markStale(key)
        guard noted.insert(key).inserted else { return }
        onLoop { _ = await self.revalidate(key) }
    }

    /// Makes an answer stale, and a question under way with it.
    func markStale(_ key: Key) {
        entries[key]?.isFresh = false
        entries[key]?.isAsking = false
    }

    /// Makes all answers stale, and questions under way with them.
    func markAllStale() {
        for key in entries.keys { markStale(key) }
    }

    /// Makes all answers stale: another process may answer from now on.
    func sourceChanged() {
        for key in entries.keys { entries[key]?.isFresh = false }
    }

    /// Forgets an answer.
    func forget(_ key: Key) {
        entries[key]?.value = nil
        entries[key]?.isFresh = false
    }

    /// Forgets all answers.
    func removeAll() {
        for key in entries.keys { forget(key) }
    }
}
