package import DBus

/// A share of the calls that a connection may have unanswered.
package struct CallLane: Hashable, Sendable {
    package let name: String
    /// The most calls of the lane that may be unanswered at a time.
    package let capacity: Int
    /// The most of these calls that one user may have unanswered.
    package let perUser: Int
    /// The most calls of one user that may wait for a place.
    package let waiting: Int

    /// Creates a lane.
    ///
    /// Without `waiting`, a call that finds no place is refused.
    package init(_ name: String, capacity: Int, perUser: Int, waiting: Int = 0) {
        self.name = name
        self.capacity = capacity
        self.perUser = perUser
        self.waiting = waiting
    }
}

/// Keeps a connection's unanswered calls below the bus's limit, and shares them out fairly.
///
/// dbus-daemon refuses the 129th unanswered call of a connection, for whichever user it is made.
/// Each call therefore belongs to a lane with places of its own. Within a lane, waiting users take
/// turns.
@BusActor
package final class CallBudget {
    /// dbus-daemon's default `max_replies_per_connection`, also on the system bus.
    package nonisolated static let busLimit = 128
    /// The number that stands for the service itself.
    ///
    /// No user has this uid.
    package nonisolated static let service = UInt32.max

    private struct Lane {
        var total = 0
        var running: [UInt32: Int] = [:]
        var waiting: [UInt32: [UnsafeContinuation<Void, Never>]] = [:]
        /// The users with waiting calls, in the order of their turns.
        var turns: [UInt32] = []
    }

    private var lanes: [CallLane: Lane] = [:]

    package init() {}

    /// Runs `body` once a place is free, and holds the place until the body ends.
    ///
    /// The body must have at most a single unanswered call at a time.
    ///
    /// - Throws: `LimitsExceeded` when too many calls wait for this user; `NoReply` when the task
    ///   was canceled while it waited; any error of the body.
    package func run<Value: Sendable>(
        _ lane: CallLane,
        for user: UInt32,
        _ body: () async throws(DBusError) -> Value
    ) async throws(DBusError) -> Value {
        try await wait(lane, for: user)
        defer { end(lane, for: user) }
        return try await body()
    }

    /// Takes a place, and returns false if none is free.
    ///
    /// The caller must give it back with `end`.
    package func begin(_ lane: CallLane, for user: UInt32) -> Bool {
        let state = lanes[lane] ?? Lane()
        guard state.total < lane.capacity, state.running[user, default: 0] < lane.perUser,
            state.waiting[user] == nil
        else { return false }
        take(lane, user)
        return true
    }

    /// Gives a place back, and passes it to the next waiting user.
    package func end(_ lane: CallLane, for user: UInt32) {
        guard var state = lanes[lane], let count = state.running[user] else { return }
        state.running[user] = count > 1 ? count - 1 : nil
        state.total -= 1
        guard
            let index = state.turns.firstIndex(where: {
                state.running[$0, default: 0] < lane.perUser
            })
        else {
            lanes[lane] = state.total > 0 ? state : nil
            return
        }
        let next = state.turns.remove(at: index)
        let continuation = state.waiting[next]?.removeFirst()
        if state.waiting[next]?.isEmpty == false {
            state.turns.append(next)
        } else {
            state.waiting[next] = nil
        }
        lanes[lane] = state
        take(lane, next)
        continuation?.resume()
    }

    /// Returns how many calls have a place, and how many wait.
    package func load(_ lane: CallLane) -> (running: Int, waiting: Int) {
        let state = lanes[lane] ?? Lane()
        return (state.total, state.waiting.values.reduce(0) { $0 + $1.count })
    }

    /// Waits for a place.
    ///
    /// The caller must give it back with `end`.
    ///
    /// - Throws: As ``run(_:for:_:)``.
    package func wait(_ lane: CallLane, for user: UInt32) async throws(DBusError) {
        if begin(lane, for: user) { return }
        guard lanes[lane]?.waiting[user, default: []].count ?? 0 < lane.waiting else {
            throw DBusError(.limitsExceeded, "Too many questions wait for this user.")
        }
        await withUnsafeContinuation { continuation in
            if lanes[lane, default: Lane()].waiting[user] == nil {
                lanes[lane, default: Lane()].turns.append(user)
            }
            lanes[lane, default: Lane()].waiting[user, default: []].append(continuation)
        }
        guard Task.isCancelled else { return }
        end(lane, for: user)
        throw DBusError(.noReply, "The call was canceled.")
    }

    private func take(_ lane: CallLane, _ user: UInt32) {
        lanes[lane, default: Lane()].running[user, default: 0] += 1
        lanes[lane, default: Lane()].total += 1
    }
}
