/// A query to the bus about a peer, and the work that waits for the answer.
@BusActor
struct PeerLookUp {
    var calls: [Message] = []
    /// Bytes of the calls.
    var bytes = 0
    var waiting: [@BusActor (Result<Peer, DBusError>) -> Void] = []
    var questions: [PendingCall] = []
    /// The bus's answers so far.
    var uid: UInt32?
    var pid: UInt32?

    /// Returns whether `added` bytes fit, beside the bytes of all look-ups.
    func hasRoom(for added: Int, beside all: Int) -> Bool {
        calls.count < MessageLimits.waitingCalls
            && bytes + added <= MessageLimits.unidentifiedBytes
            && (bytes + added <= MessageLimits.unidentifiedBytesOfAnyone
                || all + added <= MessageLimits.unidentifiedBytesOfAll)
    }
}

@BusActor
struct PeerDirectory {
    var peers: [String: Peer] = [:]
    var lookUps: [String: PeerLookUp] = [:]
    /// Bytes of the calls of all look-ups.
    var lookUpBytes = 0
    /// Whether the bus signals peers that leave.
    var isWatching = false

    /// Whether a call waits for its sender's identity, or for an answer.
    var isBusy: Bool { !lookUps.isEmpty || peers.values.contains { $0.isWaiting } }
}

