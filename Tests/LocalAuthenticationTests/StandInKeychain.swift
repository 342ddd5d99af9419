import DBus
import LocalAuthBus
import Sealing
import TestSupport

/// A keychain with a single right, which records deletions and opens every secret.
@BusActor
final class StandInKeychain: Keychain1Service {
    typealias Reply = @Sendable (_ key: RecipientKey, _ name: String) -> [UInt8]?

    private(set) var deleted: [[String]] = []
    private(set) var added: [String: Variant]?
    private(set) var secretFlags: Variant?
    private(set) var keyFlags: Variant?
    private(set) var opened: [[UInt8]] = []
    /// Seals the secret for a reply to a public key and a unique name.
    private var reply: Reply = { _, _ in nil }
    private var refuses = false
    private let connection: Connection
    private let key = SealingKey()

    init(on connection: Connection) throws {
        self.connection = connection
        connection.export(Keychain1.path, [Keychain1Interface(self)])
        try connection.requestName(TestDaemon.name)
    }

    func refuse() { refuses = true }

    func answer(_ reply: @escaping Reply) { self.reply = reply }

    func add(
        attributes: [String: Variant],
        secret: [UInt8],
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        guard !refuses else { throw DBusError(.limitsExceeded, "It is full.") }
        guard options["sealed"] == .bool(true),
            let secret = key.open(secret, for: .keychain, of: call.peer.name)
        else { throw DBusError(.keychainParameter, "The secret does not open.") }
        opened.append(secret.use { $0 })
        added = attributes
        secretFlags = accessControl["flags"]
        return .now("new item")
    }

    func search(
        query: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[[String: Variant]]> {
        .now([["id": .string("old item"), "desc": .string("old key")]])
    }

    func createKey(
        attributes: [String: Variant],
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<(id: String, publicKey: [UInt8])> {
        keyFlags = accessControl["flags"]
        return .now(("new key", [UInt8](repeating: 4, count: 65)))
    }

    func delete(ids: [String], call: IncomingCall) throws(DBusError) -> Answer<UInt32> {
        deleted.append(ids)
        throw DBusError(.keychainNotAvailable, "The disk is full.")
    }

    func read(
        id: String,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> {
        guard let key = options["seal-to"]?.asBytes.flatMap(RecipientKey.init),
            let secret = reply(key, call.peer.name)
        else { throw DBusError(.keychainParameter, "The secret cannot be sealed.") }
        return .now(secret)
    }

    func sealingKey(for peer: Peer?) throws(DBusError) -> [UInt8] { key.publicKey }

    // MARK: Never called

    private static let unused = DBusError(.notSupported, "Nothing of that.")

    func update(
        id: String,
        attributes: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.unused }

    func setSecret(
        id: String,
        secret: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.unused }

    func sign(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> { throw Self.unused }

    func decrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> { throw Self.unused }

    func keyExchange(
        id: String,
        algorithm: String,
        publicKey: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> { throw Self.unused }
}
