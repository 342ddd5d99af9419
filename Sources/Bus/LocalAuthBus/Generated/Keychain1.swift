// Made by scripts/dbus-codegen from dbus/org.localauth.Keychain1.xml. Do not edit.
// swift-format-ignore-file
public import DBus

/// The names of `org.localauth.Keychain1`.
public enum Keychain1: BusInterface {
    /// The name of the interface.
    public static let interface = "org.localauth.Keychain1"
    /// The path of the object with it.
    public static let path = ObjectPath(trusted: "/org/localauth/Keychain1")
    /// The bus name of the program with the object.
    public static let busName = "org.localauth.Authentication1"
}

/// Secrets and keys that open only to the person they belong to.
/// The page org.localauth.Keychain1(5) has all of it.
@BusActor
public protocol Keychain1Service: AnyObject {
    /// Stores a secret, without a prompt; the reply is the id of the item.
    func add(attributes: [String: Variant], secret: [UInt8], accessControl: [String: Variant],
        options: [String: Variant], call: IncomingCall) throws(DBusError) -> Answer<String>
    /// Finds items by equality of attributes, without a prompt.
    func search(query: [String: Variant], options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<[[String: Variant]]>
    /// Returns the secret of an item, with a prompt if the item needs authentication.
    func read(id: String, reason: String, options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<[UInt8]>
    /// Finds items as Search does, and adds secrets that need no prompt.
    func readMatching(query: [String: Variant], options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<[[String: Variant]]>
    /// Changes attributes of an item, without a prompt.
    func update(id: String, attributes: [String: Variant], options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Replaces the secret of an item, without a prompt.
    func setSecret(id: String, secret: [UInt8], options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Deletes items for good, without a prompt, and returns their number.
    func delete(ids: [String], call: IncomingCall) throws(DBusError) -> Answer<UInt32>
    /// Makes a P-256 key whose private half never leaves the daemon.
    func createKey(attributes: [String: Variant], accessControl: [String: Variant],
        options: [String: Variant], call: IncomingCall) throws(DBusError) -> Answer<(id: String,
        publicKey: [UInt8])>
    /// Signs with a key, with a prompt if the key needs authentication.
    func sign(id: String, algorithm: String, data: [UInt8], reason: String,
        options: [String: Variant], call: IncomingCall) throws(DBusError) -> Answer<[UInt8]>
    /// Decrypts with a key and returns the plaintext.
    func decrypt(id: String, algorithm: String, data: [UInt8], reason: String,
        options: [String: Variant], call: IncomingCall) throws(DBusError) -> Answer<[UInt8]>
    /// Agrees on a secret with another key and returns it.
    func keyExchange(id: String, algorithm: String, publicKey: [UInt8], reason: String,
        options: [String: Variant], call: IncomingCall) throws(DBusError) -> Answer<[UInt8]>
    /// The daemon's public key, an X25519 point of 32 bytes, new at each start of the daemon.
    func sealingKey(for peer: Peer?) throws(DBusError) -> [UInt8]
}

/// Serves `org.localauth.Keychain1` by a `Keychain1Service`, which it keeps.
public struct Keychain1Interface: ServedInterface {
    private let service: any Keychain1Service
    /// Makes the adapter of a service.
    public init(_ service: any Keychain1Service) { self.service = service }
    /// The members, with their docs.
    public nonisolated static let description = InterfaceDescription(
        name: Keychain1.interface,
        doc: "Secrets and keys that open only to the person they belong to.",
        methods: [
            .init("Add", "a{sv} attributes, ay secret, a{sv} accessControl, a{sv} options",
                "s id", isSensitive: true,
                "Stores a secret, without a prompt; the reply is the id of the item."),
            .init("Search", "a{sv} query, a{sv} options", "aa{sv} items",
                "Finds items by equality of attributes, without a prompt."),
            .init("Read", "s id, s reason, a{sv} options", "ay secret", isSensitive: true,
                "Returns the secret of an item, with a prompt if the item needs "
                    + "authentication."),
            .init("ReadMatching", "a{sv} query, a{sv} options", "aa{sv} items", isSensitive: true,
                "Finds items as Search does, and adds secrets that need no prompt."),
            .init("Update", "s id, a{sv} attributes, a{sv} options", "",
                "Changes attributes of an item, without a prompt."),
            .init("SetSecret", "s id, ay secret, a{sv} options", "", isSensitive: true,
                "Replaces the secret of an item, without a prompt."),
            .init("Delete", "as ids", "u deleted",
                "Deletes items for good, without a prompt, and returns their number."),
            .init("CreateKey", "a{sv} attributes, a{sv} accessControl, a{sv} options",
                "s id, ay publicKey",
                "Makes a P-256 key whose private half never leaves the daemon."),
            .init("Sign", "s id, s algorithm, ay data, s reason, a{sv} options", "ay signature",
                "Signs with a key, with a prompt if the key needs authentication."),
            .init("Decrypt", "s id, s algorithm, ay data, s reason, a{sv} options",
                "ay plaintext", isSensitive: true,
                "Decrypts with a key and returns the plaintext."),
            .init("KeyExchange", "s id, s algorithm, ay publicKey, s reason, a{sv} options",
                "ay sharedSecret", isSensitive: true,
                "Agrees on a secret with another key and returns it."),
        ],
        signals: [
        ],
        properties: [
            .init("SealingKey", "ay", .constant,
                "The daemon's public key, an X25519 point of 32 bytes, new at each start "
                    + "of the daemon."),
        ]
    )
    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "Add":
            let input = try call.read("a{sv}aya{sv}a{sv}") { reader throws(DBusError) in
                (attributes: try reader.read([String: Variant].self),
                    secret: try reader.read([UInt8].self),
                    accessControl: try reader.read([String: Variant].self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.add(attributes: input.attributes, secret: input.secret,
                accessControl: input.accessControl, options: input.options, call: call)
            call.answer(answer, "s") { value, writer throws(DBusError) in try writer.write(value) }
        case "Search":
            let input = try call.read("a{sv}a{sv}") { reader throws(DBusError) in
                (query: try reader.read([String: Variant].self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.search(query: input.query, options: input.options, call: call)
            call.answer(answer, "aa{sv}") { value, writer throws(DBusError) in
                try writer.write(value)
            }
        case "Read":
            let input = try call.read("ssa{sv}") { reader throws(DBusError) in
                (id: try reader.read(String.self), reason: try reader.read(String.self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.read(id: input.id, reason: input.reason,
                options: input.options, call: call)
            call.answer(answer, "ay") { value, writer throws(DBusError) in try writer.write(value) }
        case "ReadMatching":
            let input = try call.read("a{sv}a{sv}") { reader throws(DBusError) in
                (query: try reader.read([String: Variant].self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.readMatching(query: input.query, options: input.options,
                call: call)
            call.answer(answer, "aa{sv}") { value, writer throws(DBusError) in
                try writer.write(value)
            }
        case "Update":
            let input = try call.read("sa{sv}a{sv}") { reader throws(DBusError) in
                (id: try reader.read(String.self),
                    attributes: try reader.read([String: Variant].self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.update(id: input.id, attributes: input.attributes,
                options: input.options, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "SetSecret":
            let input = try call.read("saya{sv}") { reader throws(DBusError) in
                (id: try reader.read(String.self), secret: try reader.read([UInt8].self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.setSecret(id: input.id, secret: input.secret,
                options: input.options, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "Delete":
            let input = try call.read("as") { reader throws(DBusError) in
                try reader.read([String].self)
            }
            let answer = try service.delete(ids: input, call: call)
            call.answer(answer, "u") { value, writer throws(DBusError) in try writer.write(value) }
        case "CreateKey":
            let input = try call.read("a{sv}a{sv}a{sv}") { reader throws(DBusError) in
                (attributes: try reader.read([String: Variant].self),
                    accessControl: try reader.read([String: Variant].self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.createKey(attributes: input.attributes,
                accessControl: input.accessControl, options: input.options, call: call)
            call.answer(answer, "say") { value, writer throws(DBusError) in
                try writer.write(value.id); try writer.write(value.publicKey)
            }
        case "Sign":
            let input = try call.read("ssaysa{sv}") { reader throws(DBusError) in
                (id: try reader.read(String.self), algorithm: try reader.read(String.self),
                    data: try reader.read([UInt8].self), reason: try reader.read(String.self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.sign(id: input.id, algorithm: input.algorithm,
                data: input.data, reason: input.reason, options: input.options, call: call)
            call.answer(answer, "ay") { value, writer throws(DBusError) in try writer.write(value) }
        case "Decrypt":
            let input = try call.read("ssaysa{sv}") { reader throws(DBusError) in
                (id: try reader.read(String.self), algorithm: try reader.read(String.self),
                    data: try reader.read([UInt8].self), reason: try reader.read(String.self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.decrypt(id: input.id, algorithm: input.algorithm,
                data: input.data, reason: input.reason, options: input.options, call: call)
            call.answer(answer, "ay") { value, writer throws(DBusError) in try writer.write(value) }
        case "KeyExchange":
            let input = try call.read("ssaysa{sv}") { reader throws(DBusError) in
                (id: try reader.read(String.self), algorithm: try reader.read(String.self),
                    publicKey: try reader.read([UInt8].self),
                    reason: try reader.read(String.self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.keyExchange(id: input.id, algorithm: input.algorithm,
                publicKey: input.publicKey, reason: input.reason, options: input.options,
                call: call)
            call.answer(answer, "ay") { value, writer throws(DBusError) in try writer.write(value) }
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }
    /// Writes the value of a property.
    public func get(_ property: String, for peer: Peer?, into writer: inout MessageWriter)
        throws(DBusError) {
        switch property {
        case "SealingKey": try writer.write(service.sealingKey(for: peer))
        default: throw DBusError(.unknownProperty, "There is no such property.")
        }
    }
    /// Reads the new value of a property and hands it to the service.
    public func set(_ property: String, from reader: inout MessageReader, by peer: Peer)
        throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}

/// Calls `org.localauth.Keychain1` of one object; the docs are at `Keychain1Service`.
public typealias Keychain1Proxy = Proxy<Keychain1>
extension Proxy<Keychain1> {
    /// Stores a secret, without a prompt; the reply is the id of the item.
    public func add(attributes: [String: Variant], secret: [UInt8],
        accessControl: [String: Variant], options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) -> String {
        try await call("Add", "a{sv}aya{sv}a{sv}", "s", isSensitive: true,
            timeout) { writer throws(DBusError) in
            try writer.write(attributes); try writer.write(secret)
            try writer.write(accessControl); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read(String.self) }
    }
    /// Finds items by equality of attributes, without a prompt.
    public func search(query: [String: Variant], options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) -> [[String: Variant]] {
        try await call("Search", "a{sv}a{sv}", "aa{sv}", timeout) { writer throws(DBusError) in
            try writer.write(query); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([[String: Variant]].self) }
    }
    /// Returns the secret of an item, with a prompt if the item needs authentication.
    public func read(id: String, reason: String, options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) -> [UInt8] {
        try await call("Read", "ssa{sv}", "ay", isSensitive: true,
            timeout) { writer throws(DBusError) in
            try writer.write(id); try writer.write(reason); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([UInt8].self) }
    }
    /// Finds items as Search does, and adds secrets that need no prompt.
    public func readMatching(query: [String: Variant], options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) -> [[String: Variant]] {
        try await call("ReadMatching", "a{sv}a{sv}", "aa{sv}", isSensitive: true,
            timeout) { writer throws(DBusError) in
            try writer.write(query); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([[String: Variant]].self) }
    }
    /// Changes attributes of an item, without a prompt.
    public func update(id: String, attributes: [String: Variant], options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("Update", "sa{sv}a{sv}", "", timeout) { writer throws(DBusError) in
            try writer.write(id); try writer.write(attributes); try writer.write(options)
        } read: { _ throws(DBusError) in }
    }
    /// Replaces the secret of an item, without a prompt.
    public func setSecret(id: String, secret: [UInt8], options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("SetSecret", "saya{sv}", "", isSensitive: true,
            timeout) { writer throws(DBusError) in
            try writer.write(id); try writer.write(secret); try writer.write(options)
        } read: { _ throws(DBusError) in }
    }
    /// Deletes items for good, without a prompt, and returns their number.
    public func delete(ids: [String], timeout: Duration? = nil) async throws(DBusError) -> UInt32 {
        try await call("Delete", "as", "u", timeout) { writer throws(DBusError) in
            try writer.write(ids)
        } read: { reader throws(DBusError) in try reader.read(UInt32.self) }
    }
    /// Makes a P-256 key whose private half never leaves the daemon.
    public func createKey(attributes: [String: Variant], accessControl: [String: Variant],
        options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) -> (id: String, publicKey: [UInt8]) {
        try await call("CreateKey", "a{sv}a{sv}a{sv}", "say", timeout) { writer throws(DBusError) in
            try writer.write(attributes); try writer.write(accessControl); try writer.write(options)
        } read: { reader throws(DBusError) in
            (id: try reader.read(String.self), publicKey: try reader.read([UInt8].self))
        }
    }
    /// Signs with a key, with a prompt if the key needs authentication.
    public func sign(id: String, algorithm: String, data: [UInt8], reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) -> [UInt8] {
        try await call("Sign", "ssaysa{sv}", "ay", timeout) { writer throws(DBusError) in
            try writer.write(id); try writer.write(algorithm); try writer.write(data)
            try writer.write(reason); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([UInt8].self) }
    }
    /// Decrypts with a key and returns the plaintext.
    public func decrypt(id: String, algorithm: String, data: [UInt8], reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) -> [UInt8] {
        try await call("Decrypt", "ssaysa{sv}", "ay", isSensitive: true,
            timeout) { writer throws(DBusError) in
            try writer.write(id); try writer.write(algorithm); try writer.write(data)
            try writer.write(reason); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([UInt8].self) }
    }
    /// Agrees on a secret with another key and returns it.
    public func keyExchange(id: String, algorithm: String, publicKey: [UInt8], reason: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) -> [UInt8] {
        try await call("KeyExchange", "ssaysa{sv}", "ay", isSensitive: true,
            timeout) { writer throws(DBusError) in
            try writer.write(id); try writer.write(algorithm); try writer.write(publicKey)
            try writer.write(reason); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([UInt8].self) }
    }
    /// The daemon's public key, an X25519 point of 32 bytes, new at each start of the daemon.
    public func sealingKey() async throws(DBusError) -> [UInt8] { try await get("SealingKey") }
}
