import AuthEngine
import DBus
import KeychainStore
import LocalAuthBus
import Sealing

/// `/org/localauth/Keychain1`: secrets and keys that only an authentication releases.
@BusActor
final class KeychainObject: Keychain1Service {
    let store: Keychain?
    let evaluations: Evaluations
    let enrolments: Enrolments
    let verifier: PasscodeVerifier
    let audit: AuditTrail
    let queue = KeychainQueue()
    let temporary = TemporaryKeys()
    /// Users whose password was removed, while their items that need a password are not deleted
    /// yet.
    var usersWithRemovedPassword: Set<UInt32> = []
    /// Users whose items are hidden because their password is unavailable but may return unchanged.
    var usersWithWithheldPassword: Set<UInt32> = []
    /// Users for whom the verifier's last query failed.
    var usersWithUnknownPassword: Set<UInt32> = []
    var isSetAsideReported = false
    /// The timer that empties the database's log.
    var emptying: EventSource?

    /// A nil `keychain` makes every method fail with NotAvailable.
    init(
        keychain: Keychain?,
        evaluations: Evaluations,
        enrolments: Enrolments,
        verifier: PasscodeVerifier,
        audit: AuditTrail
    ) {
        store = keychain
        self.evaluations = evaluations
        self.enrolments = enrolments
        self.verifier = verifier
        self.audit = audit
    }

    /// The keychain.
    ///
    /// - Throws: NotAvailable if the service has none.
    var keychain: Keychain {
        get throws(DBusError) {
            guard let store else {
                throw DBusError(.keychainNotAvailable, "This service has no keychain.")
            }
            return store
        }
    }

    /// The daemon's public key (contract 6.1).
    func sealingKey(for peer: Peer?) throws(DBusError) -> [UInt8] {
        evaluations.sealingKey.publicKey
    }

    private func given(
        _ secret: [UInt8],
        _ options: [String: Variant],
        _ call: IncomingCall
    ) throws(DBusError) -> SecretBytes {
        try GivenSecret.take(
            secret,
            isSealed: try OptionReader(options).value("sealed", \.asBool) ?? false,
            with: evaluations.sealingKey,
            from: call,
            refusal: .keychainParameter
        )
    }

    // MARK: - Items

    func add(
        attributes: [String: Variant],
        secret: [UInt8],
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        let attributes = try placed(attributes, of: call.peer)
        let new = try NewItem(attributes, accessControl, options, call, evaluations.clients)
        let secret = try given(secret, options, call)
        let replaced = try ReplacedItem(options)
        return .later { () throws(DBusError) in
            try await self.store(new, .add, replacing: replaced, as: call.peer) {
                $0
            } storing: { keychain, caller throws(KeychainError) in
                try keychain.add(
                    new.attributes,
                    secret: secret,
                    accessControl: new.accessControl,
                    password: new.password,
                    replacing: replaced?.id,
                    isInPlace: replaced?.isInPlace == true,
                    isKeyMaterial: new.isKeyMaterial,
                    caller: caller,
                    date: new.date,
                    created: new.created
                )
            }
        }
    }

