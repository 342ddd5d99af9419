import DBus

/// Replies that callers leave unread.
///
/// dbus-daemon charges unread replies to the service, and stops reading from the service at 127
/// MiB. Two callers that never read could thus stop the service for all users. The guard therefore
/// asks the bus (`GetConnectionStats`) for unread bytes. Calls of a connection with too many wait
/// until it reads.
extension NeighbourGuard {
    /// Returns whether calls of a connection must wait until it, or its user, has read.
    func isBlocked(_ caller: Caller) -> Bool {
        let ofUser = caller.user?.unread ?? 0
        guard unread < GuardLimits.unreadOfAll else {
            return ofUser > GuardLimits.alwaysAllowedUnread
        }
        // A connection that has read everything waits only far beyond its user's limit.
        guard caller.unread > 0 else { return ofUser >= GuardLimits.unreadOfUser * 3 / 2 }
        return caller.unread >= GuardLimits.unreadOfConnection
            || ofUser >= GuardLimits.unreadOfUser
    }

    /// Returns whether unread bytes are so many that the guard must ask the bus.
    func needsUnreadQuery(_ caller: Caller) -> Bool {
        caller.unread >= GuardLimits.unreadAsked
            || (caller.user?.unread ?? 0) >= GuardLimits.unreadOfUser / 4
            || unread >= GuardLimits.unreadOfAll / 4
    }

    /// Asks the bus about a connection, and about its user's other connections with unread bytes.
    func askAboutUnread(of caller: Caller) {
        ask(caller)
        guard let user = caller.user,
            user.unread >= GuardLimits.unreadOfUser / 4 || unread >= GuardLimits.unreadOfAll
        else { return }
        for other in callers.values where other.user === user && other.unread > 0 { ask(other) }
    }

    private func ask(_ caller: Caller) {
        guard asksUnread, !caller.hasPendingQuery, caller.pause == nil else { return }
        let question = try? connection.startCall(
            to: Connection.driver,
            path: ObjectPath(trusted: "/org/freedesktop/DBus"),
            interface: "org.freedesktop.DBus.Debug.Stats",
            member: "GetConnectionStats",
            signature: "s"
        ) { (writer) throws(DBusError) in
            try writer.write(caller.name)
        }
        guard let question else { return askLater(caller) }
        caller.hasPendingQuery = true
        let sent = caller.unread
        question.onEnd { [weak self, weak caller] reply in
            guard let self, let caller else { return }
            caller.hasPendingQuery = false
            finish(caller, sent, reply)
        }
    }

    private func finish(_ caller: Caller, _ sent: Int, _ reply: Result<Message, DBusError>) {
        do throws(DBusError) {
            let left = try bytesLeft(of: caller, in: reply.get())
            // The bus has received everything sent before this query.
            let read = max(0, min(sent, caller.unread) - left)
            caller.addUnread(-read)
            unread -= read
        } catch {
            switch error.name {
            case .nameHasNoOwner: nameVanished(caller.name)
            case .accessDenied, .unknownMethod, .unknownInterface, .unknownObject, .notSupported,
                .failed:
                // dbus-broker answers `Failed`. It charges receivers and disconnects the greedy, so
                // stop.
                stopAsking()
            default: break
            }
        }
        if isBlocked(caller) {
            askLater(caller)
        } else {
            caller.delayedQueries = 0
            if !caller.backlog.isEmpty { queue.add(caller) }
        }
    }

    private func askLater(_ caller: Caller) {
        let delay = Duration.milliseconds(50) * (1 << min(caller.delayedQueries, 7))
        caller.delayedQueries += 1
        caller.pause = EventLoop.shared.schedule(after: delay) { [weak self, weak caller] in
            guard let self, let caller else { return }
            caller.pause = nil
            if !caller.backlog.isEmpty { askAboutUnread(of: caller) }
        }
    }

    /// Returns the bytes that the bus keeps for a connection; for the own name, of all broadcasts.
    private func bytesLeft(of caller: Caller, in reply: Message) throws(DBusError) -> Int {
        let wanted = caller.name == connection.uniqueName ? "IncomingBytes" : "OutgoingBytes"
        var bytes: UInt32?
        try reply.read("a{sv}") { (reader) throws(DBusError) in
            try reader.array("{sv}", limit: MessageLimits.array) { (reader) throws(DBusError) in
                try reader.entry("sv") { (reader) throws(DBusError) in
                    if try reader.read(String.self) == wanted {
                        bytes = try reader.read(Variant.self).asUInt32
                    } else {
                        try reader.skipVariant()
                    }
                }
            }
        }
        guard let bytes else {
            throw DBusError(.unknownMethod, "The bus does not say what it keeps.")
        }
        return Int(bytes)
    }

    /// Clears the charge of a connection that left.
    ///
    /// The bus has dropped its messages.
    func forgetUnread(of caller: Caller) {
        unread -= caller.unread
        caller.addUnread(-caller.unread)
        caller.pause?.cancel()
    }

    private func stopAsking() {
        asksUnread = false
        for caller in callers.values {
            forgetUnread(of: caller)
            if !caller.backlog.isEmpty { queue.add(caller) }
        }
    }
}
