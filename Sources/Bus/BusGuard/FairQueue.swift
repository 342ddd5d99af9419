import DBus

/// Connections with waiting calls.
///
/// The user with the smallest charge comes next.
///
/// However many connections and calls others have, a user waits for a single call of each other
/// user.
@BusActor
struct FairQueue {
    private var users: [UserShare] = []
    /// Bytes charged so far to the user served last.
    private var level = 0
    /// The most bytes that a user counts as ahead of the others.
    private static let mostAhead = 64 * 1024

    var isEmpty: Bool { users.isEmpty }

    /// Queues a connection, unless it is queued or its user is unknown.
    mutating func add(_ caller: Caller) {
        guard let user = caller.user, !caller.isQueued else { return }
        caller.isQueued = true
        if user.waiting.isEmpty {
            // Clamp idle and over-served users to the current level.
            user.charged = min(max(user.charged, level), level + Self.mostAhead)
            users.append(user)
        }
        user.waiting.append(caller)
    }

    /// Removes the next connection from the queue.
    mutating func next() -> Caller? {
        guard !users.isEmpty else { return nil }
        var first = 0
        for index in 1..<users.count where users[index].charged < users[first].charged {
            first = index
        }
        let user = users[first]
        level = user.charged
        let caller = user.waiting.removeFirst()
        caller.isQueued = false
        if user.waiting.isEmpty { users.remove(at: first) }
        return caller
    }
}
