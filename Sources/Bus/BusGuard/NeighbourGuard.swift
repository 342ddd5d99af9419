package import DBus
import Glibc

/// Bounds the calls and bytes that a service holds for neighbours, and serves calls in a fair
/// order.
///
/// Each call that expects a reply gets its result, or `LimitsExceeded` beyond the bounds. A call
/// without a reply is dropped beyond the bounds.
@BusActor
package final class NeighbourGuard {
    /// Counts unanswered calls, by the kind of their method, and bytes.
    package let quota: CallQuota
    /// The places of the service's own calls.
    package let lanes = CallBudget()
    /// Returns the error with which a method is refused; nil admits the call.
    package var gate: (@BusActor (_ member: String, _ interface: String) -> DBusError?)?
    unowned let connection: Connection
    var callers: [String: Caller] = [:]
    var users: [UInt32: UserShare] = [:]
    var queue = FairQueue()
    /// Whether the bus reports unread bytes.
    var asksUnread = true
    /// Bytes sent to all callers that may be unread.
    var unread = 0
    /// Messages read since a waiting call could be served.
    private var readInRow = 0
    /// Calls served before all waiting calls, since a waiting call was served.
    private var firstInRow = 0
    /// Runs between two sweeps, so that refusals cause at most one a second.
    private var sweepPause: EventSource?

    /// Guards a connection from the next call on.
    package init(_ connection: Connection, quota: CallQuota) {
        self.connection = connection
        self.quota = quota
        connection.callGuard = self
        keepSendBufferShort()
    }

    /// Serves a peer's calls of one method before all waiting calls, until the source is canceled.
    ///
    /// For reports of the service's helpers: a helper's waiting calls are lost when its connection
    /// leaves.
    package func goesFirst(
        _ peer: Peer,
        calling member: String,
        of interface: String
    ) -> EventSource {
        let (caller, method) = (caller(peer.name), interface + "." + member)
        caller.first[method, default: 0] += 1
        return EventSource { [weak caller] in
            guard let caller, let count = caller.first[method] else { return }
            caller.first[method] = count > 1 ? count - 1 : nil
        }
    }

    func caller(_ name: String) -> Caller {
        if let known = callers[name] { return known }
        let new = Caller(name)
        callers[name] = new
        return new
    }

    func share(of uid: UInt32) -> UserShare {
        if let known = users[uid] { return known }
        let new = UserShare()
        users[uid] = new
        return new
    }

    /// Keeps the kernel's send buffer small.
    ///
    /// While neighbours keep dbus-daemon busy, it reads only about 4 KiB of a connection in 10 to
    /// 40 ms. Each byte written for neighbours delays later bytes.
    private func keepSendBufferShort() {
        var size: Int32 = 16 * 1024
        let length = socklen_t(MemoryLayout.size(ofValue: size))
        setsockopt(connection.descriptor, SOL_SOCKET, SO_SNDBUF, &size, length)
    }
}

extension NeighbourGuard: CallGuard {
    package var hasWaitingCalls: Bool { !queue.isEmpty }

    package func drops(unansweredCallOf sender: String) -> Bool {
        guard let caller = callers[sender] else { return false }
        return caller.backlog.count >= GuardLimits.unansweredCalls || isBlocked(caller)
    }

    package func take(_ call: Message, of peer: Peer) {
        let caller = caller(peer.name)
        if caller.user == nil { caller.identify(as: share(of: peer.uid)) }
        if goesFirst(call, of: caller) { return connection.dispatch(call, of: peer) }
        let bytes = Self.bytes(of: call)
        if call.size != nil, hasRoom(for: bytes, of: caller) {
            caller.hold(HeldCall(message: call, peer: peer, bytes: bytes))
        } else if call.expectsReply, isBlocked(caller), let stub = call.withoutArguments() {
            // A refusal also waits until its receiver reads.
            caller.hold(HeldCall(message: stub, peer: peer, bytes: 0, isRefused: true))
        } else {
            return connection.refuse(call, of: peer)
        }
        queue.add(caller)
    }

