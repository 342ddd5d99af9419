import CSystemd

extension Connection {
    /// Bounds what strangers make this connection hold, and serves them in turns.
    ///
    /// For services that they call. Does nothing over a socket pair. What receivers who don't read
    /// leave on the bus is bounded by asking the bus how much that is; not on a bus that has no
    /// statistics or keeps them to itself.
    public func serveStrangers() {
        guard !isPeerToPeer else { return }
        servesStrangers = true
        countsUnread = true
        keepShort()
    }

    /// Whom a message to a bus name, or to everybody, is charged to; nil: nobody.
    ///
    /// Of what went to everybody the bus keeps one copy until the last receiver has read it: that
    /// is charged to the own name.
    func receiver(_ name: String?) -> Receiver? {
        let name = name ?? uniqueName
        // The bus itself always reads.
        guard servesStrangers, name != Self.driver else { return nil }
        if let known = receivers[name] { return known }
        let new = Receiver(name)
        receivers[name] = new
        return new
    }

    /// Sends a message if its receiver may get it, once it is its turn.
    ///
    /// What is to be answered is sent at once: the service itself waits for it.
    func send(
        _ message: OpaquePointer,
        _ amount: Amount,
        to receiver: Receiver?,
        expectingReply: Bool = false,
        asAnswer isAnswer: Bool = false
    ) throws(DBusError) -> UInt64 {
        guard let receiver else {
            isKnownToHaveRoom = false
            return try OutgoingMessage.send(message, expectingReply: expectingReply)
        }
        guard receiver.mayGet(amount, beside: unread + outgoing, asAnswer: isAnswer) else {
            askAboutUser(of: receiver)
            let isOwnFault = !receiver.mayGet(amount, beside: Amount())
            throw DBusError(
                .limitsExceeded,
                isOwnFault
                    ? "'\(receiver.name)' does not read its messages."
                    : "Others have left too much unread: ask for less, or later."
            )
        }
        if expectingReply {
            // It doesn't overtake what was sent before it.
            while deliverNext(to: receiver) {}
        } else if receiver.user != nil, !receiver.isUpToDate || !hasRoom,
            let kept = sd_bus_message_ref(message)
        {
            receiver.add(outgoing: Message(adopting: kept), amount)
            outgoing += amount
            turns.add(receiver)
            return 0
        }
        return try deliver(message, amount, to: receiver, expectingReply)
    }

    /// Sends a message now, and charges it.
    func deliver(
        _ message: OpaquePointer,
        _ amount: Amount,
        to receiver: Receiver,
        _ expectingReply: Bool = false
    ) throws(DBusError) -> UInt64 {
        isKnownToHaveRoom = false
        let cookie = try OutgoingMessage.send(message, expectingReply: expectingReply)
        if !expectingReply { receiver.user?.given += amount.bytes }
        guard countsUnread else { return cookie }
        receiver.add(amount)
        unread += amount
        if receiver.isDoubtful(beside: unread) { askAboutUser(of: receiver) }
        return cookie
    }

    // MARK: Asking the bus

    /// Asks about a receiver and, once a second, about all others of its user: what one of them had
    /// when it was last sent something is held against each, and may have been read long ago.
    func askAboutUser(of receiver: Receiver) {
        ask(receiver)
        guard let user = receiver.user, user.doubt == nil else { return }
        user.doubt = EventLoop.shared.schedule(after: .seconds(1)) { [weak user] in
            user?.doubt = nil
        }
        for other in receivers.values where other.user === user && other.unread.bytes > 0 {
            ask(other)
        }
    }

    /// Asks how much of what was sent the bus still has.
    func ask(_ receiver: Receiver) {
        guard receiver.asked == nil, receiver.delay == nil, isOpen, countsUnread else { return }
        let question = try? startCall(
            to: Self.driver,
            path: .bus,
            interface: "org.freedesktop.DBus.Debug.Stats",
            member: "GetConnectionStats",
            signature: "s"
        ) { (writer) throws(DBusError) in
            try writer.write(receiver.name)
        }
        guard let question else { return askLater(receiver) }
        receiver.asked = receiver.unread
        question.onEnd { [weak self] reply in self?.finishAsking(receiver, reply) }
    }

