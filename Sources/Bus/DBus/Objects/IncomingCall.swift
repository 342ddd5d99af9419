/// The answer of a service method.
public enum Answer<Value: Sendable>: Sendable {
    /// Replied in the turn in which the call is dispatched.
    case now(Value)
    /// Replied when the closure returns.
    ///
    /// Its task is canceled when the caller leaves the bus.
    case later(@BusActor @Sendable () async throws(DBusError) -> Value)
}

/// A call to answer.
///
/// The call gets exactly one reply: `Failed` if it is released without any.
@BusActor
public final class IncomingCall {
    public let peer: Peer
    /// The message, from which the reply is made.
    let message: Message
    private var isAnswered = false
    /// Whether the task that answers later has begun.
    private var hasBegun = false
    private var isSensitive = false
    /// The place among unanswered calls; without a guard, only the connection's calls are counted.
    var ticket: (any CallTicket)?
    /// Bytes that the service holds for the call until it is answered.
    private var size = 0
    /// Objects that are released after the call.
    private var kept: [any Sendable] = []

    init(peer: Peer, message: Message) {
        self.peer = peer
        self.message = message
    }

    deinit {
        guard !isAnswered else { return }
        let (message, peer) = (message, peer)
        onLoop {
            let error = DBusError(.failed, "The call was not answered.")
            OutgoingMessage.reply(to: message, with: error, on: peer.connection)
        }
    }

    /// The caller's number of the call.
    public var serial: UInt32 { message.serial }

    /// The interface of the method, as the caller named it, or empty.
    public var interface: String { message.interface ?? "" }

    public var member: String { message.member ?? "" }

    public var path: ObjectPath { ObjectPath(unchecked: message.path ?? "/") }

    /// Reads the arguments.
    ///
    /// Their signature must be exactly `signature`.
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

    /// Adds bytes, beside the arguments, that the call makes the service hold until it is answered.
    public func hold(_ bytes: Int) {
        size += bytes
    }

    /// Keeps an object for as long as the call, such as a secret in its arguments or reply.
    ///
    /// Bytes with two owners cannot be wiped: the second owner would get a copy.
    public func keep(_ object: any Sendable) {
        kept.append(object)
    }

    /// Makes sd-bus erase the message and the reply from memory after use, for secrets.
    func markSensitive() {
        isSensitive = true
        message.markSensitive()
    }

    private func begin() throws(DBusError) {
        guard let ticket else {
            guard peer.mayWait else {
                throw DBusError(.limitsExceeded, "Too many calls of this connection wait.")
            }
            return
        }
        try ticket.begin(bytes: size)
    }

    /// Answers now, or starts the task that will.
    ///
    /// Only the first answer counts.
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
                try begin()
                hasBegun = true
            } catch {
                return fail(error)
            }
            peer.run {
                defer { self.ticket?.end() }
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
    /// Only the first answer counts.
    public func fail(_ error: DBusError) {
        guard !isAnswered else { return }
        isAnswered = true
        if !hasBegun, let connection = peer.connection, let member = message.member {
            connection.onRefusal?(peer, member, error)
        }
        OutgoingMessage.reply(to: message, with: error, on: peer.connection)
    }

    /// Answers a call of a standard interface, or throws before any message is sent.
    func answer(
        _ signature: String,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try send(signature, encode)
        isAnswered = true
    }

    private func send(
        _ signature: String,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard !peer.hasLeft else { return }
        try OutgoingMessage.reply(
            to: message,
            signature,
            isSensitive: isSensitive,
            on: peer.connection,
            encode
        )
    }

    private func reply<Value>(
        _ value: Value,
        _ signature: String,
        _ encode: @BusActor (Value, inout MessageWriter) throws(DBusError) -> Void
    ) {
        guard !isAnswered else { return }
        isAnswered = true
        do throws(DBusError) {
            try send(signature) { (writer) throws(DBusError) in try encode(value, &writer) }
        } catch {
            let isTooLarge = error.name == .limitsExceeded
            let failed = DBusError(.failed, "The answer cannot be sent.")
            OutgoingMessage.reply(
                to: message,
                with: isTooLarge ? error : failed,
                on: peer.connection
            )
        }
    }
}
