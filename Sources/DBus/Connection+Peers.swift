/// A peer that the bus is being asked about, and what waits for the answer.
@BusActor
struct PeerLookUp {
    private(set) var calls: [Message] = []
    /// The first call, without its arguments, if there was no room for it.
    var refused: [Message] = []
    /// What the calls take.
    private(set) var size = Amount()
    var waiting: [@BusActor (Result<Peer, DBusError>) -> Void] = []
    /// What the bus is asked.
    var question: PendingCall?

    /// Whether there is room for one more call, beside so many bytes of all who are looked up.
    func hasRoom(for call: Message, beside all: Int) -> Bool {
        let added = Receiver.size(of: call)
        let size = size + added
        let most = calls.isEmpty ? MessageLimits.heldBytesOfUser : MessageLimits.heldBytes
        return calls.count < MessageLimits.waitingCalls && size.bytes <= most
            && size.descriptors <= MessageLimits.heldDescriptors
            && (size.bytes <= MessageLimits.heldBytesOfAnyone
                || all + added.bytes <= MessageLimits.heldBytesOfUnknown)
    }

    mutating func add(_ call: Message) {
        calls.append(call)
        size += Receiver.size(of: call)
    }
}

extension Connection {
    /// Who owns a unique name.
    ///
    /// The bus is asked once, and the answer is kept until the peer leaves.
    ///
    /// - Throws: `InvalidArgs` unless it is a unique name; `NameHasNoOwner` when nobody has it;
    ///   `AccessDenied` when the bus does not know the user or the process.
    public func peer(named uniqueName: String) async throws(DBusError) -> Peer {
        if let directPeer { return directPeer }
        if let peer = peers[uniqueName] { return peer }
        guard uniqueName.hasPrefix(":") else {
            throw DBusError(.invalidArgs, "'\(uniqueName)' is not a unique name.")
        }
        let result = await withUnsafeContinuation { continuation in
            lookUp(uniqueName) { $0.waiting.append { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// Serves a call at once when its sender is known, and in its turn otherwise.
    func receive(call message: Message) {
        if directPeer != nil {
            dispatch(call: message)
            return
        }
        guard let sender = message.sender, sender.hasPrefix(":") else {
            refuse(message)
            return
        }
        if let peer = peers[sender] { return admit(message, of: peer) }
        let known = lookUps[sender]
        if (known ?? PeerLookUp()).hasRoom(for: message, beside: lookUpBytes) {
            lookUpBytes += Receiver.size(of: message).bytes
            lookUp(sender) { $0.add(message) }
        } else if known == nil {
            // It is told when it is known whom the answer is charged to.
            lookUp(sender) { lookUp in
                if let slip = message.replySlip() { lookUp.refused = [slip] }
            }
        } else {
            leaveOut(sender)
        }
        // Who sends more before the bus has said who it is gets no answer: nothing is known that
        // would bound the answers.
    }

    func refuse(_ message: Message) {
        let error = DBusError(.accessDenied, "The caller cannot be identified.")
        OutgoingMessage.reply(to: message, with: error)
    }

    private func refuseForSize(_ message: Message, of peer: Peer) {
        message.caller = peer
        let error = DBusError(.limitsExceeded, "The call is too large, or too many wait.")
        IncomingCall(peer: peer, message: message).fail(error)
    }

    private func lookUp(_ name: String, _ add: (inout PeerLookUp) -> Void) {
        let isNew = lookUps[name] == nil
        add(&lookUps[name, default: PeerLookUp()])
        guard isNew else { return }
        watchPeers()
        askWhoIs(name)
    }

    /// A bus whose queue to this side is full drops its own answers, so that it is asked again.
    private func askWhoIs(_ name: String, again: Int = 10) {
        let asked: PendingCall
        do throws(DBusError) {
            asked = try startCall(
                to: Self.driver,
                path: .bus,
                interface: Self.driver,
                member: "GetConnectionCredentials",
                signature: "s",
                timeout: .seconds(2)
            ) { (writer) throws(DBusError) in
                try writer.write(name)
            }
        } catch {
            return finishLookUp(name, .failure(error))
        }
        lookUps[name]?.question = asked
        asked.onEnd { [weak self] reply in
            // The peer may have left before the answer.
            guard let self, lookUps[name] != nil else { return }
            if case .failure(let error) = reply, error.name == .noReply, again > 0, isOpen {
                return askWhoIs(name, again: again - 1)
            }
            finishLookUp(name, credentials(name, reply))
        }
    }

    private func credentials(
        _ name: String,
        _ reply: Result<Message, DBusError>
    ) -> Result<Peer, DBusError> {
        do throws(DBusError) {
            let values = try reply.get()
                .read("a{sv}") { (reader) throws(DBusError) in
                    try reader.read([String: Variant].self)
                }
            let uid = values["UnixUserID"]?.asUInt32
            let pid = values["ProcessID"]?.asUInt32.flatMap { Int32(exactly: $0) }
            let known = Peer(name: name, uid: uid, pid: pid, on: self) {
                allowance(of: $0)
            }
            guard let peer = known else {
                throw DBusError(.accessDenied, "The bus does not say who '\(name)' is.")
            }
            return .success(peer)
        } catch {
            return .failure(error)
        }
    }

    private func finishLookUp(_ name: String, _ result: Result<Peer, DBusError>) {
        guard let lookUp = lookUps.removeValue(forKey: name) else { return }
        lookUpBytes -= lookUp.size.bytes
        lookUp.question?.cancel()
        hearAgain(name)
        switch result {
        case .success(let peer):
            peers[name] = peer
            peer.receiver?.user = peer.user
            for call in lookUp.refused { refuseForSize(call, of: peer) }
            for call in lookUp.calls { admit(call, of: peer) }
        // It has left: nobody would get the answers.
        case .failure(let error) where error.name == .nameHasNoOwner: break
        case .failure:
            for call in lookUp.refused + lookUp.calls { refuse(call) }
        }
        for body in lookUp.waiting {
            body(result)
        }
    }

    // MARK: Leaving

    /// Subscribes once to peers leaving the bus.
    ///
    /// Without that, no answer about a peer could be kept. What the bus answers may get lost, so
    /// that it is asked again; twice the same match tells nothing twice.
    private func watchPeers(again: Int = 10) {
        guard !watchesPeers else { return }
        watchesPeers = true
        let rule =
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
            + "member='NameOwnerChanged',arg2=''"
        let call = try? startCall(
            to: "org.freedesktop.DBus",
            path: .bus,
            interface: "org.freedesktop.DBus",
            member: "AddMatch",
            signature: "s",
            timeout: .seconds(2)
        ) { (writer) throws(DBusError) in
            try writer.write(rule)
        }
        // Where it can't be sent, the next look-up asks again.
        guard let call else {
            watchesPeers = false
            return
        }
        call.onEnd { [weak self] result in
            guard let self, case .failure(let error) = result else { return }
            watchesPeers = false
            if error.name == .noReply, again > 0, isOpen {
                return watchPeers(again: again - 1)
            }
            for name in Array(lookUps.keys) {
                finishLookUp(name, .failure(error))
            }
        }
    }

    func peerLeft(_ name: String) {
        // Nobody waits for what it asked.
        finishLookUp(name, .failure(DBusError(.nameHasNoOwner, "'\(name)' has left.")))
        peers.removeValue(forKey: name)?.leave()
    }

    /// The connection has ended.
    func forgetPeers(_ error: DBusError) {
        for name in Array(lookUps.keys) {
            finishLookUp(name, .failure(error))
        }
        let gone = peers.values.sorted { $0.name < $1.name }
        peers = [:]
        for peer in gone {
            peer.leave()
        }
        directPeer?.leave()
    }
}
