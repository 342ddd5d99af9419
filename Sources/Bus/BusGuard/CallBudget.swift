package import DBus

/// A share of the calls that a connection may have unanswered.
package struct CallLane: Hashable, Sendable {
    package let name: String
    /// How many of its calls may be unanswered at the same time.
    package let capacity: Int
    /// Of these, those made for one user.
    package let perUser: Int
    /// How many calls for one user may wait for their turn; one more is refused.
    package let waiting: Int

    /// A lane; without `waiting` whatever finds no place is refused.
    package init(_ name: String, capacity: Int, perUser: Int, waiting: Int = 0) {
        self.name = name
        self.capacity = capacity
        self.perUser = perUser
        self.waiting = waiting
    }
}

/// Keeps a connection's unanswered calls below what its bus allows, and shares them out fairly.
///
/// dbus-daemon refuses the 129th unanswered call of a connection, whoever it is made for. So each
/// call has a lane, lanes don't take places from each other, and in a lane the users that wait take
/// turns.
@BusActor
package final class CallBudget {
    /// What dbus-daemon allows by default, also on the system bus: `max_replies_per_connection`.
    package nonisolated static let busLimit = 128
    /// Stands for the service itself, which is no caller: no user has this number.
    package nonisolated static let service = UInt32.max

    private struct Lane {
        var total = 0
        var running: [UInt32: Int] = [:]
        var waiting: [UInt32: [UnsafeContinuation<Void, Never>]] = [:]
        /// The users that wait, in the order of their turns.
        var turns: [UInt32] = []
    }

    private var lanes: [CallLane: Lane] = [:]

    /// No call has a place yet.
    package init() {}

    /// Makes one call after the other in `body`, for a user, once it has a place.
    ///
    /// - Throws: `LimitsExceeded` when too many calls wait for this user; `NoReply` when the task
    ///   was canceled meanwhile; what the body throws.
    package func run<Value: Sendable>(
        _ lane: CallLane,
        for user: UInt32,
        _ body: () async throws(DBusError) -> Value
    ) async throws(DBusError) -> Value {
        try await wait(lane, for: user)
        defer { end(lane, for: user) }
        return try await body()
    }

    /// Takes a place, which `end` gives back; false: there is none now.
    package func begin(_ lane: CallLane, for user: UInt32) -> Bool {
        let state = lanes[lane] ?? Lane()
        guard state.total < lane.capacity, state.running[user, default: 0] < lane.perUser,
            state.waiting[user] == nil
        else { return false }
        take(lane, user)
        return true
    }

    /// Gives a place back: to whoever has waited for it, one of each user at a time.
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

    /// How many calls have a place, and how many wait for one.
    package func load(_ lane: CallLane) -> (running: Int, waiting: Int) {
        let state = lanes[lane] ?? Lane()
        return (state.total, state.waiting.values.reduce(0) { $0 + $1.count })
    }

    /// Takes a place when there is one, which `end` gives back.
    ///
    /// - Throws: as ``run(_:for:_:)``.
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
