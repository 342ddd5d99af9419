import CReceive
import CSystemd
import Glibc

/// Strangers are served in turns, and no faster than the bus takes what they are sent.
///
/// dbus-daemon reads about 4 KiB of each connection before it turns to the next. While others keep
/// it busy, what was written earlier delays what is written later by seconds. So what can wait is
/// kept here, where the service's own calls, and other users' answers, overtake it.
extension Connection {
    /// Serves a call of a known sender, in its turn.
    func admit(_ call: Message, of peer: Peer) {
        call.caller = peer
        guard let receiver = peer.receiver, !goesFirst(call, of: peer) else {
            return dispatch(call: call)
        }
        if receiver.hold(call) {
            turns.add(receiver)
        } else {
            // Dropped, as those that follow are: errors would be more messages to send.
            leaveOut(receiver.name)
            receiver.user?.unheard.insert(receiver.name)
        }
    }

    /// Whether a call is served before all that wait: a part of the service tells something, and
    /// not too much in a row.
    private func goesFirst(_ call: Message, of peer: Peer) -> Bool {
        guard firstInRow < CallBudget.busLimit, peer.goesFirst(with: call) else { return false }
        firstInRow += 1
        return true
    }

    /// Sends one message, or serves one call, of those who wait.
    ///
    /// False when nobody does, or when the bus has not taken what was sent before.
    func serveNext() -> Bool {
        guard !turns.isEmpty, hasRoom else { return false }
        // What is sent first finds that room; the kernel needn't be asked again.
        isKnownToHaveRoom = true
        defer { isKnownToHaveRoom = false }
        while let receiver = turns.next() {
            guard deliverNext(to: receiver) || serveNext(of: receiver) else { continue }
            if receiver.hasWaiting { turns.add(receiver) }
            return true
        }
        return false
    }

    /// Sends what has waited longest for a receiver; false when nothing has.
    func deliverNext(to receiver: Receiver) -> Bool {
        guard let (message, amount) = receiver.takeOutgoing() else { return false }
        outgoing -= amount
        // Nobody waits for the number of a message that is no call.
        _ = try? deliver(message.pointer, amount, to: receiver)
        return true
    }

    private func serveNext(of receiver: Receiver) -> Bool {
        guard !receiver.held.isEmpty else { return false }
        guard receiver.hasCredit(beside: unread), let call = receiver.takeHeld() else {
            // It waits until it has read, or others have who owe too much; those may have left.
            askAboutUser(of: receiver)
            doubtPeers()
            return false
        }
        if let user = receiver.user { hearAgain(user) }
        // What its answer takes is added when that is sent.
        receiver.user?.given += Receiver.size(of: call).bytes
        dispatch(call: call)
        return true
    }

    // MARK: Those who are not heard

    /// Has the calls of a connection dropped before anything is looked at but their sender.
    ///
    /// Reading all of them would take the time in which those of others are found among them:
    /// dbus-broker keeps a hundred megabytes of calls for a service, and delivers them in order.
    func leaveOut(_ name: String) {
        if let watch { receive_watch_leave_out(watch, name, 1) }
    }

    func hearAgain(_ name: String) {
        if let watch { receive_watch_leave_out(watch, name, 0) }
    }

    /// Hears the connections of a user again when half of what may wait has been served.
    func hearAgain(_ user: UserAllowance) {
        guard !user.unheard.isEmpty, user.held.bytes <= MessageLimits.heldBytesOfUser / 2,
            user.held.descriptors <= MessageLimits.heldDescriptors / 2
        else { return }
        for name in user.unheard { hearAgain(name) }
        user.unheard = []
    }

    // MARK: Room

    /// Has the kernel keep little of what the bus has not read.
    func keepShort() {
        var size = Self.kept
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_SNDBUF,
            &size,
            socklen_t(MemoryLayout.size(ofValue: size))
        )
    }

    /// The kernel doubles it, and calls the socket writable while a quarter of that is unread.
    ///
    /// With what the kernel adds to each, that is about ten small messages: as many as dbus-daemon
    /// reads at once.
    private static let kept: Int32 = 16 * 1024

    /// Whether the bus has taken nearly all that was sent.
    var hasRoom: Bool {
        isKnownToHaveRoom || sd_bus_get_events(bus) & POLLOUT == 0 && isReady(POLLOUT)
    }

    /// Whether the socket is ready for reading or writing now, or within some milliseconds.
    func isReady(_ events: Int32, within milliseconds: Int32 = 0) -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&state, 1, milliseconds) > 0
    }

    /// Whether something has come that was not read.
    var hasUnread: Bool {
        isReady(POLLIN) || watch.map { receive_watch_is_empty($0) == 0 } ?? false
    }

    /// Gives sd-bus everything that waits, whether or not the bus takes it now.
    func deliverAll() {
        while let receiver = turns.next() {
            while deliverNext(to: receiver) {}
        }
    }
}
