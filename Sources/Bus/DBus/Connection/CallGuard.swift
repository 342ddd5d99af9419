/// Bounds what callers make a service hold, and decides whose call is served next.
///
/// A service that neighbours may call sets one; a sensor, a verifier or an agent has none.
@BusActor
package protocol CallGuard: AnyObject {
    /// Whether a call waits for its turn.
    var hasWaitingCalls: Bool { get }
    /// Whether a call without a reply is dropped, because its sender is over its bounds.
    func drops(unansweredCallOf sender: String) -> Bool
    /// Takes a call of a known peer, and has it dispatched in its turn.
    func take(_ call: Message, of peer: Peer)
    /// Dispatches one waiting call; false: none may be served.
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
    /// Charges a message to its receiver; nil: to everybody.
    func sent(_ bytes: Int, to name: String?)
    /// Forgets a name that has no owner.
    func left(_ name: String)
    /// Forgets all callers.
    func connectionEnded()
}

/// A call's place among those that its method, its connection and its user may have unanswered.
@BusActor
package protocol CallTicket: AnyObject {
    /// Takes the place, for a call that holds so many bytes.
    ///
    /// - Throws: `LimitsExceeded`.
    func begin(bytes: Int) throws(DBusError)
    /// Gives the place back.
    func end()
}
