/// What a service method returns.
public enum Answer<Value: Sendable>: Sendable {
    /// Replied in the same turn of the loop.
    case now(Value)
    /// Replied when the closure returns. Its task is canceled when the caller leaves the bus.
    case later(@BusActor @Sendable () async throws(DBusError) -> Value)
}

/// One call to answer.
///
/// It gets exactly one reply: `Failed` if it is released without any.
@BusActor
public final class IncomingCall {
    /// The caller.
    public let peer: Peer
    /// The call itself, until it is answered later: then only what a reply needs.
    private(set) var message: Message
    private var isAnswered = false
    /// Whether what answers it later has begun.
    private var hasBegun = false
    /// Where it is counted until it is answered; nil: with its connection's calls alone.
    private var quota: (quota: CallQuota, kind: CallQuota.Kind)?
    /// What it makes the service hold meanwhile, in bytes.
    private var size = 0

    init(peer: Peer, message: Message) {
        self.peer = peer
        self.message = message
    }

    deinit {
        guard !isAnswered else { return }
        let message = message
        onLoop {
            let error = DBusError(.failed, "The call was not answered.")
            OutgoingMessage.reply(to: message, with: error)
        }
    }

    /// The caller's number of the call.
    public var serial: UInt32 { message.serial }

    /// The interface of the method, as the caller named it; empty: none.
    public var interface: String { message.interface ?? "" }

    /// The method that was called.
    public var member: String { message.member ?? "" }

    /// The object that was called.
    public var path: ObjectPath { ObjectPath(unchecked: message.path ?? "/") }

    /// Reads the arguments, whose signature must be exactly `signature`.
    ///
    /// - Throws: `InvalidArgs` when the signature differs, or a value is malformed or too large.
    public func read<Value>(
        _ signature: String,
        _ body: (inout MessageReader) throws(DBusError) -> Value
    ) throws(DBusError) -> Value {
        try message.read(signature) { (reader) throws(DBusError) in
            let value = try body(&reader)
            size += reader.size
            return value
        }
    }

    /// Says that it holds so many bytes more than its arguments until it is answered.
    public func hold(_ bytes: Int) {
        size += bytes
    }

    /// Has it counted as a call of some kind.
    ///
    /// - Throws: `LimitsExceeded` when it is one too many.
    func count(in quota: CallQuota, as kind: CallQuota.Kind) throws(DBusError) {
        try quota.check(kind, peer)
        // One that waits after all is at least a question.
        self.quota = (quota, kind == .immediate ? .question : kind)
    }

    private func begin() throws(DBusError) {
        guard let quota else {
            guard peer.mayWait else {
                throw DBusError(.limitsExceeded, "Too many calls of this connection wait.")
            }
            return
        }
        try quota.quota.begin(quota.kind, peer, bytes: size)
    }

    private func end() {
        guard let (quota, kind) = quota else { return }
        quota.end(kind, peer, bytes: size)
    }

    /// Answers now, or starts the task that will.
    ///
    /// The first answer counts.
    public func answer<Value>(
        _ answer: Answer<Value>,
        _ signature: String,
        _ encode:
            @escaping @Sendable @BusActor (Value, inout MessageWriter) throws(DBusError) -> Void
    ) {
        switch answer {
        case .now(let value):
            reply(value, signature, encode)
        case .later(let body):
            do throws(DBusError) {
                guard let slip = message.replySlip() else {
                    throw DBusError(.failed, "There is no memory for the call.")
                }
                try begin()
                hasBegun = true
                message = slip
            } catch {
                return fail(error)
            }
            peer.run {
                defer { self.end() }
                do throws(DBusError) {
                    self.reply(try await body(), signature, encode)
                } catch {
                    self.fail(error)
                }
            }
        }
    }

    /// Answers with an error.
    ///
    /// The first answer counts.
    public func fail(_ error: DBusError) {
        guard !isAnswered else { return }
        isAnswered = true
        if !hasBegun, let connection = peer.connection, let member = message.member {
            connection.onRefusal?(peer, member, error)
        }
        // Those who hold what is missing may have left.
        if error.name == .limitsExceeded { peer.connection?.doubtPeers() }
        OutgoingMessage.reply(to: message, with: error)
    }

    /// The runtime has sent the answer itself.
    func noteAnswered() {
        isAnswered = true
    }

    private func reply<Value>(
        _ value: Value,
        _ signature: String,
        _ encode: @BusActor (Value, inout MessageWriter) throws(DBusError) -> Void
    ) {
        guard !isAnswered else { return }
        isAnswered = true
        OutgoingMessage.reply(to: message, signature) {
            (writer: inout MessageWriter) throws(DBusError) in
            try encode(value, &writer)
        }
    }
}
