// Made by dbus-codegen from dbus/org.localauth.Keychain1.xml. Do not edit.
public import DBus
public import Linux

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
        secret: OwnedDescriptor,
        accessControl: [String: Variant],
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) -> String {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Add",
            signature: "a{sv}ha{sv}a{sv}",
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

    /// Sends the secret of an item as one packet into the receiver, before the reply.
    public func read(
        id: String,
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Read",
            signature: "shsa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(receiver)
            try writer.write(reason)
            try writer.write(options)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Read` and asks for no reply.
    public func sendRead(
        id: String,
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant]
    ) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Read",
            signature: "shsa{sv}"
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(receiver)
            try writer.write(reason)
            try writer.write(options)
        }
    }

    /// Starts `Read`, which is on its way when this returns: our copies of its descriptors can be
    /// closed before the reply comes.
    public func startRead(
        id: String,
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) throws(DBusError) -> PendingCall {
        try connection.startCall(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Read",
            signature: "shsa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(receiver)
            try writer.write(reason)
            try writer.write(options)
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
        secret: OwnedDescriptor,
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetSecret",
            signature: "sha{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(secret)
            try writer.write(options)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `SetSecret` and asks for no reply.
    public func sendSetSecret(id: String, secret: OwnedDescriptor, options: [String: Variant]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetSecret",
            signature: "sha{sv}"
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(secret)
            try writer.write(options)
        }
    }

    /// Starts `SetSecret`, which is on its way when this returns: our copies of its descriptors can
    /// be closed before the reply comes.
    public func startSetSecret(
        id: String,
        secret: OwnedDescriptor,
        options: [String: Variant],
        timeout: Duration? = nil
    ) throws(DBusError) -> PendingCall {
        try connection.startCall(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetSecret",
            signature: "sha{sv}",
            timeout: timeout
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

    /// Decrypts with a key and sends the plain text as one packet into the receiver.
    public func decrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Decrypt",
            signature: "ssayhsa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(algorithm)
            try writer.write(data)
            try writer.write(receiver)
            try writer.write(reason)
            try writer.write(options)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Decrypt` and asks for no reply.
    public func sendDecrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant]
    ) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Decrypt",
            signature: "ssayhsa{sv}"
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(algorithm)
            try writer.write(data)
            try writer.write(receiver)
            try writer.write(reason)
            try writer.write(options)
        }
    }

    /// Starts `Decrypt`, which is on its way when this returns: our copies of its descriptors can
    /// be closed before the reply comes.
    public func startDecrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) throws(DBusError) -> PendingCall {
        try connection.startCall(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Decrypt",
            signature: "ssayhsa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(algorithm)
            try writer.write(data)
            try writer.write(receiver)
            try writer.write(reason)
            try writer.write(options)
        }
    }

    /// Agrees on a secret with another key and sends it as one packet into the receiver.
    public func keyExchange(
        id: String,
        algorithm: String,
        publicKey: [UInt8],
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "KeyExchange",
            signature: "ssayhsa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(algorithm)
            try writer.write(publicKey)
            try writer.write(receiver)
            try writer.write(reason)
            try writer.write(options)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `KeyExchange` and asks for no reply.
    public func sendKeyExchange(
        id: String,
        algorithm: String,
        publicKey: [UInt8],
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant]
    ) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "KeyExchange",
            signature: "ssayhsa{sv}"
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(algorithm)
            try writer.write(publicKey)
            try writer.write(receiver)
            try writer.write(reason)
            try writer.write(options)
        }
    }

    /// Starts `KeyExchange`, which is on its way when this returns: our copies of its descriptors
    /// can be closed before the reply comes.
    public func startKeyExchange(
        id: String,
        algorithm: String,
        publicKey: [UInt8],
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) throws(DBusError) -> PendingCall {
        try connection.startCall(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "KeyExchange",
            signature: "ssayhsa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(algorithm)
            try writer.write(publicKey)
            try writer.write(receiver)
            try writer.write(reason)
            try writer.write(options)
        }
    }
}
