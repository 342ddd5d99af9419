import AuthEngine

/// How many records of one kind and user are written one by one; the others are counted.
///
/// A window begins with its first record. What was held back in it becomes one summary when it
/// ends.
struct AuditLimit: Hashable, Sendable {
    struct Key: Hashable, Sendable {
        let kind: AuditKind
        /// Nil: about no user, or about one of too many.
        let uid: UInt32?
    }

    /// What was not written one by one.
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
    ///   - burst: records that are written in one window.
    ///   - window: how long a window lasts.
    ///   - most: windows of their own that users have; beyond it they share one for each kind.
    init(burst: Int = 10, window: Duration = .seconds(30), most: Int = 4096) {
        self.burst = burst
        self.window = window
        self.most = most
    }

    /// Whether this one is written now; if not, it is counted.
    ///
    /// What is due by then has to be taken first.
    mutating func admits(_ kind: AuditKind, uid: UInt32?, at now: Instant) -> Bool {
        var key = Key(kind: kind, uid: uid)
        if windows[key] == nil, windows.count >= most { key = Key(kind: kind, uid: nil) }
        windows[key, default: Window(end: now + window, count: 0)].count += 1
        return (windows[key]?.count ?? 0) <= burst
    }

    /// Ends the windows that are over, and says what was held back in them.
    mutating func due(at now: Instant) -> [Summary] {
        take { $0.end <= now }
    }

    /// Ends all windows: there will be no later.
    mutating func rest() -> [Summary] {
        take { _ in true }
    }

    /// When the first window ends; nil: there is none.
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
