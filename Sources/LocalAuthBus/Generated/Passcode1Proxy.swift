// Made by dbus-codegen from dbus/org.localauth.Passcode1.xml. Do not edit.
public import DBus

/// Calls `org.localauth.Passcode1` of one object; the docs are at `Passcode1Service`.
@BusActor
public struct Passcode1Proxy: Sendable {
    private nonisolated static let interface = Passcode1.interface

    /// What the calls go over.
    public let connection: Connection

    /// The bus name that the calls go to.
    public let destination: String

    /// The object that the calls go to.
    public let path: ObjectPath

    /// Makes the proxy of an object; nothing is sent.
    public init(_ connection: Connection, destination: String, path: ObjectPath) {
        self.connection = connection
        self.destination = destination
        self.path = path
    }

    /// Says whether a user has a passcode.
    public func isSet(uid: UInt32, timeout: Duration? = nil) async throws(DBusError) -> Bool {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "IsSet",
            signature: "u",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
        }
        return try reply.read("b") { (reader) throws(DBusError) in
            try reader.read(Bool.self)
        }
    }

    /// Says whether a user who has no passcode can't have the same one again.
    public func isRemoved(uid: UInt32, timeout: Duration? = nil) async throws(DBusError) -> Bool {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "IsRemoved",
            signature: "u",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
        }
        return try reply.read("b") { (reader) throws(DBusError) in
            try reader.read(Bool.self)
        }
    }

    /// Opens a sealed password and says whether PAM accepts it.
    public func verify(
        uid: UInt32,
        prompt: String,
        sealed: [UInt8],
        timeout: Duration? = nil
    ) async throws(DBusError) -> Bool {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Verify",
            signature: "usay",
            isSensitive: true,
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(prompt)
            try writer.write(sealed)
        }
        return try reply.read("b") { (reader) throws(DBusError) in
            try reader.read(Bool.self)
        }
    }

    /// The verifier's public key, an X25519 point of 32 bytes.
    public func sealingKey() async throws(DBusError) -> [UInt8] {
        try await connection.property(
            "SealingKey",
            of: Self.interface,
            at: path,
            on: destination,
            as: [UInt8].self
        )
    }

    /// What IsSet says of a user may be another than before.
    ///
    /// The sender is a unique name; where it is left out, `destination` must be one.
    public func onChanged(
        sender: String? = nil,
        _ body: @escaping @BusActor (_ uid: UInt32) -> Void
    ) -> EventSource {
        connection.subscribe(
            sender: sender ?? destination,
            path: path,
            interface: Self.interface,
            member: "Changed",
            broadcast: true
        ) { message in
            let values = try? message.read("u") { (reader) throws(DBusError) in
                try reader.read(UInt32.self)
            }
            guard let values else { return }
            body(values)
        }
    }

    /// All properties with their present values.
    public func properties(timeout: Duration? = nil) async throws(DBusError) -> [String: Variant] {
        try await connection.properties(
            of: Self.interface,
            at: path,
            on: destination,
            timeout: timeout
        )
    }

    /// Tells what properties have changed, with the new values of some.
    ///
    /// The sender is a unique name; where it is left out, `destination` must be one. Without
    /// `broadcast` only what is sent to this connection by name is told.
    public func onPropertiesChanged(
        sender: String? = nil,
        broadcast: Bool = true,
        _ body: @escaping @BusActor (_ changed: [String: Variant], _ invalidated: [String]) -> Void
    ) -> EventSource {
        connection.onPropertiesChanged(
            of: Self.interface,
            at: path,
            sender: sender ?? destination,
            broadcast: broadcast,
            body
        )
    }
}
