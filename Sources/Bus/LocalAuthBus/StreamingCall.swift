public import DBus

/// An event of a call with progress.
public struct StreamEvent: Sendable, Hashable {
    /// The kind of the event; receivers ignore unknown kinds.
    public let kind: String
    public let detail: [String: Variant]

    public init(kind: String, detail: [String: Variant]) {
        self.kind = kind
        self.detail = detail
    }
}

/// Selects the `Event` signals that belong to a call with progress.
public enum StreamMatch: Sendable, Hashable {
    /// `Event(s kind, a{sv} detail)` from the object that was called.
    case path
    /// As ``path``, if `call` in the detail is the serial of the call.
    case call
    /// `Event(t operation, s kind, a{sv} detail)` with this operation.
    case operation(UInt64)
}

/// A call with progress: events while it runs, then one reply.
@BusActor
public final class StreamingCall<Value: Sendable> {
    /// Events until the reply.
    ///
    /// At most 1024 wait to be read; further events replace the oldest.
    public nonisolated let events: AsyncStream<StreamEvent>
    private let pending: PendingCall
    private let decode: @BusActor (Message) throws(DBusError) -> Value

    init(
        _ pending: PendingCall,
        events: AsyncStream<StreamEvent>,
        decode: @escaping @BusActor (Message) throws(DBusError) -> Value
    ) {
        self.pending = pending
        self.events = events
        self.decode = decode
    }

    /// The serial of the call on its connection.
    public var serial: UInt32 { pending.serial }

    /// Waits for the reply.
    ///
    /// Canceling the waiting task cancels the call.
    ///
    /// - Throws: As ``PendingCall/reply()``, and `InvalidArgs` for a reply of another type.
    public func reply() async throws(DBusError) -> Value {
        try decode(try await pending.reply())
    }

    /// Stops waiting, and ends the events.
    ///
    /// The other side is not told.
    public func cancel() {
        pending.cancel()
    }
}

extension Connection {
    /// Starts a call, and collects the events that come before its reply.
    ///
    /// - Throws: `InvalidArgs` unless `destination` is a unique name.
    public func stream<Value: Sendable>(
        to destination: String,
        path: ObjectPath,
        interface: String,
        member: String,
        signature: String = "",
        matching match: StreamMatch,
        timeout: Duration? = Connection.noTimeout,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in },
        reply decode: @escaping @BusActor (Message) throws(DBusError) -> Value
    ) throws(DBusError) -> StreamingCall<Value> {
        guard destination.hasPrefix(":") else {
            throw DBusError(.invalidArgs, "Events are followed from a unique name only.")
        }
        let (events, feed) = AsyncStream.makeStream(
            of: StreamEvent.self,
            bufferingPolicy: .bufferingNewest(1024)
        )
        let pending = try startCall(
            to: destination,
            path: path,
            interface: interface,
            member: member,
            signature: signature,
            timeout: timeout,
            encode
        )
        let subscription = subscribe(
            sender: destination,
            path: path,
            interface: interface,
            member: "Event",
            broadcast: false
        ) { [weak pending] message in
            if let pending, let event = match.event(in: message, of: pending.serial) {
                feed.yield(event)
            }
        }
        pending.onEnd { _ in
            subscription.cancel()
            feed.finish()
        }
        return StreamingCall(pending, events: events, decode: decode)
    }
}

extension StreamMatch {
    /// Returns nil for a malformed signal, or a signal of another call.
    @BusActor
    fileprivate func event(in message: Message, of serial: UInt32) -> StreamEvent? {
        switch self {
        case .path:
            return Self.plain(message)
        case .call:
            guard let event = Self.plain(message), event.detail["call"] == .uint32(serial)
            else { return nil }
            return event
        case .operation(let expected):
            return try? message.read("tsa{sv}") { (reader) throws(DBusError) in
                let operation = try reader.read(UInt64.self)
                let event = try StreamEvent(
                    kind: reader.read(String.self),
                    detail: reader.read([String: Variant].self)
                )
                return operation == expected ? event : nil
            }
        }
    }

    @BusActor
    private static func plain(_ message: Message) -> StreamEvent? {
        try? message.read("sa{sv}") { (reader) throws(DBusError) in
            try StreamEvent(
                kind: reader.read(String.self),
                detail: reader.read([String: Variant].self)
            )
        }
    }
}
