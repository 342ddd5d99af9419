// Made by dbus-codegen from dbus/org.localauth.Keychain1.xml. Do not edit.
public import DBus

/// Secrets and keys that open only to the person they belong to.
///
/// Items belong to the caller's user. A sandboxed app with a `sandbox-id` sees, changes and deletes
/// items of the access group `sandbox.` followed by that id, and no others; a sandboxed caller
/// without an id gets `org.freedesktop.DBus.Error.AccessDenied`. Programs outside sandboxes see all
/// items of their user, and make or move none in such a group (AccessDenied).
///
/// A secret is a byte array of at most 64 KiB, plain or sealed. Sealing is HPKE (RFC 9180): base
/// mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, info `org.localauth.Keychain1`, aad
/// the caller's unique bus name. A sealed value is `enc` (32 bytes) followed by the ciphertext (16
/// bytes longer than the secret).
///
/// To the daemon: the option `sealed` (b) says that the value is sealed to the property SealingKey.
/// From the daemon: the option `seal-to` (ay, 32 bytes, the caller's X25519 public key) has the
/// reply sealed to that key. A plain secret lies in the bus's memory for a moment; on the system
/// bus only root can monitor.
///
/// Attributes:
/// - `class` (s, `genp`, `inet` or `keys`)
/// - `svce`, `acct`, `labl`, `desc`, `icmt`, `srvr`, `sdmn`, `ptcl`, `atyp`, `path`, `agrp`, `vwht`
///   (s)
/// - `gena`, `atag` (ay)
/// - `port`, `type`, `crtr` (u)
/// - `invi`, `nega`, `sync` (b; an item without `sync` is found by `sync` false)
/// - `form` (s): a note of the client, which the service doesn't read
/// - of keys: `klbl` (ay), `kcls`, `bsiz`, `esiz` (u), `sdat`, `edat` (x), `tkid` (s), `encr`,
///   `decr`, `drve`, `sign`, `vrfy`, `wrap`, `unwp`, `perm`, `sens`, `extr` (b); a key that is made
///   here has `klbl` (the SHA-1 of the point), `kcls` 1, `type` 73, `bsiz` and `esiz` 256 where
///   they were not given
/// - `pdmn` (s, the words of `accessible` below; of a new item only without an access control)
/// - added by the daemon: `id` (s), `cdat` and `mdat` (x, Unix seconds), `pdmn` where it was not
///   given, `flags` (t, as below), and of a key `public-key` (ay, the X9.63 point); the last two
///   are not for queries
///
/// Primary keys: `genp` agrp, svce, acct; `inet` agrp, srvr, acct, sdmn, ptcl, atyp, port, path;
/// `keys` agrp, atag. To these belong `sync`, and of keys `klbl`, `crtr`, `type`, `bsiz`, `esiz`,
/// `sdat`, `edat` and `kcls`, where an item was given them. An access group keeps the items of one
/// program apart from those of another; it is what the caller says, and protects nothing.
///
/// Access control:
/// - `flags` (t, the SecAccessControlCreateFlags bits, default 0: no authentication)
/// - `accessible` (s, `ak`, `ck`, `aku`, `cku` or `akpu`, default `ak`; `dk` and `dku` read as
///   `ak`)
///
/// Calls that may prompt take a `reason` as Evaluate does, needed only where a prompt is shown, are
/// made without a timeout of the bus library, and have these options:
/// - `context` (o, an evaluated context that satisfies the item needs no prompt; another one is
///   prompted on)
/// - `timeout` (t, milliseconds, default 120000, 0 is the default, at most 600000)
/// - `interaction-not-allowed` (b, default false)
///
/// Calls of one user are served one at a time, in order, and `timeout` doesn't count that wait. One
/// too many is `org.freedesktop.DBus.Error.LimitsExceeded`: of Read, Sign, Decrypt and KeyExchange,
/// together with evaluations, 8 of a connection and 64 of a user may be unanswered (by default); of
/// all else 64 and 256, together with what is asked of other interfaces.
///
/// Errors map to OSStatus: Duplicate -25299, NotFound -25300, AuthFailed -25293,
/// InteractionNotAllowed -25308, UserCanceled -128, Parameter -50, Decode -26275, NotAvailable
/// -25291.
///
/// Source: R35, R36, R60 to R71, L8, L18, L32, L36.
@BusActor
public protocol Keychain1Service: AnyObject {
    /// Stores a secret, without a prompt; the reply is the id of the item.
    ///
    /// `secret` has at most 64 KiB, and 48 bytes more where it is sealed; it may be empty.
    ///
    /// Options: `sealed` (b, default false); `context` (o, gives the application password of an
    /// item with that flag); `replaces` (s, the id of an item of the caller, which the new item
    /// replaces in one change: if the new one can't be stored, the old one stays as it is; both may
    /// have the same primary key); `in-place` (b, default false, only with `replaces`: the new item
    /// has the id of that one); `created` (x, Unix seconds, the `cdat` of the item; now);
    /// `key-material` (b, default false: the secret is that of a key which the caller has; `class`
    /// is `keys`, and the item is read and changed as any other secret; Sign, Decrypt and
    /// KeyExchange don't use it).
    ///
    /// Errors: `org.localauth.Keychain1.Error.Duplicate` when another item with this primary key
    /// exists; `NotFound` when the one to replace isn't there; `Parameter` for attributes or flags
    /// that don't go together, and for a sealed secret that does not open; `NotAvailable` for
    /// `akpu` without a passcode; `org.freedesktop.DBus.Error.LimitsExceeded` for a larger secret
    /// or more than 20000 items a user (configurable).
    ///
    /// Source: R60 to R66, R69, R70, L18.
    func add(
        attributes: [String: Variant],
        secret: [UInt8],
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String>

    /// Finds items by equality of attributes, without a prompt.
    ///
    /// The reply has the attributes and the id of each item, never a secret. An empty query lists
    /// all items of the user; none found is an empty list. Items are ordered by `cdat`, and within
    /// one second by when they were added; changing an item doesn't move it.
    ///
    /// Options: `skip-authenticated` (b, default false: leaves out items that need authentication).
    ///
    /// Errors: `org.localauth.Keychain1.Error.Parameter`, `NotAvailable`;
    /// `org.freedesktop.DBus.Error.LimitsExceeded` when what is found has more than 8 MiB of
    /// attributes: a narrower query finds it in parts.
    ///
    /// Source: R66, R68.
    func search(
        query: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[[String: Variant]]>

    /// Returns the secret of an item.
    ///
    /// Prompts when the item needs it.
    ///
    /// Options: `seal-to` (ay, as above); `context` (o, an evaluated context), and those of
    /// Context1.Evaluate but for `fallback-title`: `timeout`, `interaction-not-allowed`,
    /// `cancel-title`, `reuse-duration`, `sensors`, `minimum-strength`, `require-confirmation`,
    /// `parent-window`, `activation-token`; `requester` (a{sv}, as in
    /// Context1.EvaluateAccessControl).
    ///
    /// Errors: `org.localauth.Keychain1.Error.NotFound` (also for an item of `biometryCurrentSet`
    /// after a change of the enrolment), `AuthFailed` (no match, lockout, no usable biometry, an
    /// invalid context, a wrong application password), `UserCanceled` (also for a deadline),
    /// `InteractionNotAllowed`, `Decode`, `NotAvailable`, `Parameter` for a `seal-to` that is no
    /// key, before any prompt; `org.freedesktop.DBus.Error.LimitsExceeded`.
    ///
    /// Source: R35, R36, R66 to R68, R71.
    func read(
        id: String,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]>

    /// Changes attributes of an item, without a prompt.
    ///
    /// Attributes that are not given stay.
    ///
    /// Options: `keep` (b, default false: a key that was made with `temporary` stays from now on,
    /// as if it had been made without; it changes nothing of another item).
    ///
    /// Errors: `org.localauth.Keychain1.Error.NotFound`; `Duplicate` when the new primary key is
    /// taken; `Parameter`; `NotAvailable`.
    ///
    /// Source: R66.
    func update(
        id: String,
        attributes: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Replaces the secret of an item, without a prompt.
    ///
    /// `secret` has at most 64 KiB, and 48 bytes more where it is sealed; it may be empty.
    ///
    /// Options: `sealed` (b, default false); `context` (o, gives the application password of an
    /// item with that flag); `attributes` (a{sv}, changed as by Update, in one change with the
    /// secret: both or neither).
    ///
    /// Errors: `org.localauth.Keychain1.Error.NotFound`, `AuthFailed`, `Parameter` (also for a
    /// sealed secret that does not open), `NotAvailable`, `Duplicate` when the new primary key is
    /// taken; `org.freedesktop.DBus.Error.LimitsExceeded`.
    ///
    /// Source: R66, L18.
    func setSecret(
        id: String,
        secret: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Deletes items for good, without a prompt, and says how many there were.
    ///
    /// Ids that are unknown are not counted and no error.
    ///
    /// Source: R66.
    func delete(ids: [String], call: IncomingCall) throws(DBusError) -> Answer<UInt32>

    /// Makes a P-256 key whose private half never leaves the daemon.
    ///
    /// `class` may be absent, or is `keys`. `publicKey` is the X9.63 point, uncompressed (65
    /// bytes). An empty `klbl` becomes its SHA-1: then the key is another one than any with the
    /// same tag.
    ///
    /// Options: `context` (o, gives the application password of a key with that flag) · `temporary`
    /// (b, default false: the key is deleted when the caller leaves the bus, and Search doesn't
    /// find it, until Update is told to `keep` it; one stays if the service ends first).
    ///
    /// Errors: `org.localauth.Keychain1.Error.Duplicate`, `Parameter`, `NotAvailable`;
    /// `org.freedesktop.DBus.Error.LimitsExceeded`.
    ///
    /// Source: R66, L18.
    func createKey(
        attributes: [String: Variant],
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<(id: String, publicKey: [UInt8])>

    /// Signs with a key; prompts when the key needs it.
    ///
    /// `algorithm` is `ecdsa-message-sha256` (`data` is the message) or `ecdsa-digest-sha256`
    /// (`data` is the digest, 32 bytes). The signature is X9.62 DER.
    ///
    /// Options: `context` (o, an evaluated context), and those of Context1.Evaluate but for
    /// `fallback-title`: `timeout`, `interaction-not-allowed`, `cancel-title`, `reuse-duration`,
    /// `sensors`, `minimum-strength`, `require-confirmation`, `parent-window`, `activation-token`;
    /// `requester` (a{sv}, as in Context1.EvaluateAccessControl).
    ///
    /// Errors: `org.localauth.Keychain1.Error.Parameter` for an unknown algorithm or a digest of
    /// another length; else those of Read.
    ///
    /// Source: R66.
    func sign(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]>

    /// Decrypts with a key and returns the plain text.
    ///
    /// `algorithm` is `ecies-cofactor-x963-sha256-aesgcm`: ECIES, cofactor, X9.63 with SHA-256,
    /// AES-GCM with a variable IV. `data` is the sender's X9.63 point (65 bytes), the encrypted
    /// bytes and a tag of 16 bytes; that point is the shared info of the key derivation, whose 32
    /// bytes are the AES key and the IV, 16 each.
    ///
    /// Options: `seal-to` (ay, as above); `context` (o, an evaluated context), and those of
    /// Context1.Evaluate but for `fallback-title`: `timeout`, `interaction-not-allowed`,
    /// `cancel-title`, `reuse-duration`, `sensors`, `minimum-strength`, `require-confirmation`,
    /// `parent-window`, `activation-token`; `requester` (a{sv}, as in
    /// Context1.EvaluateAccessControl).
    ///
    /// Errors: `org.localauth.Keychain1.Error.Parameter` for an unknown algorithm; `Decode` for
    /// data that doesn't decrypt; else those of Read.
    ///
    /// Source: R66.
    func decrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]>

    /// Agrees on a secret with another key and returns it.
    ///
    /// `algorithm` is `ecdh` or `ecdh-x963-sha256`; `publicKey` is the other side's X9.63 point.
    ///
    /// Options:
    /// - `shared-info` (ay, default empty), with `ecdh-x963-sha256`
    /// - `size` (u, bytes of the secret, 1 to 1024, default 32), with `ecdh-x963-sha256`
    /// - those of Read
    ///
    /// Errors: `org.localauth.Keychain1.Error.Parameter` for an unknown algorithm, a size out of
    /// range or a point that is not on the curve; else those of Read.
    ///
    /// Source: R66.
    func keyExchange(
        id: String,
        algorithm: String,
        publicKey: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]>

    /// The daemon's public key, an X25519 point of 32 bytes, new at each start of the daemon.
    ///
    /// Secrets for the daemon are sealed to it: Add, SetSecret, SetCredential and SubmitPassword.
    ///
    /// Source: L32.
    func sealingKey(for peer: Peer?) throws(DBusError) -> [UInt8]
}

/// Serves `org.localauth.Keychain1` by a `Keychain1Service`, which it keeps.
public struct Keychain1Interface: ServedInterface {
    private let service: any Keychain1Service

    /// Makes the adapter of a service.
    public init(_ service: any Keychain1Service) {
        self.service = service
    }

    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "Add": try add(call)
        case "Search": try search(call)
        case "Read": try read(call)
        case "Update": try update(call)
        case "SetSecret": try setSecret(call)
        case "Delete": try delete(call)
        case "CreateKey": try createKey(call)
        case "Sign": try sign(call)
        case "Decrypt": try decrypt(call)
        case "KeyExchange": try keyExchange(call)
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

    private func add(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("a{sv}aya{sv}a{sv}") { (reader) throws(DBusError) in
            (
                attributes: try reader.read([String: Variant].self),
                secret: try reader.read([UInt8].self),
                accessControl: try reader.read([String: Variant].self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.add(
            attributes: input.attributes,
            secret: input.secret,
            accessControl: input.accessControl,
            options: input.options,
            call: call
        )
        call.answer(answer, "s") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func search(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("a{sv}a{sv}") { (reader) throws(DBusError) in
            (
                query: try reader.read([String: Variant].self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.search(query: input.query, options: input.options, call: call)
        call.answer(answer, "aa{sv}") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func read(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("ssa{sv}") { (reader) throws(DBusError) in
            (
                id: try reader.read(String.self),
                reason: try reader.read(String.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.read(
            id: input.id,
            reason: input.reason,
            options: input.options,
            call: call
        )
        call.answer(answer, "ay") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func update(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("sa{sv}a{sv}") { (reader) throws(DBusError) in
            (
                id: try reader.read(String.self),
                attributes: try reader.read([String: Variant].self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.update(
            id: input.id,
            attributes: input.attributes,
            options: input.options,
            call: call
        )
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func setSecret(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("saya{sv}") { (reader) throws(DBusError) in
            (
                id: try reader.read(String.self),
                secret: try reader.read([UInt8].self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.setSecret(
            id: input.id,
            secret: input.secret,
            options: input.options,
            call: call
        )
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func delete(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("as") { (reader) throws(DBusError) in
            try reader.read([String].self)
        }
        let answer = try service.delete(ids: input, call: call)
        call.answer(answer, "u") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func createKey(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("a{sv}a{sv}a{sv}") { (reader) throws(DBusError) in
            (
                attributes: try reader.read([String: Variant].self),
                accessControl: try reader.read([String: Variant].self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.createKey(
            attributes: input.attributes,
            accessControl: input.accessControl,
            options: input.options,
            call: call
        )
        call.answer(answer, "say") { (value, writer) throws(DBusError) in
            try writer.write(value.id)
            try writer.write(value.publicKey)
        }
    }

    private func sign(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("ssaysa{sv}") { (reader) throws(DBusError) in
            (
                id: try reader.read(String.self),
                algorithm: try reader.read(String.self),
                data: try reader.read([UInt8].self),
                reason: try reader.read(String.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.sign(
            id: input.id,
            algorithm: input.algorithm,
            data: input.data,
            reason: input.reason,
            options: input.options,
            call: call
        )
        call.answer(answer, "ay") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func decrypt(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("ssaysa{sv}") { (reader) throws(DBusError) in
            (
                id: try reader.read(String.self),
                algorithm: try reader.read(String.self),
                data: try reader.read([UInt8].self),
                reason: try reader.read(String.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.decrypt(
            id: input.id,
            algorithm: input.algorithm,
            data: input.data,
            reason: input.reason,
            options: input.options,
            call: call
        )
        call.answer(answer, "ay") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func keyExchange(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("ssaysa{sv}") { (reader) throws(DBusError) in
            (
                id: try reader.read(String.self),
                algorithm: try reader.read(String.self),
                publicKey: try reader.read([UInt8].self),
                reason: try reader.read(String.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.keyExchange(
            id: input.id,
            algorithm: input.algorithm,
            publicKey: input.publicKey,
            reason: input.reason,
            options: input.options,
            call: call
        )
        call.answer(answer, "ay") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }
}
