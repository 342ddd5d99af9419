/// Bounds the calls and bytes that a service holds for callers, and picks the next call.
///
/// A service that neighbours may call sets a guard; sensors, verifiers and agents don't.
@BusActor
package protocol CallGuard: AnyObject {
    /// Whether a call waits for its turn.
    var hasWaitingCalls: Bool { get }
    /// Whether a call without a reply is dropped, because its sender is over its bounds.
    func drops(unansweredCallOf sender: String) -> Bool
    /// Takes a call of a known peer, and has it dispatched in its turn.
    func take(_ call: Message, of peer: Peer)
    /// Dispatches a waiting call; false: no call may be served.
    ///
    /// Answers to calls of this side may lie behind calls of others: while messages are read,
    /// reading goes first.
    func serveNext(hasRead: Bool) -> Bool
    /// Admits a call to its method, or refuses it with `LimitsExceeded`.
    func admit(
        _ member: String,
        of interface: String,
        from peer: Peer
    ) throws(DBusError) -> (any CallTicket)?
    /// Whether a reply of so many bytes may be sent: its receiver reads.
    func mayReceive(_ bytes: Int, _ name: String) -> Bool
    /// Charges a message to its receiver; nil: a broadcast.
    func sent(_ bytes: Int, to name: String?)
    /// Forgets a name that has no owner.
    func left(_ name: String)
    /// Forgets all callers.
    func connectionEnded()
}

/// A call's place within the bounds of its method, its connection and its user.
@BusActor
package protocol CallTicket: AnyObject {
    /// Takes the place, for a call that holds so many bytes.
    ///
    /// - Throws: `LimitsExceeded`.
    func begin(bytes: Int) throws(DBusError)
    /// Gives the place back.
    func end()
}
