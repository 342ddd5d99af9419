public import DBus

/// The name of an interface.
///
/// The generated types of each interface extend it.
public protocol BusInterface: Sendable {
    static var interface: String { get }
}

/// Calls an interface of an object on the bus.
@BusActor
public struct Proxy<Interface: BusInterface>: Sendable {
    public let connection: Connection
    public let destination: String
    public let path: ObjectPath

    /// Creates the proxy of an object without sending a message.
    public init(_ connection: Connection, destination: String, path: ObjectPath) {
        self.connection = connection
        self.destination = destination
        self.path = path
    }

    func call<Output>(
        _ member: String,
        _ input: String,
        _ output: String,
        isSensitive: Bool = false,
        _ timeout: Duration?,
        _ write: (inout MessageWriter) throws(DBusError) -> Void,
        read: (inout MessageReader) throws(DBusError) -> Output
    ) async throws(DBusError) -> Output {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Interface.interface,
            member: member,
            signature: input,
            isSensitive: isSensitive,
            timeout: timeout,
            write
        )
        return try reply.read(output, read)
    }

    func send(
        _ member: String,
        _ input: String,
        isSensitive: Bool = false,
        _ write: (inout MessageWriter) throws(DBusError) -> Void
    ) {
        connection.send(
            to: destination,
            path: path,
            interface: Interface.interface,
            member: member,
            signature: input,
            isSensitive: isSensitive,
            write
        )
    }

    func stream<Output: Sendable>(
        _ member: String,
        _ input: String,
        _ output: String,
        _ match: StreamMatch,
        _ write: (inout MessageWriter) throws(DBusError) -> Void,
        read: @escaping @BusActor (inout MessageReader) throws(DBusError) -> Output
    ) throws(DBusError) -> StreamingCall<Output> {
        try connection.stream(
            to: destination,
            path: path,
            interface: Interface.interface,
            member: member,
            signature: input,
            matching: match,
            write
        ) { (reply) throws(DBusError) in
            try reply.read(output) { (reader) throws(DBusError) in try read(&reader) }
        }
    }

    func subscribe(
        _ member: String,
        _ sender: String?,
        broadcast: Bool,
        _ body: @escaping @BusActor (Message) -> Void
    ) -> EventSource {
        connection.subscribe(
            sender: sender ?? destination,
            path: path,
            interface: Interface.interface,
            member: member,
            broadcast: broadcast,
            body
        )
    }

    func get<Value: WireType>(_ property: String) async throws(DBusError) -> Value {
        try await connection.property(
            property,
            of: Interface.interface,
            at: path,
            on: destination,
            as: Value.self
        )
    }

    func set(_ property: String, to value: some WireType) async throws(DBusError) {
        try await connection.setProperty(
            property,
            of: Interface.interface,
            at: path,
            on: destination,
            to: value
        )
    }

    /// Returns all properties with their present values.
    public func properties(timeout: Duration? = nil) async throws(DBusError) -> [String: Variant] {
        try await connection.properties(
            of: Interface.interface,
            at: path,
            on: destination,
            timeout: timeout
        )
    }

    /// Calls `body` when properties have changed, with the new values of some.
    ///
    /// `sender` must be a unique name. Without it, `destination` must be a unique name. Without
    /// `broadcast`, only signals sent to this connection by name arrive.
    public func onPropertiesChanged(
        sender: String? = nil,
        broadcast: Bool = true,
        _ body: @escaping @BusActor (_ changed: [String: Variant], _ invalidated: [String]) -> Void
    ) -> EventSource {
        connection.onPropertiesChanged(
            of: Interface.interface,
            at: path,
            sender: sender ?? destination,
            broadcast: broadcast,
            body
        )
    }
}

@BusActor
public struct Signals<Interface: BusInterface> {
    private let connection: Connection
    private let path: ObjectPath

    public init(_ connection: Connection, path: ObjectPath) {
        self.connection = connection
        self.path = path
    }

    func emit(
        _ member: String,
        _ signature: String,
        to destination: String?,
        _ write: (inout MessageWriter) throws(DBusError) -> Void
    ) {
        connection.emit(
            path: path,
            interface: Interface.interface,
            member: member,
            signature: signature,
            to: destination,
            write
        )
    }
}
