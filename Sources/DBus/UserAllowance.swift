import Synchronization

/// What the connections of one user together have the service hold.
///
/// A user has as many connections as the bus allows, so a bound for each connection is none.
final class UserAllowance: Sendable {
    /// Read from calls, and not closed yet; by whichever thread has them.
    private let descriptors = Atomic<Int>(0)
    /// Calls that wait for their turn, or until their senders read.
    @BusActor var held = Amount()
    /// Those of its connections whose calls are dropped, because too many wait.
    @BusActor var unheard: Set<String> = []
    /// What waits to be sent to them.
    @BusActor var outgoing = Amount()
    /// What was sent to them and may not have been taken.
    @BusActor var unread = Amount()
    /// Runs while the bus isn't to be asked again what each of them has taken.
    @BusActor var doubt: EventSource?
    /// Its connections that wait for their turn, in this order; see ``Turns``.
    @BusActor var waiting: [Receiver] = []
    /// How much it was given, in bytes, by the count that is kept among those who wait.
    @BusActor var given = 0

    /// False when that would be too many.
    func takeDescriptor() -> Bool {
        let count = descriptors.add(1, ordering: .relaxed).newValue
        guard count <= MessageLimits.descriptorsOfUser else {
            giveDescriptorBack()
            return false
        }
        return true
    }

    func giveDescriptorBack() {
        descriptors.subtract(1, ordering: .relaxed)
    }
}

/// Refers to a user's allowance as long as a connection or a descriptor does.
struct UserReference {
    weak var allowance: UserAllowance?
}

extension Connection {
    func allowance(of uid: UInt32) -> UserAllowance {
        if let known = users[uid]?.allowance { return known }
        users = users.filter { $0.value.allowance != nil }
        let new = UserAllowance()
        users[uid] = UserReference(allowance: new)
        return new
    }
}