    private func hasRoom(for bytes: Int, of caller: Caller) -> Bool {
        guard let user = caller.user else { return false }
        return user.held + bytes <= GuardLimits.heldOfUser
            || bytes <= GuardLimits.smallCall
                && caller.backlog.count < GuardLimits.callsOfConnection
    }

    /// Returns whether a report goes before all waiting calls.
    ///
    /// The number of reports in a row is limited.
    private func goesFirst(_ call: Message, of caller: Caller) -> Bool {
        guard !caller.first.isEmpty, firstInRow < CallBudget.busLimit,
            let interface = call.interface, let member = call.member,
            caller.first[interface + "." + member] != nil
        else { return false }
        firstInRow += 1
        return true
    }

    package func serveNext(hasRead: Bool) -> Bool {
        readInRow = hasRead ? readInRow + 1 : 0
        guard readInRow.isMultiple(of: GuardLimits.readsInRow) else { return false }
        firstInRow = 0
        // Waiting calls leave a full socket to the service's own calls.
        guard !queue.isEmpty, connection.hasWrittenAll, connection.isReady(POLLOUT) else {
            return false
        }
        while let caller = queue.next() {
            guard !isBlocked(caller), let call = caller.takeNext() else {
                askAboutUnread(of: caller)
                // A lost signal may hide that other callers with unread replies have left.
                sweep()
                continue
            }
            caller.user?.charged += call.bytes
            if call.isRefused {
                connection.refuse(call.message, of: call.peer)
            } else {
                connection.dispatch(call.message, of: call.peer)
            }
            if !caller.backlog.isEmpty { queue.add(caller) }
            return true
        }
        return false
    }

    package func admit(
        _ member: String,
        of interface: String,
        from peer: Peer
    ) throws(DBusError) -> (any CallTicket)? {
        if let refusal = gate?(member, interface) { throw refusal }
        do throws(DBusError) {
            return try quota.admit(member, of: interface, from: peer)
        } catch {
            sweep()
            throw error
        }
    }

    package func mayReceive(_ bytes: Int, _ name: String) -> Bool {
        guard bytes > GuardLimits.alwaysAllowedUnread, let caller = callers[name] else {
            return true
        }
        // Calls begun before the connection stopped reading may go a little beyond the limits of
        // new calls.
        return caller.unread < 2 * GuardLimits.unreadOfConnection
            && (caller.user?.unread ?? 0) + bytes <= 3 * GuardLimits.unreadOfUser
            && unread + bytes <= GuardLimits.unreadOfAll
    }

    package func sent(_ bytes: Int, to name: String?) {
        // A broadcast stays on the bus until its last receiver reads. Charge it to the own name.
        let name = name ?? connection.uniqueName
        guard asksUnread, name != Connection.driver else { return }
        let caller = caller(name)
        caller.addUnread(bytes)
        unread += bytes
        caller.user?.charged += bytes
        if needsUnreadQuery(caller) { askAboutUnread(of: caller) }
    }

    package func nameVanished(_ name: String) {
        guard let caller = callers.removeValue(forKey: name) else { return }
        while caller.takeNext() != nil {}
        forgetUnread(of: caller)
        users = users.filter { _, user in
            user.held > 0 || user.unread > 0 || callers.values.contains { $0.user === user }
        }
    }

    package func connectionEnded() {
        callers = [:]
        users = [:]
        queue = FairQueue()
    }

    /// Asks the bus which callers have left, at most once a second, to free the room of their
    /// calls.
    package func sweep() {
        guard sweepPause == nil else { return }
        sweepPause = EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in
            self?.sweepPause = nil
        }
        onLoop { [weak connection] in await connection?.refreshNames() }
    }

    private static func bytes(of call: Message) -> Int {
        Connection.bytesOfCall + (call.size ?? 0)
    }
}
