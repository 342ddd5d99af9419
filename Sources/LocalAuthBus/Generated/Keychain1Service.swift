// Made by dbus-codegen from dbus/org.localauth.Keychain1.xml. Do not edit.
public import DBus
public import Linux

/// Secrets and keys that open only to the person they belong to.
///
/// Items belong to the caller's user; items of a sandboxed app whose identity a trusted party
/// vouches for also belong to that app (there is no such party yet). Secrets are never message
/// data: whoever receives one makes a SOCK_SEQPACKET pair and hands over the other end, and a
/// secret for the daemon comes as a memfd sealed with F_SEAL_WRITE, F_SEAL_SHRINK and F_SEAL_GROW,
/// at most 64 KiB.
///
/// Where the bus is not the system's, a secret for the daemon may also be the reading end of an
/// unnamed pipe, for languages that make no memfd. It is read to its end, which has to come within
/// 5 s: close every writing end. Whoever monitors that bus can read a secret in a pipe as well as
/// one in a memfd, and may take it away before the daemon reads it.
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
/// Source: R35, R36, R60 to R71, L8, L18.
@BusActor
public protocol Keychain1Service: AnyObject {
    /// Stores a secret, without a prompt; the reply is the id of the item.
    ///
    /// `secret` is a sealed memfd, or a pipe as above, of at most 64 KiB; it may be empty.
    ///
    /// Options: `context` (o, gives the application password of an item with that flag); `replaces`
    /// (s, the id of an item of the caller, which the new item replaces in one change: if the new
    /// one can't be stored, the old one stays as it is; both may have the same primary key);
    /// `in-place` (b, default false, only with `replaces`: the new item has the id of that one);
    /// `created` (x, Unix seconds, the `cdat` of the item; now); `key-material` (b, default false:
    /// the secret is that of a key which the caller has; `class` is `keys`, and the item is read
    /// and changed as any other secret; Sign, Decrypt and KeyExchange don't use it).
    ///
    /// Errors: `org.localauth.Keychain1.Error.Duplicate` when another item with this primary key
    /// exists; `NotFound` when the one to replace isn't there; `Parameter` for attributes or flags
    /// that don't go together; `NotAvailable` for `akpu` without a passcode;
    /// `org.freedesktop.DBus.Error.InvalidArgs` for a wrong kind of descriptor; `LimitsExceeded`
    /// for a larger secret or more than 20000 items a user (configurable).
    ///
    /// Source: R60 to R66, R69, R70, L18.
    func add(
        attributes: [String: Variant],
        secret: OwnedDescriptor,
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

    /// Sends the secret of an item as one packet into the receiver, before the reply.
    ///
    /// Prompts when the item needs it. An empty secret is a reply without a packet. `receiver` is
    /// the far end of a SOCK_SEQPACKET pair that the caller made.
    ///
    /// Options: `context` (o, an evaluated context), and those of Context1.Evaluate but for
    /// `fallback-title`: `timeout`, `interaction-not-allowed`, `cancel-title`, `reuse-duration`,
    /// `sensors`, `minimum-strength`, `require-confirmation`, `parent-window`, `activation-token`;
    /// `requester` (a{sv}, as in Context1.EvaluateAccessControl).
    ///
    /// Errors: `org.localauth.Keychain1.Error.NotFound` (also for an item of `biometryCurrentSet`
    /// after a change of the enrolment), `AuthFailed` (no match, lockout, no usable biometry, an
    /// invalid context, a wrong application password), `UserCanceled` (also for a deadline),
    /// `InteractionNotAllowed`, `Decode`, `NotAvailable`; `org.freedesktop.DBus.Error.InvalidArgs`
    /// for a closed or full receiver; `LimitsExceeded`.
    ///
    /// Source: R35, R36, R66 to R68, R71.
    func read(
        id: String,
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

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
    /// `secret` is a sealed memfd, or a pipe as above, of at most 64 KiB; it may be empty.
    ///
    /// Options: `context` (o, gives the application password of an item with that flag);
    /// `attributes` (a{sv}, changed as by Update, in one change with the secret: both or neither).
    ///
    /// Errors: `org.localauth.Keychain1.Error.NotFound`, `AuthFailed`, `Parameter`, `NotAvailable`,
    /// `Duplicate` when the new primary key is taken; `org.freedesktop.DBus.Error.InvalidArgs` for
    /// a wrong kind of descriptor; `LimitsExceeded`.
    ///
    /// Source: R66, L18.
    func setSecret(
        id: String,
        secret: OwnedDescriptor,
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
    /// `publicKey` is the X9.63 point, uncompressed (65 bytes). An empty `klbl` becomes its SHA-1:
    /// then the key is another one than any with the same tag.
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

    /// Decrypts with a key and sends the plain text as one packet into the receiver.
    ///
    /// `algorithm` is `ecies-cofactor-x963-sha256-aesgcm`: ECIES, cofactor, X9.63 with SHA-256,
    /// AES-GCM with a variable IV. `data` is the sender's X9.63 point (65 bytes), the encrypted
    /// bytes and a tag of 16 bytes; that point is the shared info of the key derivation, whose 32
    /// bytes are the AES key and the IV, 16 each. `receiver` as in Read.
    ///
    /// Options: `context` (o, an evaluated context), and those of Context1.Evaluate but for
    /// `fallback-title`: `timeout`, `interaction-not-allowed`, `cancel-title`, `reuse-duration`,
    /// `sensors`, `minimum-strength`, `require-confirmation`, `parent-window`, `activation-token`;
    /// `requester` (a{sv}, as in Context1.EvaluateAccessControl).
    ///
    /// Errors: `org.localauth.Keychain1.Error.Parameter` for an unknown algorithm; `Decode` for
    /// data that doesn't decrypt; else those of Read.
    ///
    /// Source: R66.
    func decrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Agrees on a secret with another key and sends it as one packet into the receiver.
    ///
    /// `algorithm` is `ecdh` or `ecdh-x963-sha256`; `publicKey` is the other side's X9.63 point.
    /// `receiver` as in Read.
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
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>
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
        throw DBusError(.unknownProperty, "There is no such property.")
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
        let input = try call.read("a{sv}ha{sv}a{sv}") { (reader) throws(DBusError) in
            (
                attributes: try reader.read([String: Variant].self),
                secret: try reader.read(OwnedDescriptor.self),
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
        let input = try call.read("shsa{sv}") { (reader) throws(DBusError) in
            (
                id: try reader.read(String.self),
                receiver: try reader.read(OwnedDescriptor.self),
                reason: try reader.read(String.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.read(
            id: input.id,
            receiver: input.receiver,
            reason: input.reason,
            options: input.options,
            call: call
        )
        call.answer(answer, "") { (_, _) throws(DBusError) in }
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
        let input = try call.read("sha{sv}") { (reader) throws(DBusError) in
            (
                id: try reader.read(String.self),
                secret: try reader.read(OwnedDescriptor.self),
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
        let input = try call.read("ssayhsa{sv}") { (reader) throws(DBusError) in
            (
                id: try reader.read(String.self),
                algorithm: try reader.read(String.self),
                data: try reader.read([UInt8].self),
                receiver: try reader.read(OwnedDescriptor.self),
                reason: try reader.read(String.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.decrypt(
            id: input.id,
            algorithm: input.algorithm,
            data: input.data,
            receiver: input.receiver,
            reason: input.reason,
            options: input.options,
            call: call
        )
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func keyExchange(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("ssayhsa{sv}") { (reader) throws(DBusError) in
            (
                id: try reader.read(String.self),
                algorithm: try reader.read(String.self),
                publicKey: try reader.read([UInt8].self),
                receiver: try reader.read(OwnedDescriptor.self),
                reason: try reader.read(String.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.keyExchange(
            id: input.id,
            algorithm: input.algorithm,
            publicKey: input.publicKey,
            receiver: input.receiver,
            reason: input.reason,
            options: input.options,
            call: call
        )
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }
}
