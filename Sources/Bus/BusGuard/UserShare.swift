import DBus

/// The calls and messages that the service holds for all connections of a user.
@BusActor
final class UserShare {
    /// Connections with waiting calls, in the order of their turns.
    var waiting: [Caller] = []
    /// Bytes of waiting calls.
    var held = 0
    /// Bytes sent to the user that may be unread.
    var unread = 0
    /// Bytes charged so far, on the scale of ``FairQueue``.
    var charged = 0
}

/// A call that waits to be served.
struct HeldCall {
    let message: Message
    let peer: Peer
    /// Bytes charged for the call.
    let bytes: Int
    /// Whether the call is refused when it is served.
    var isRefused = false
}

/// A connection that calls the service.
@BusActor
final class Caller {
    let name: String
    /// The caller's user; nil until the bus has identified the caller.
    var user: UserShare?
    /// Calls that wait to be served.
    private(set) var backlog: [HeldCall] = []
    /// Bytes sent to the caller that may be unread.
    private(set) var unread = 0
    /// Whether a query to the bus about unread bytes is pending.
    var hasPendingQuery = false
    /// Runs until the guard may ask the bus again.
    var pause: EventSource?
    /// Delayed queries in a row; each doubles the delay of the next.
    var delayedQueries = 0
    var isQueued = false
    /// Methods served before all waiting calls, each with the number of its active sources.
    var first: [String: Int] = [:]

    init(_ name: String) { self.name = name }

    func hold(_ call: HeldCall) {
        backlog.append(call)
        user?.held += call.bytes
    }

    func takeNext() -> HeldCall? {
        guard !backlog.isEmpty else { return nil }
        let call = backlog.removeFirst()
        user?.held -= call.bytes
        return call
    }

    /// Adds sent bytes, or subtracts read bytes.
    func addUnread(_ bytes: Int) {
        unread += bytes
        user?.unread += bytes
    }

    func identify(as user: UserShare) {
        self.user = user
        user.unread += unread
    }
}