    func search(
        query: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[[String: Variant]]> {
        evaluations.clients.unknownOptions.take(options, of: call)
        let values = try KeychainValues.attributes(visible(query, to: call.peer))
        let skips = try OptionReader(options).value("skip-authenticated", \.asBool) ?? false
        return .later { () throws(DBusError) in
            try await self.found(by: call.peer) { keychain, caller throws(KeychainError) in
                try await keychain.search(
                    try Query(values),
                    skipsAuthenticated: skips,
                    caller: caller
                )
            }
            .map { KeychainValues.wire($0.item) }
        }
    }

    func readMatching(
        query: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[[String: Variant]]> {
        let values = try KeychainValues.attributes(visible(query, to: call.peer))
        let reader = OptionReader(options)
        let skips = try reader.value("skip-authenticated", \.asBool) ?? false
        let wanted = try reader.value("secrets", \.asUInt32).map(Int.init) ?? .max
        let reply = try SecretReply(options, of: call, evaluations.clients)
        let use = try KeychainUse("", .useItem, .read, "", options, call, evaluations, asks: false)
        return .later { () throws(DBusError) in
            let found = try await self.found(by: call.peer, keeping: 0) {
                keychain,
                caller throws(KeychainError) in
                try await keychain.search(
                    try Query(values),
                    skipsAuthenticated: skips,
                    opening: min(wanted, Self.mostSecrets),
                    caller: caller
                )
            }
            let secrets = await self.secrets(of: found, use, isWanted: wanted > 0)
            var items = found.map { KeychainValues.wire($0.item) }
            for (index, secret) in secrets {
                items[index]["secret"] = .bytes(try reply.bytes(of: secret))
            }
            return items
        }
    }

    /// The most secrets in a reply of ReadMatching.
    private static let mostSecrets = 16

    /// Runs a search, without invalid or temporary results.
    private func found(
        by peer: Peer,
        keeping limit: Int = itemsKept,
        _ find: @Sendable (Keychain, Caller) async throws(KeychainError) -> [FoundItem]
    ) async throws(DBusError) -> [FoundItem] {
        try await current(
            for: peer,
            keeping: limit,
            { $0.map(\.item.accessControl) },
            find: find
        )
        .filter { !temporary.contains($0.item.id) }
    }

    func read(
        id: String,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> {
        let reply = try SecretReply(options, of: call, evaluations.clients)
        let use = try KeychainUse(id, .useItem, .read, reason, options, call, evaluations)
        return answer(use) { keychain, permission, caller throws(KeychainError) in
            try keychain.secret(
                of: id,
                authorization: permission.authorization,
                password: permission.password,
                caller: caller
            )
        } deliver: { secret throws(DBusError) in
            try reply.bytes(of: secret)
        }
    }

    func update(
        id: String,
        attributes: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        evaluations.clients.unknownOptions.take(options, of: call)
        try checkGroup(of: attributes, changedBy: call.peer)
        let changes = try KeychainValues.attributes(attributes)
        let isKept = try OptionReader(options).value("keep", \.asBool) ?? false
        let date = KeychainValues.date
        return .later { () throws(DBusError) in
            try await self.change(id, .update, attributes, as: call.peer) {
                keychain,
                caller throws(KeychainError) in
                try keychain.update(id, changes, caller: caller, date: date)
            }
            if isKept { self.temporary.forget([id]) }
        }
    }

    func setSecret(
        id: String,
        secret: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let secret = try given(secret, options, call)
        evaluations.clients.unknownOptions.take(options, of: call)
        let beside = try OptionReader(options).value("attributes", \.asDictionary) ?? [:]
        try checkGroup(of: beside, changedBy: call.peer)
        let changes = try KeychainValues.attributes(beside)
        let context = try evaluations.clients.lentContext(options, of: call.peer)
        let password = context?.applicationPassword
        let date = KeychainValues.date
        return .later { () throws(DBusError) in
            do throws(DBusError) {
                try await self.change(id, .setSecret, beside, as: call.peer) {
                    keychain,
                    caller throws(KeychainError) in
                    try keychain.setSecret(
                        of: id,
                        to: secret,
                        changes,
                        password: password,
                        caller: caller,
                        date: date
                    )
                }
            } catch {
                // As in Read, ask again for a typed password that opened no item.
                if error.name == .keychainAuthFailed, let password {
                    context?.forget(typed: password)
                }
                throw error
            }
        }
    }

    func delete(ids: [String], call: IncomingCall) throws(DBusError) -> Answer<UInt32> {
        _ = try accessGroup(of: call.peer)
        return .later { () throws(DBusError) in
            let deleted = try await self.audited(.itemDeleted, .delete, by: call.peer) {
                $0 ?? ids
            } _: { () throws(DBusError) in
                try await self.delete(ids, as: call.peer)
            }
            return UInt32(clamping: deleted.count)
        }
    }

    // MARK: - Keys

    func createKey(
        attributes: [String: Variant],
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<(id: String, publicKey: [UInt8])> {
        var attributes = try placed(attributes, of: call.peer)
        if attributes["class"] == nil { attributes["class"] = .string("keys") }
        // A key without a tag needs its hash as label, to differ from other keys.
        if attributes["class"] == .string("keys"), attributes["atag"] == nil,
            attributes["klbl"] == nil
        {
            attributes["klbl"] = .bytes([])
        }
        let new = try NewItem(attributes, accessControl, options, call, evaluations.clients)
        let isTemporary = try OptionReader(options).value("temporary", \.asBool) ?? false
        return .later { () throws(DBusError) in
            let made = try await self.store(new, .createKey, as: call.peer) {
                $0.id
            } storing: { keychain, caller throws(KeychainError) in
                try keychain.createKey(
                    new.attributes,
                    accessControl: new.accessControl,
                    password: new.password,
                    caller: caller,
                    date: new.date
                )
            }
            if isTemporary { self.bind(made.id, to: call.peer) }
            return made
        }
    }

    func sign(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> {
        guard let algorithm = SignatureAlgorithm(rawValue: algorithm) else {
            throw .parameter("there is no signature algorithm \(algorithm.prefix(40))")
        }
        let use = try KeychainUse(id, .useKeySign, .sign, reason, options, call, evaluations)
        return answer(use) { () throws(KeychainError) in
            try KeychainStore.checkSigning(data, algorithm)
        } open: { keychain, permission, caller throws(KeychainError) in
            try keychain.sign(
                data,
                with: id,
                algorithm,
                authorization: permission.authorization,
                password: permission.password,
                caller: caller
            )
        } deliver: {
            $0
        }
    }

    func decrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> {
        guard algorithm == Self.encryption else {
            throw .parameter("the only encryption algorithm is \(Self.encryption)")
        }
        let reply = try SecretReply(options, of: call, evaluations.clients)
        let use = try KeychainUse(id, .useKeyDecrypt, .decrypt, reason, options, call, evaluations)
        return answer(use) { () throws(KeychainError) in
            try KeychainStore.checkDecryption(data)
        } open: { keychain, permission, caller throws(KeychainError) in
            try keychain.decrypt(
                data,
                with: id,
                authorization: permission.authorization,
                password: permission.password,
                caller: caller
            )
        } deliver: { secret throws(DBusError) in
            try reply.bytes(of: secret)
        }
    }

    /// The algorithm of Decrypt, which Apple calls
    /// eciesEncryptionCofactorVariableIVX963SHA256AESGCM.
    static let encryption = "ecies-cofactor-x963-sha256-aesgcm"

    func keyExchange(
        id: String,
        algorithm: String,
        publicKey: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> {
        let algorithm = try KeychainValues.exchange(algorithm, options)
        let reply = try SecretReply(options, of: call, evaluations.clients)
        let use = try KeychainUse(
            id,
            .useKeyKeyExchange,
            .exchange,
            reason,
            options,
            call,
            evaluations
        )
        return answer(use) { () throws(KeychainError) in
            try KeychainStore.checkExchange(publicKey, algorithm)
        } open: { keychain, permission, caller throws(KeychainError) in
            try keychain.exchange(
                publicKey,
                with: id,
                algorithm,
                authorization: permission.authorization,
                password: permission.password,
                caller: caller
            )
        } deliver: { secret throws(DBusError) in
            try reply.bytes(of: secret)
        }
    }
}
