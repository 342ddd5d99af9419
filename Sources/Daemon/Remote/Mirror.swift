import AuthEngine
import AuthStore
import DBus

/// A cache of another process's answers, each with its freshness (L11b).
///
/// A signal about a change makes an answer stale. Because signals can be lost, answers are also
/// refreshed in the background, at most once a second, and revalidated before a decision. Callers
/// share a query about a key, and never get an answer that is older than their call.
@BusActor
final class Mirror<Key: Hashable & Sendable, Value: Sendable> {
    /// The most keys with an answer; the key with the oldest query is evicted.
    private static var limit: Int { 1024 }
    /// The shortest time between two background queries of a key.
    private static var pause: Duration { .seconds(1) }

    private struct Entry {
        var value: Value?
        var askedAt: Instant
        var isFresh = false
        /// Whether a query is running, and no change was announced since it began.
        var isAsking = false
    }

    private var entries: [Key: Entry] = [:]
    private var waiting: [Key: [CheckedContinuation<Void, Never>]] = [:]
    /// Keys with an announced change and a scheduled query that has not begun.
    private var noted: Set<Key> = []
    private let lookUps = SharedLookUps<Key, Value?>()
    private let ask: @BusActor (Key) async -> Value?
    private let dropped: @BusActor (Key) -> Void

    /// Creates an empty mirror.
    ///
    /// - Parameters:
    ///   - dropped: called for each evicted key.
    ///   - ask: queries the other process; nil means no answer.
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

    /// Whether the answer is newer than all announced changes.
    func isFresh(_ key: Key) -> Bool { entries[key]?.isFresh == true }

    func cached(_ key: Key) -> Value? { isFresh(key) ? last(key) : nil }

    /// Whether any answer, fresh or stale, fulfils a condition.
    func contains(where isMatch: (Key, Value) -> Bool) -> Bool {
        entries.contains { key, entry in entry.value.map { isMatch(key, $0) } ?? false }
    }

    /// Whether the last query was less than a second ago, so that even a failed query is not
    /// repeated yet.
    func isRecent(_ key: Key, at now: Instant) -> Bool {
        entries[key].map { now - $0.askedAt < Self.pause } ?? false
    }

    // MARK: Queries

    /// Queries the other process, even if an answer is cached.
    @discardableResult func revalidate(_ key: Key) async -> Value? {
        await lookUps.share(key) { await self.question(key) }
    }

    /// Waits for a running query, unless a change was announced since it began.
    func join(_ key: Key) async {
        guard entries[key]?.isAsking == true else { return }
        await withCheckedContinuation { waiting[key, default: []].append($0) }
    }

    /// Refreshes an answer in the background, unless the last query is recent.
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
            // The answer may predate a change that was announced during the query.
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

    func change(_ key: Key, _ change: (inout Value) -> Void) {
        guard var value = entries[key]?.value else { return }
        change(&value)
        entries[key]?.value = value
    }

    /// Marks an answer as stale and queries again in the background; changes until then share that
    /// query.
    func changed(_ key: Key) {
        markStale(key)
        guard noted.insert(key).inserted else { return }
        onLoop { _ = await self.revalidate(key) }
    }

    /// Marks an answer as stale, including the answer of a running query.
    func markStale(_ key: Key) {
        entries[key]?.isFresh = false
        entries[key]?.isAsking = false
    }

    /// Marks all answers as stale, including answers of running queries.
    func markAllStale() {
        for key in entries.keys { markStale(key) }
    }

    /// Marks all cached answers as stale, because another process may answer from here on.
    func sourceChanged() {
        for key in entries.keys { entries[key]?.isFresh = false }
    }

    func forget(_ key: Key) {
        entries[key]?.value = nil
        entries[key]?.isFresh = false
    }

    func removeAll() {
        for key in entries.keys { forget(key) }
    }
}
