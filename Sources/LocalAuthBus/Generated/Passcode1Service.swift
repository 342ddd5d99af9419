// Made by dbus-codegen from dbus/org.localauth.Passcode1.xml. Do not edit.
public import DBus

/// The password verifier: asks PAM, so that the daemon never reads a password of a login.
///
/// Methods answer the daemon only: other callers get `org.freedesktop.DBus.Error.AccessDenied`. A
/// verifier that is not root answers an error for another user.
///
/// Source: R5, L10, L32.
@BusActor
public protocol Passcode1Service: AnyObject {
    /// Says whether a user has a passcode.
    ///
    /// Set when the user's shadow field is neither empty nor starts with an exclamation mark or an
    /// asterisk; a field that can't be read counts as set.
    ///
    /// Errors: `org.localauth.Passcode1.Error.Failed` for a user that does not exist or that this
    /// verifier can't serve; `org.freedesktop.DBus.Error.AccessDenied`.
    ///
    /// Source: R10, R11, L11b.
    func isSet(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool>

    /// Says whether a user who has no passcode can't have the same one again.
    ///
    /// The daemon asks where IsSet says no, because items that live only as long as there is a
    /// passcode are deleted with it, but are only hidden while an account is locked (`passwd -l`
    /// puts an exclamation mark before the hash, `passwd -u` takes it away).
    ///
    /// True when the user's shadow field has no hash: when nothing is left of it without leading
    /// exclamation marks and asterisks. False for a field that can't be read, and where the
    /// administrator said with `--passcode-set` how it is.
    ///
    /// A verifier without this member is one that never says so.
    ///
    /// Errors: as IsSet.
    ///
    /// Source: R69.
    func isRemoved(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool>

    /// Opens a sealed password and says whether PAM accepts it.
    ///
    /// `sealed` is HPKE (RFC 9180) for the property SealingKey: base mode, DHKEM(X25519,
    /// HKDF-SHA256), HKDF-SHA256, AES-256-GCM, info `org.localauth.Passcode1`, aad the handle of
    /// the prompt. `enc` (32 bytes) comes first, then the ciphertext.
    ///
    /// False means a wrong password: PAM_AUTH_ERR, PAM_MAXTRIES, or a plaintext that PAM cannot
    /// take (with a NUL, or over 511 bytes). The answer to a wrong password waits as long as PAM
    /// asks for. A user has one verification at a time, and PAM has 30 s for it.
    ///
    /// Errors, none of which is an attempt: `org.freedesktop.DBus.Error.InvalidArgs` when `sealed`
    /// does not open, or opens to nothing; `org.localauth.Passcode1.Error.Failed` when PAM gave no
    /// answer; `Canceled` when the verifier is ending; `org.freedesktop.DBus.Error.LimitsExceeded`
    /// when too many checks wait; `AccessDenied`.
    ///
    /// Source: R6, R8, L10, L32.
    func verify(
        uid: UInt32,
        prompt: String,
        sealed: [UInt8],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool>

    /// The verifier's public key, an X25519 point of 32 bytes.
    ///
    /// Prompts seal passwords to it.
    ///
    /// The key pair is new at each boot, and outlives a verifier that ends because it is idle.
    ///
    /// Source: L32.
    func sealingKey(for peer: Peer?) throws(DBusError) -> [UInt8]
}

/// Serves `org.localauth.Passcode1` by a `Passcode1Service`, which it keeps.
public struct Passcode1Interface: ServedInterface {
    private let service: any Passcode1Service

    /// Makes the adapter of a service.
    public init(_ service: any Passcode1Service) {
        self.service = service
    }

    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "IsSet": try isSet(call)
        case "IsRemoved": try isRemoved(call)
        case "Verify": try verify(call)
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }

    /// Writes the value of a property.
    public func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        switch property {
        case "SealingKey": try writer.write(service.sealingKey(for: peer))
        default: throw DBusError(.unknownProperty, "There is no such property.")
        }
    }

    /// Reads the new value of a property and hands it to the service.
    public func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }

    private func isSet(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
        let answer = try service.isSet(uid: input, call: call)
        call.answer(answer, "b") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func isRemoved(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
        let answer = try service.isRemoved(uid: input, call: call)
        call.answer(answer, "b") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func verify(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("usay") { (reader) throws(DBusError) in
            (
                uid: try reader.read(UInt32.self),
                prompt: try reader.read(String.self),
                sealed: try reader.read([UInt8].self)
            )
        }
        let answer = try service.verify(
            uid: input.uid,
            prompt: input.prompt,
            sealed: input.sealed,
            call: call
        )
        call.answer(answer, "b") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }
}

/// Sends the signals of `org.localauth.Passcode1` from one object.
@BusActor
public struct Passcode1Signals {
    private let connection: Connection
    private let path: ObjectPath

    /// Makes the sender of the object at a path.
    public init(_ connection: Connection, path: ObjectPath) {
        self.connection = connection
        self.path = path
    }

    /// What IsSet says of a user may be another than before.
    ///
    /// 4294967295 stands for every user. Sent when the shadow file was written or replaced, and not
    /// sent where the administrator said with `--passcode-set` how it is.
    ///
    /// The daemon answers CanEvaluate from what IsSet said last, and asks again after this signal.
    /// A bus may drop signals, so it also asks again behind its answers, and always before it
    /// decides anything.
    ///
    /// Source: L11b.
    public func changed(uid: UInt32, to destination: String? = nil) {
        connection.emit(
            path: path,
            interface: Passcode1.interface,
            member: "Changed",
            signature: "u",
            to: destination
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
        }
    }
}
