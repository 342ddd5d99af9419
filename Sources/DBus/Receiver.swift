/// Bytes and descriptors of messages.
struct Amount: Equatable {
    var bytes = 0
    var descriptors = 0

    static func += (left: inout Amount, right: Amount) {
        left.bytes += right.bytes
        left.descriptors += right.descriptors
    }

    static func -= (left: inout Amount, right: Amount) {
        left.bytes -= right.bytes
        left.descriptors -= right.descriptors
    }

    /// The smaller of each.
    static func min(_ left: Amount, _ right: Amount) -> Amount {
        Amount(
            bytes: Swift.min(left.bytes, right.bytes),
            descriptors: Swift.min(left.descriptors, right.descriptors)
        )
    }

    static func + (left: Amount, right: Amount) -> Amount {
        var sum = left
        sum += right
        return sum
    }

    static func - (left: Amount, right: Amount) -> Amount {
        var difference = left
        difference -= right
        return difference
    }
}

/// What receivers may leave on the bus.
///
/// dbus-daemon keeps what a receiver doesn't read, charges it to the sender, and stops reading from
/// a sender at 127 MiB or 64 descriptors: then nobody is answered any more.
enum UnreadLimits {
    /// From here on the bus is asked how much it still has.
    static let asked = Amount(bytes: 256 * 1024, descriptors: 1)
    /// From here on calls of a connection wait.
    ///
    /// More than the 128 answers that a bus lets a connection wait for, unless they are large.
    static let connection = Amount(bytes: 2 * 1024 * 1024, descriptors: 12)
    /// From here on calls of a user wait, at first not those of connections that have taken
    /// everything.
    static let user = Amount(bytes: 8 * 1024 * 1024, descriptors: 12)
    /// From here on calls of all users wait, but for those who have left less than ``little``.
    ///
    /// A few users are enough to reach ``most``; then nobody would be answered.
    static let allBytes = 64 * 1024 * 1024
    /// So much is left to each user then.
    static let little = 32 * 1024
    /// From here on nothing is sent: one more message of the largest size, and the bus stops.
    static let most = Amount(bytes: 108 * 1024 * 1024, descriptors: 56)
    /// Up to here an answer is sent below ``most``, whatever its receiver has left: the call had
    /// credit, and without an answer its caller waits for ever.
    static let answer = 1024
}

/// Somebody on the bus to whom messages are sent.
@BusActor
final class Receiver {
    /// A bus name.
    let name: String
    /// Nil while it isn't known.
    var user: UserAllowance? {
        didSet { user?.unread += unread }
    }
    /// What was sent since it was last known to have taken everything.
    private(set) var unread = Amount()
    /// How much that was when the bus was asked; nil: it isn't being asked.
    var asked: Amount?
    /// Runs while the bus isn't to be asked again.
    var delay: EventSource?
    /// How often in a row the bus said that it doesn't read.
    var refusals = 0
    /// Its calls that wait for their turn, or until it reads.
    private(set) var held: [Message] = []
    /// What waits to be sent to it.
    private var outgoing: [(message: Message, amount: Amount)] = []
    private var outgoingAmount = Amount()
    /// Whether it waits for its turn; see ``Turns``.
    var isWaiting = false

    init(_ name: String) {
        self.name = name
    }

    func add(_ amount: Amount) {
        unread += amount
        user?.unread += amount
    }

    func remove(_ amount: Amount) {
        unread -= amount
        user?.unread -= amount
    }

    /// Whether a call of it is served, of all that are served.
    func hasCredit(beside all: Amount) -> Bool {
        let ofUser = user?.unread.bytes ?? 0
        guard all.bytes < UnreadLimits.allBytes else {
            return all.bytes < UnreadLimits.most.bytes && ofUser < UnreadLimits.little
        }
        if unread.bytes == 0 { return ofUser < UnreadLimits.user.bytes * 3 / 2 }
        return unread.bytes < UnreadLimits.connection.bytes && ofUser < UnreadLimits.user.bytes
    }

    /// Whether so much more may be sent to it, beside all that was sent and all that is to be.
    ///
    /// Wider than ``hasCredit(beside:)``: calls that are being answered have had credit.
    func mayGet(_ amount: Amount, beside all: Amount, asAnswer isAnswer: Bool = false) -> Bool {
        if isAnswer, amount.bytes <= UnreadLimits.answer, amount.descriptors == 0 {
            return all.bytes < UnreadLimits.most.bytes
        }
        let own = unread + outgoingAmount
        var user = Amount()
        if let own = self.user { user = own.unread + own.outgoing }
        guard all.bytes < UnreadLimits.most.bytes,
            own.bytes < 2 * UnreadLimits.connection.bytes,
            user.bytes == 0 || user.bytes + amount.bytes <= 3 * UnreadLimits.user.bytes,
            all.bytes + amount.bytes < UnreadLimits.allBytes
                || user.bytes + amount.bytes <= UnreadLimits.little
        else { return false }
        return amount.descriptors == 0
            || own.descriptors + amount.descriptors <= UnreadLimits.connection.descriptors
                && user.descriptors + amount.descriptors <= UnreadLimits.user.descriptors
                && all.descriptors + amount.descriptors <= UnreadLimits.most.descriptors
    }

    /// Whether it is time to ask the bus how much of it was read.
    func isDoubtful(beside all: Amount) -> Bool {
        guard unread.bytes > 0 else { return false }
        return unread.bytes >= UnreadLimits.asked.bytes
            || unread.descriptors >= UnreadLimits.asked.descriptors
            || (user?.unread.bytes ?? 0) >= UnreadLimits.user.bytes / 4
            || all.bytes >= UnreadLimits.allBytes / 4
    }

    // MARK: What waits

    /// Whether there is something to be done for it.
    var hasWaiting: Bool { !outgoing.isEmpty || !held.isEmpty }

    /// Keeps a call until it is its turn; false when too much waits for its user.
    func hold(_ call: Message) -> Bool {
        let size = Self.size(of: call)
        guard let user, user.held.bytes + size.bytes <= MessageLimits.heldBytesOfUser,
            user.held.descriptors + size.descriptors <= MessageLimits.heldDescriptors
        else { return false }
        held.append(call)
        user.held += size
        return true
    }

    /// The call that has waited longest; from now on it doesn't.
    func takeHeld() -> Message? {
        guard !held.isEmpty else { return nil }
        let call = held.removeFirst()
        user?.held -= Self.size(of: call)
        return call
    }

    /// Whether nothing waits to be sent to it.
    var isUpToDate: Bool { outgoing.isEmpty }

    /// Keeps a message until it is its turn.
    func add(outgoing message: Message, _ amount: Amount) {
        outgoing.append((message, amount))
        outgoingAmount += amount
        user?.outgoing += amount
    }

    /// The message that has waited longest; from now on it doesn't.
    func takeOutgoing() -> (message: Message, amount: Amount)? {
        guard !outgoing.isEmpty else { return nil }
        let next = outgoing.removeFirst()
        outgoingAmount -= next.amount
        user?.outgoing -= next.amount
        return next
    }

    /// What a call that waits takes.
    ///
    /// No bus bounds calls that want no answer, so there is room for few: reading them takes the
    /// time in which others' calls are found behind them.
    static func size(of call: Message) -> Amount {
        let own = call.expectsReply ? 1024 : 64 * 1024
        return Amount(bytes: call.size + own, descriptors: call.descriptors)
    }
}
