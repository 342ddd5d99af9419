// Made by dbus-codegen from dbus/org.localauth.Keychain1.xml. Do not edit.
public import DBus

/// Calls `org.localauth.Keychain1` of one object; the docs are at `Keychain1Service`.
@BusActor
public struct Keychain1Proxy: Sendable {
    private nonisolated static let interface = Keychain1.interface

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

    /// Stores a secret, without a prompt; the reply is the id of the item.
    public func add(
        attributes: [String: Variant],
        secret: [UInt8],
        accessControl: [String: Variant],
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) -> String {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Add",
            signature: "a{sv}aya{sv}a{sv}",
            isSensitive: true,
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(attributes)
            try writer.write(secret)
            try writer.write(accessControl)
            try writer.write(options)
        }
        return try reply.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
    }

    /// Finds items by equality of attributes, without a prompt.
    public func search(
        query: [String: Variant],
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) -> [[String: Variant]] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Search",
            signature: "a{sv}a{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(query)
            try writer.write(options)
        }
        return try reply.read("aa{sv}") { (reader) throws(DBusError) in
            try reader.read([[String: Variant]].self)
        }
    }

    /// Returns the secret of an item.
    public func read(
        id: String,
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) -> [UInt8] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Read",
            signature: "ssa{sv}",
            isSensitive: true,
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(reason)
            try writer.write(options)
        }
        return try reply.read("ay") { (reader) throws(DBusError) in
            try reader.read([UInt8].self)
        }
    }

    /// Changes attributes of an item, without a prompt.
    public func update(
        id: String,
        attributes: [String: Variant],
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Update",
            signature: "sa{sv}a{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(attributes)
            try writer.write(options)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Update` and asks for no reply.
    public func sendUpdate(id: String, attributes: [String: Variant], options: [String: Variant]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Update",
            signature: "sa{sv}a{sv}"
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(attributes)
            try writer.write(options)
        }
    }

    /// Replaces the secret of an item, without a prompt.
    public func setSecret(
        id: String,
        secret: [UInt8],
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetSecret",
            signature: "saya{sv}",
            isSensitive: true,
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(secret)
            try writer.write(options)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `SetSecret` and asks for no reply.
    public func sendSetSecret(id: String, secret: [UInt8], options: [String: Variant]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetSecret",
            signature: "saya{sv}",
            isSensitive: true
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(secret)
            try writer.write(options)
        }
    }

    /// Deletes items for good, without a prompt, and says how many there were.
    public func delete(ids: [String], timeout: Duration? = nil) async throws(DBusError) -> UInt32 {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Delete",
            signature: "as",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(ids)
        }
        return try reply.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
    }

    /// Makes a P-256 key whose private half never leaves the daemon.
    public func createKey(
        attributes: [String: Variant],
        accessControl: [String: Variant],
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) -> (id: String, publicKey: [UInt8]) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "CreateKey",
            signature: "a{sv}a{sv}a{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(attributes)
            try writer.write(accessControl)
            try writer.write(options)
        }
        return try reply.read("say") { (reader) throws(DBusError) in
            (id: try reader.read(String.self), publicKey: try reader.read([UInt8].self))
        }
    }

    /// Signs with a key; prompts when the key needs it.
    public func sign(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) -> [UInt8] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Sign",
            signature: "ssaysa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(algorithm)
            try writer.write(data)
            try writer.write(reason)
            try writer.write(options)
        }
        return try reply.read("ay") { (reader) throws(DBusError) in
            try reader.read([UInt8].self)
        }
    }

    /// Decrypts with a key and returns the plain text.
    public func decrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) -> [UInt8] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Decrypt",
            signature: "ssaysa{sv}",
            isSensitive: true,
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(algorithm)
            try writer.write(data)
            try writer.write(reason)
            try writer.write(options)
        }
        return try reply.read("ay") { (reader) throws(DBusError) in
            try reader.read([UInt8].self)
        }
    }

    /// Agrees on a secret with another key and returns it.
    public func keyExchange(
        id: String,
        algorithm: String,
        publicKey: [UInt8],
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) -> [UInt8] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "KeyExchange",
            signature: "ssaysa{sv}",
            isSensitive: true,
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(algorithm)
            try writer.write(publicKey)
            try writer.write(reason)
            try writer.write(options)
        }
        return try reply.read("ay") { (reader) throws(DBusError) in
            try reader.read([UInt8].self)
        }
    }

    /// The daemon's public key, an X25519 point of 32 bytes, new at each start of the daemon.
    public func sealingKey() async throws(DBusError) -> [UInt8] {
        try await connection.property(
            "SealingKey",
            of: Self.interface,
            at: path,
            on: destination,
            as: [UInt8].self
        )
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
