/// Connections that have calls to be served, or are to be sent something, in an order that is fair
/// to users: next is one of the user who was given least.
///
/// However many connections and calls a user has, another one waits for one answer of each user.
@BusActor
struct Turns {
    /// Those of whom connections wait.
    private var users: [UserAllowance] = []
    /// What the user who was last to be next had been given.
    private var level = 0
    /// How far ahead of the others a user counts at most, who was given more.
    private static let mostAhead = 64 * 1024

    var isEmpty: Bool { users.isEmpty }

    /// Has a connection wait, once; one whose user isn't known does not.
    mutating func add(_ receiver: Receiver) {
        guard let user = receiver.user, !receiver.isWaiting else { return }
        receiver.isWaiting = true
        if user.waiting.isEmpty {
            // Nobody saves up for later, nor pays for long.
            user.given = min(max(user.given, level), level + Self.mostAhead)
            users.append(user)
        }
        user.waiting.append(receiver)
    }

    /// The connection whose turn it is; it doesn't wait any more.
    mutating func next() -> Receiver? {
        guard !users.isEmpty else { return nil }
        var first = 0
        for index in 1..<users.count where users[index].given < users[first].given {
            first = index
        }
        let user = users[first]
        level = user.given
        let receiver = user.waiting.removeFirst()
        receiver.isWaiting = false
        if user.waiting.isEmpty { users.remove(at: first) }
        return receiver
    }
}
