import AuthEngine

/// Limits how many records of a kind and user the trail writes individually, and counts the rest.
///
/// A window begins with its first record. At its end, one summary reports the records held back.
struct AuditLimit: Hashable, Sendable {
    struct Key: Hashable, Sendable {
        let kind: AuditKind
        /// Nil if the record concerns no user, or if more than `most` users have windows.
        let uid: UInt32?
    }

    /// The number of records that were held back in a window.
    struct Summary: Hashable, Sendable {
        let key: Key
        let count: Int
    }

    private struct Window: Hashable, Sendable {
        let end: Instant
        var count: Int
    }

    private let burst: Int
    private let window: Duration
    private let most: Int
    private var windows: [Key: Window] = [:]

    /// - Parameters:
    ///   - burst: how many records a window admits.
    ///   - window: the length of a window.
    ///   - most: how many windows exist before further users share a window for each kind.
    init(burst: Int = 10, window: Duration = .seconds(30), most: Int = 4096) {
        self.burst = burst
        self.window = window
        self.most = most
    }

    /// Returns whether to write this record.
    ///
    /// A record that is not admitted counts towards the summary.
    ///
    /// Call `due(at:)` first, because expired windows would count the record.
    mutating func admits(_ kind: AuditKind, uid: UInt32?, at now: Instant) -> Bool {
        var key = Key(kind: kind, uid: uid)
        if windows[key] == nil, windows.count >= most { key = Key(kind: kind, uid: nil) }
        windows[key, default: Window(end: now + window, count: 0)].count += 1
        return (windows[key]?.count ?? 0) <= burst
    }

    /// Ends expired windows and returns the summaries of records held back.
    mutating func due(at now: Instant) -> [Summary] {
        take { $0.end <= now }
    }

    /// Ends all windows, for shutdown.
    mutating func rest() -> [Summary] {
        take { _ in true }
    }

    var nextEnd: Instant? { windows.values.map(\.end).min() }

    private mutating func take(where isOver: (Window) -> Bool) -> [Summary] {
        let over = windows.filter { isOver($0.value) }
        for key in over.keys { windows[key] = nil }
        return over.filter { $0.value.count > burst }
            .map { Summary(key: $0.key, count: $0.value.count - burst) }
            .sorted {
                ($0.key.kind.rawValue, $0.key.uid ?? 0) < ($1.key.kind.rawValue, $1.key.uid ?? 0)
            }
    }
}
