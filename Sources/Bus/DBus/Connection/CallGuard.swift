/// Bounds the calls and bytes that a service holds for callers, and picks the next call.
///
/// A service that neighbours may call sets a guard. Sensors, verifiers and agents need none.
@BusActor
package protocol CallGuard: AnyObject {
    var hasWaitingCalls: Bool { get }
    /// Returns whether a call without a reply is dropped because its sender is over its bounds.
    func drops(unansweredCallOf sender: String) -> Bool
    /// Takes a call of a known peer, and dispatches it in its turn.
    func take(_ call: Message, of peer: Peer)
    /// Dispatches a waiting call; returns false if no call may be served.
    ///
    /// Reading goes first while messages arrive, because replies to the service's own calls may lie
    /// behind calls of neighbours.
    func serveNext(hasRead: Bool) -> Bool
    /// Admits a call to its method.
    ///
    /// - Throws: `LimitsExceeded`.
    func admit(
        _ member: String,
        of interface: String,
        from peer: Peer
    ) throws(DBusError) -> (any CallTicket)?
    /// Returns whether the receiver reads well enough for a reply of this many bytes.
    func mayReceive(_ bytes: Int, _ name: String) -> Bool
    /// Charges a message to its receiver; nil stands for a broadcast.
    func sent(_ bytes: Int, to name: String?)
    /// Forgets a name that has no owner.
    func nameVanished(_ name: String)
    func connectionEnded()
}

/// A call's place within the bounds of its method, its connection and its user.
@BusActor
package protocol CallTicket: AnyObject {
    /// Takes the place, for a call that holds this many bytes.
    ///
    /// - Throws: `LimitsExceeded`.
    func begin(bytes: Int) throws(DBusError)
    func end()
}