    private func finishAsking(_ receiver: Receiver, _ reply: Result<Message, DBusError>) {
        guard isOpen, let asked = receiver.asked else { return }
        receiver.asked = nil
        do throws(DBusError) {
            let left = try left(of: receiver, in: reply.get())
            // The bus has had all that was sent before the question.
            let taken = asked - .min(asked, left)
            receiver.remove(taken)
            unread -= taken
        } catch {
            switch error.name {
            case .nameHasNoOwner: left(receiver.name)
            case .accessDenied, .unknownMethod, .unknownInterface, .unknownObject, .notSupported,
                .failed:
                // On such a bus nobody could be believed to read; dbus-broker says `Failed`.
                stopCounting()
            default: break
            }
        }
        continueServing(receiver)
    }

    private func continueServing(_ receiver: Receiver) {
        if receiver.hasCredit(beside: unread) {
            receiver.refusals = 0
            // Still slow, it may be asked about with the next message.
            if receiver.hasWaiting { turns.add(receiver) }
        } else {
            askLater(receiver)
        }
    }

    private func askLater(_ receiver: Receiver) {
        let delay = Duration.milliseconds(50) * (1 << min(receiver.refusals, 7))
        receiver.refusals += 1
        receiver.delay = EventLoop.shared.schedule(after: delay) { [weak self, weak receiver] in
            guard let self, let receiver else { return }
            receiver.delay = nil
            if !receiver.held.isEmpty { askAboutUser(of: receiver) }
        }
    }

    /// What the bus has for a receiver, or, under the own name, of all that was sent.
    private func left(of receiver: Receiver, in reply: Message) throws(DBusError) -> Amount {
        let direction = receiver.name == uniqueName ? "Incoming" : "Outgoing"
        let (nameOfBytes, nameOfDescriptors) = (direction + "Bytes", direction + "FDs")
        var (bytes, descriptors): (UInt32?, UInt32?) = (nil, nil)
        // There are many more, and this is asked for each prompt.
        try reply.read("a{sv}") { (reader) throws(DBusError) in
            try reader.array("{sv}", limit: MessageLimits.array) { (reader) throws(DBusError) in
                try reader.entry("sv") { (reader) throws(DBusError) in
                    switch try reader.read(String.self) {
                    case nameOfBytes: bytes = try reader.read(Variant.self).asUInt32
                    case nameOfDescriptors: descriptors = try reader.read(Variant.self).asUInt32
                    default: try reader.skipVariant()
                    }
                }
            }
        }
        guard let bytes, let descriptors else {
            throw DBusError(.unknownMethod, "The bus does not say what it keeps.")
        }
        return Amount(bytes: Int(bytes), descriptors: Int(descriptors))
    }

    // MARK: Ending

    /// A name has no owner any more: the bus has dropped what was sent there.
    func forgetReceiver(_ name: String) {
        guard let receiver = receivers.removeValue(forKey: name) else { return }
        waive(receiver)
        while receiver.takeHeld() != nil {}
        while let (_, amount) = receiver.takeOutgoing() { outgoing -= amount }
        if let user = receiver.user { hearAgain(user) }
    }

    private func waive(_ receiver: Receiver) {
        receiver.asked = nil
        unread -= receiver.unread
        receiver.remove(receiver.unread)
        receiver.delay?.cancel()
        receiver.delay = nil
    }

    private func stopCounting() {
        countsUnread = false
        for receiver in receivers.values {
            waive(receiver)
            if receiver.hasWaiting { turns.add(receiver) }
        }
    }

    /// The connection has ended.
    func forgetReceivers() {
        for name in Array(receivers.keys) { forgetReceiver(name) }
    }
}
