// Made by scripts/dbus-codegen from dbus/org.localauth.Passcode1.xml. Do not edit.
// swift-format-ignore-file
public import DBus

/// The names of `org.localauth.Passcode1`.
public enum Passcode1: BusInterface {
    /// The name of the interface.
    public static let interface = "org.localauth.Passcode1"
    /// The path of the object with it.
    public static let path = ObjectPath(trusted: "/org/localauth/Passcode1")
    /// The bus name of the program with the object.
    public static let busName = "org.localauth.Passcode1"
}

/// The password verifier: asks PAM, so that the daemon never reads a login password.
/// The page org.localauth.Passcode1(5) has all of it.
@BusActor
public protocol Passcode1Service: AnyObject {
    /// Returns whether a user has a password.
    func isSet(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool>
    /// Returns whether a user's missing password was removed, not only locked.
    func isRemoved(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool>
    /// Opens a sealed password and returns whether PAM accepts it.
    func verify(uid: UInt32, prompt: String, sealed: [UInt8],
        call: IncomingCall) throws(DBusError) -> Answer<Bool>
    /// The verifier's public key, an X25519 point of 32 bytes. Prompts seal passwords to it.
    func sealingKey(for peer: Peer?) throws(DBusError) -> [UInt8]
}

/// Serves `org.localauth.Passcode1` by a `Passcode1Service`, which it keeps.
public struct Passcode1Interface: ServedInterface {
    private let service: any Passcode1Service
    /// Makes the adapter of a service.
    public init(_ service: any Passcode1Service) { self.service = service }
    /// The members, with their docs.
    public nonisolated static let description = InterfaceDescription(
        name: Passcode1.interface,
        doc: "The password verifier: asks PAM, so that the daemon never reads a login "
            + "password.",
        methods: [
            .init("IsSet", "u uid", "b isSet",
                "Returns whether a user has a password."),
            .init("IsRemoved", "u uid", "b isRemoved",
                "Returns whether a user's missing password was removed, not only locked."),
            .init("Verify", "u uid, s prompt, ay sealed", "b isCorrect", isSensitive: true,
                "Opens a sealed password and returns whether PAM accepts it."),
        ],
        signals: [
            .init("Changed", "u uid",
                "The answer of IsSet for a user may have changed."),
        ],
        properties: [
            .init("SealingKey", "ay", .constant,
                "The verifier's public key, an X25519 point of 32 bytes. Prompts seal "
                    + "passwords to it."),
        ]
    )
    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "IsSet":
            let input = try call.read("u") { reader throws(DBusError) in
                try reader.read(UInt32.self)
            }
            let answer = try service.isSet(uid: input, call: call)
            call.answer(answer, "b") { value, writer throws(DBusError) in try writer.write(value) }
        case "IsRemoved":
            let input = try call.read("u") { reader throws(DBusError) in
                try reader.read(UInt32.self)
            }
            let answer = try service.isRemoved(uid: input, call: call)
            call.answer(answer, "b") { value, writer throws(DBusError) in try writer.write(value) }
        case "Verify":
            let input = try call.read("usay") { reader throws(DBusError) in
                (uid: try reader.read(UInt32.self), prompt: try reader.read(String.self),
                    sealed: try reader.read([UInt8].self))
            }
            let answer = try service.verify(uid: input.uid, prompt: input.prompt,
                sealed: input.sealed, call: call)
            call.answer(answer, "b") { value, writer throws(DBusError) in try writer.write(value) }
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

/// Sends the signals of `org.localauth.Passcode1` from one object.
public typealias Passcode1Signals = Signals<Passcode1>
extension Signals<Passcode1> {
    /// The answer of IsSet for a user may have changed.
    public func changed(uid: UInt32, to destination: String? = nil) {
        emit("Changed", "u", to: destination) { writer throws(DBusError) in try writer.write(uid) }
    }
}

/// Calls `org.localauth.Passcode1` of one object; the docs are at `Passcode1Service`.
public typealias Passcode1Proxy = Proxy<Passcode1>
extension Proxy<Passcode1> {
    /// Returns whether a user has a password.
    public func isSet(uid: UInt32, timeout: Duration? = nil) async throws(DBusError) -> Bool {
        try await call("IsSet", "u", "b", timeout) { writer throws(DBusError) in
            try writer.write(uid)
        } read: { reader throws(DBusError) in try reader.read(Bool.self) }
    }
    /// Returns whether a user's missing password was removed, not only locked.
    public func isRemoved(uid: UInt32, timeout: Duration? = nil) async throws(DBusError) -> Bool {
        try await call("IsRemoved", "u", "b", timeout) { writer throws(DBusError) in
            try writer.write(uid)
        } read: { reader throws(DBusError) in try reader.read(Bool.self) }
    }
    /// Opens a sealed password and returns whether PAM accepts it.
    public func verify(uid: UInt32, prompt: String, sealed: [UInt8],
        timeout: Duration? = nil) async throws(DBusError) -> Bool {
        try await call("Verify", "usay", "b", isSensitive: true,
            timeout) { writer throws(DBusError) in
            try writer.write(uid); try writer.write(prompt); try writer.write(sealed)
        } read: { reader throws(DBusError) in try reader.read(Bool.self) }
    }
    /// The verifier's public key, an X25519 point of 32 bytes. Prompts seal passwords to it.
    public func sealingKey() async throws(DBusError) -> [UInt8] { try await get("SealingKey") }
    /// The answer of IsSet for a user may have changed.
    public func onChanged(sender: String? = nil,
        _ body: @escaping @BusActor (_ uid: UInt32) -> Void)
        -> EventSource {
        subscribe("Changed", sender, broadcast: true) { message in
            let values = try? message.read("u") { reader throws(DBusError) in
                try reader.read(UInt32.self)
            }
            if let values { body(values) }
        }
    }
}
