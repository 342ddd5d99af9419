import AuthEngine
import DBus
import KeychainStore
import Linux
import LocalAuthBus

/// `/org/localauth/Keychain1`: secrets and keys that only an authentication releases.
@BusActor
final class KeychainObject: Keychain1Service {
    static let path = ObjectPath(trusted: "/org/localauth/Keychain1")

    let store: Keychain?
    unowned let service: AuthService
    let turns = KeychainTurns()
    /// Users whose passcode was removed, and whose items that need one have yet to go.
    var withoutPasscode: Set<UInt32> = []
    var isSetAsideReported = false

    init(keychain: Keychain?, service: AuthService) {
        store = keychain
        self.service = service
    }

    /// The keychain.
    ///
    /// - Throws: NotAvailable where there is none.
    var keychain: Keychain {
        get throws(DBusError) {
            guard let store else {
                throw DBusError(.keychainNotAvailable, "This service has no keychain.")
            }
            return store
        }
    }

    // MARK: - Items

    func add(
        attributes: [String: Variant],
        secret: OwnedDescriptor,
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        let new = try NewItem(attributes, accessControl, options, call, service)
        let secret = try SecretBytes(sealed: secret)
        let replaced = try OptionReader(options).value("replaces", \.asString)
        return .later { () throws(DBusError) in
            try await self.store(new, "add", replacing: replaced, as: call.peer) {
                $0
            } storing: { keychain, caller throws(KeychainError) in
                try keychain.add(
                    new.attributes,
                    secret: secret,
                    accessControl: new.accessControl,
                    password: new.password,
                    replacing: replaced,
                    caller: caller,
                    date: new.date
                )
            }
        }
    }

    func search(
        query: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[[String: Variant]]> {
        let values = try KeychainValues.attributes(query)
        let skips = try OptionReader(options).value("skip-authenticated", \.asBool) ?? false
        return .later { () throws(DBusError) in
            try await self.current(for: call.peer) {
                $0.map(\.accessControl)
            } find: { keychain, caller throws(KeychainError) in
                try keychain.search(
                    try Query(values),
                    skipsAuthenticated: skips,
                    caller: caller
                )
            }
            .map(KeychainValues.wire)
        }
    }

    func read(
        id: String,
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let receiver = try SecretReceiver(receiver)
        let use = try KeychainUse(id, .useItem, reason, options, call, service)
        return audited("read", use) { permission throws(DBusError) in
            let secret = try await self.run(for: use) {
                keychain,
                caller throws(KeychainError) in
                try keychain.secret(
                    of: id,
                    authorization: permission.authorization,
                    password: permission.password,
                    caller: caller
                )
            }
            try receiver.send(secret)
        }
    }

    func update(
        id: String,
        attributes: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let changes = try KeychainValues.attributes(attributes)
        let date = KeychainValues.date
        return .later { () throws(DBusError) in
            try await self.change(id, "update", as: call.peer) {
                keychain,
                caller throws(KeychainError) in
                try keychain.update(id, changes, caller: caller, date: date)
            }
        }
    }

    func setSecret(
        id: String,
        secret: OwnedDescriptor,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let secret = try SecretBytes(sealed: secret)
        let password = try NewItem.password(options, call, service)
        let date = KeychainValues.date
        return .later { () throws(DBusError) in
            try await self.change(id, "set-secret", as: call.peer) {
                keychain,
                caller throws(KeychainError) in
                try keychain.setSecret(
                    of: id,
                    to: secret,
                    password: password,
                    caller: caller,
                    date: date
                )
            }
        }
    }

    func delete(ids: [String], call: IncomingCall) throws(DBusError) -> Answer<UInt32> {
        .later { () throws(DBusError) in
            let ids = Set(ids).sorted()
            let deleted = try await self.audited(.itemDeleted, "delete", by: call.peer) {
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
        let new = try NewItem(attributes, accessControl, options, call, service)
        return .later { () throws(DBusError) in
            try await self.store(new, "create-key", as: call.peer) {
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
        let use = try KeychainUse(id, .useKeySign, reason, options, call, service)
        return audited("sign", use) { permission throws(DBusError) in
            try await self.run(for: use) {
                keychain,
                caller throws(KeychainError) in
                try keychain.sign(
                    data,
                    with: id,
                    algorithm,
                    authorization: permission.authorization,
                    password: permission.password,
                    caller: caller
                )
            }
        }
    }

    func decrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        guard algorithm == Self.encryption else {
            throw .parameter("the one encryption algorithm is \(Self.encryption)")
        }
        let receiver = try SecretReceiver(receiver)
        let use = try KeychainUse(id, .useKeyDecrypt, reason, options, call, service)
        return audited("decrypt", use) { permission throws(DBusError) in
            let clear = try await self.run(for: use) {
                keychain,
                caller throws(KeychainError) in
                try keychain.decrypt(
                    data,
                    with: id,
                    authorization: permission.authorization,
                    password: permission.password,
                    caller: caller
                )
            }
            try receiver.send(clear)
        }
    }

    /// What Decrypt knows; Apple's name is eciesEncryptionCofactorVariableIVX963SHA256AESGCM.
    static let encryption = "ecies-cofactor-x963-sha256-aesgcm"

    func keyExchange(
        id: String,
        algorithm: String,
        publicKey: [UInt8],
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let algorithm = try KeychainValues.exchange(algorithm, options)
        let receiver = try SecretReceiver(receiver)
        let use = try KeychainUse(id, .useKeyKeyExchange, reason, options, call, service)
        return audited("exchange", use) { permission throws(DBusError) in
            let shared = try await self.run(for: use) {
                keychain,
                caller throws(KeychainError) in
                try keychain.exchange(
                    publicKey,
                    with: id,
                    algorithm,
                    authorization: permission.authorization,
                    password: permission.password,
                    caller: caller
                )
            }
            try receiver.send(shared)
        }
    }
}