extension Connection {
    /// Returns the process behind a unique name.
    ///
    /// The answer of the bus is cached until the peer leaves.
    ///
    /// - Throws: `InvalidArgs` for other names; `NameHasNoOwner` for a name without an owner;
    ///   `AccessDenied` when the bus does not know the user or the process.
    public func peer(named uniqueName: String) async throws(DBusError) -> Peer {
        if let peer = directory.peers[uniqueName] { return peer }
        guard uniqueName.hasPrefix(":") else {
            throw DBusError(.invalidArgs, "'\(uniqueName)' is not a unique name.")
        }
        let result = await withUnsafeContinuation { continuation in
            lookUp(uniqueName) { $0.waiting.append { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// Serves a call once its sender is known.
    ///
    /// If too many calls wait for that, the call is refused with `LimitsExceeded`.
    func receive(call message: Message) {
        // A call may carry a secret, and be refused before its method is known.
        if callGuard != nil { message.markSensitive() }
        guard let sender = message.sender, sender.hasPrefix(":") else {
            return refuse(message)
        }
        if let peer = directory.peers[sender] { return serve(message, of: peer) }
        let lookUp = directory.lookUps[sender] ?? PeerLookUp()
        guard let size = message.size,
            lookUp.hasRoom(for: size + Self.bytesOfCall, beside: directory.lookUpBytes)
        else { return OutgoingMessage.reply(to: message, with: Self.tooMany, on: self) }
        directory.lookUpBytes += size + Self.bytesOfCall
        self.lookUp(sender) { lookUp in
            lookUp.calls.append(message)
            lookUp.bytes += size + Self.bytesOfCall
        }
    }

    /// Bytes charged for a waiting call, beside its values.
    package static let bytesOfCall = 1024

    /// Refuses a known peer's call that exceeds the bounds.
    package func refuse(_ message: Message, of peer: Peer) {
        message.caller = peer
        IncomingCall(peer: peer, message: message).fail(Self.tooMany)
    }

    private static let tooMany = DBusError(
        .limitsExceeded,
        "The call is too large, or too many wait."
    )

    private func serve(_ message: Message, of peer: Peer) {
        if let callGuard {
            callGuard.take(message, of: peer)
        } else {
            dispatch(message, of: peer)
        }
    }

    private func refuse(_ message: Message) {
        let error = DBusError(.accessDenied, "The caller cannot be identified.")
        OutgoingMessage.reply(to: message, with: error, on: self)
    }

    private func lookUp(_ name: String, _ add: (inout PeerLookUp) -> Void) {
        let isNew = directory.lookUps[name] == nil
        add(&directory.lookUps[name, default: PeerLookUp()])
        guard isNew else { return }
        watchPeers()
        askWhoIs(name)
    }

    /// Asks the bus for a peer's user and process, in two queries.
    ///
    /// `GetConnectionCredentials` answers both at once, but since dbus-broker 34 its answer carries
    /// a descriptor of the process. dbus-broker disconnects a receiver that accepts none.
    private func askWhoIs(_ name: String) {
        ask(name, "GetConnectionUnixUser") { $0.uid = $1 }
        ask(name, "GetConnectionUnixProcessID") { $0.pid = $1 }
    }

    /// Asks the bus for a number of a peer, and passes the answer to `keep`.
    ///
    /// A bus drops its own answers to a receiver with a full queue, so the query is repeated.
    private func ask(
        _ name: String,
        _ member: String,
        again: Int = 10,
        keep: @escaping @BusActor (inout PeerLookUp, UInt32) -> Void
    ) {
        // The first query may have failed and ended the look-up.
        guard directory.lookUps[name] != nil else { return }
        let asked: PendingCall
        do throws(DBusError) {
            asked = try startCall(
                to: Self.driver,
                path: .bus,
                interface: Self.driver,
                member: member,
                signature: "s",
                timeout: .seconds(2)
            ) { (writer) throws(DBusError) in
                try writer.write(name)
            }
        } catch {
            return finishLookUp(name, .failure(error))
        }
        directory.lookUps[name]?.questions.append(asked)
        asked.onEnd { [weak self] reply in
            // The peer may have left before the answer.
            guard let self, var lookUp = directory.lookUps[name] else { return }
            if case .failure(let error) = reply, error.name == .noReply, again > 0, isOpen {
                return ask(name, member, again: again - 1, keep: keep)
            }
            do throws(DBusError) {
                let number = try reply.get()
                    .read("u") { (reader) throws(DBusError) in try reader.read(UInt32.self) }
                keep(&lookUp, number)
                directory.lookUps[name] = lookUp
                finishIfKnown(name, lookUp)
            } catch {
                finishLookUp(name, .failure(error))
            }
        }
    }

    private func finishIfKnown(_ name: String, _ lookUp: PeerLookUp) {
        guard let uid = lookUp.uid, let pid = lookUp.pid else { return }
        guard let peer = Peer(name: name, uid: uid, pid: Int32(exactly: pid), on: self) else {
            let error = DBusError(.accessDenied, "The bus does not say who '\(name)' is.")
            return finishLookUp(name, .failure(error))
        }
        finishLookUp(name, .success(peer))
    }

    private func finishLookUp(_ name: String, _ result: Result<Peer, DBusError>) {
        guard let lookUp = directory.lookUps.removeValue(forKey: name) else { return }
        directory.lookUpBytes -= lookUp.bytes
        for question in lookUp.questions { question.cancel() }
        switch result {
        case .success(let peer):
            directory.peers[name] = peer
            for call in lookUp.calls { serve(call, of: peer) }
        // The caller has left and would not get the answers.
        case .failure(let error) where error.name == .nameHasNoOwner: break
        case .failure:
            for call in lookUp.calls { refuse(call) }
        }
        for body in lookUp.waiting {
            body(result)
        }
    }

    // MARK: Leaving

    /// Subscribes to peers that leave the bus.
    ///
    /// Without the subscription, no answer about a peer could be cached. The call is repeated
    /// because the bus's answer may get lost. A duplicate match does no harm: the bus still sends
    /// each signal once.
    private func watchPeers(again: Int = 10) {
        guard !directory.isWatching else { return }
        directory.isWatching = true
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
        // If the call cannot be sent, the next look-up tries again.
        guard let call else {
            directory.isWatching = false
            return
        }
        call.onEnd { [weak self] result in
            guard let self, case .failure(let error) = result else { return }
            directory.isWatching = false
            if error.name == .noReply, again > 0, isOpen {
                return watchPeers(again: again - 1)
            }
            for name in Array(directory.lookUps.keys) {
                finishLookUp(name, .failure(error))
            }
        }
    }

    func peerLeft(_ name: String) {
        // No caller is left to wait for its calls' results.
        finishLookUp(name, .failure(DBusError(.nameHasNoOwner, "'\(name)' has left.")))
        directory.peers.removeValue(forKey: name)?.leave()
    }

    /// Lets all peers leave, because the connection has ended.
    func forgetPeers(_ error: DBusError) {
        for name in Array(directory.lookUps.keys) {
            finishLookUp(name, .failure(error))
        }
        let gone = directory.peers.values.sorted { $0.name < $1.name }
        directory.peers = [:]
        for peer in gone {
            peer.leave()
        }
    }
}
