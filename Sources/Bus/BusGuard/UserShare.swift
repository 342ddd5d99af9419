import DBus

/// The calls and messages that the service holds for all connections of a user.
///
/// A user may open as many connections as the bus allows, so a bound for each is not enough.
@BusActor
final class UserShare {
    /// Connections with calls that wait for their turn, in the order of their turns.
    var waiting: [Caller] = []
    /// Bytes of calls that wait.
    var held = 0
    /// Bytes that were sent to the user and may be unread.
    var unread = 0
    /// Bytes charged so far, by the level that ``FairQueue`` keeps.
    var charged = 0
}

/// A call that waits for its turn.
struct HeldCall {
    let message: Message
    let peer: Peer
    /// The bytes that it counts for.
    let bytes: Int
    /// Whether its turn brings a refusal.
    var isRefused = false
}

/// A connection that calls the service.
@BusActor
final class Caller {
    let name: String
    /// Nil until the bus has said which user it is.
    var user: UserShare?
    /// Calls that wait for their turn.
    private(set) var backlog: [HeldCall] = []
    /// Bytes that were sent to it and may be unread.
    private(set) var unread = 0
    /// Whether the bus is being asked how much of them it still has.
    var isAsked = false
    /// Runs while the bus is not to be asked again.
    var pause: EventSource?
    /// Answers in a row by which it does not read.
    var refusals = 0
    var isQueued = false
    /// Methods served before all waiting calls, with the number of parts of the service that ask.
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
