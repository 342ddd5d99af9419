package import DBus
import LocalAuthBus
package import Sealing

/// A keychain with a single right, which records deletions and opens every secret.
@BusActor package final class StandInKeychain: Keychain1Service {
    package typealias Reply = @Sendable (_ key: RecipientKey, _ name: String) -> [UInt8]?

    /// The item that each search finds.
    private var found = ["id": Variant.string("old item"), "desc": .string("old key")]
    /// The number of searches.
    package private(set) var searches = 0
    package private(set) var deleted: [[String]] = []
    package private(set) var added: [String: Variant]?
    package private(set) var secretFlags: Variant?
    package private(set) var keyFlags: Variant?
    package private(set) var opened: [[UInt8]] = []
    /// Seals the secret for a reply to a public key and a unique name.
    private var reply: Reply = { _, _ in nil }
    private var refuses = false
    package let connection: Connection
    private let key = SealingKey()

    package init(on connection: Connection) throws {
        self.connection = connection
        connection.export(Keychain1.path, [Keychain1Interface(self)])
        try connection.requestName(TestDaemon.name)
    }

    package func refuse() { refuses = true }

    /// Adds attributes to the item that each search finds.
    package func find(_ attributes: [String: Variant]) { found.merge(attributes) { $1 } }

    package func answer(_ reply: @escaping Reply) { self.reply = reply }

    package func add(
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

    package func search(
        query: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[[String: Variant]]> {
        searches += 1
        return .now([found])
    }

    package func createKey(
        attributes: [String: Variant],
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<(id: String, publicKey: [UInt8])> {
        keyFlags = accessControl["flags"]
        return .now(("new key", [UInt8](repeating: 4, count: 65)))
    }

    package func delete(ids: [String], call: IncomingCall) throws(DBusError) -> Answer<UInt32> {
        deleted.append(ids)
        throw DBusError(.keychainNotAvailable, "The disk is full.")
    }

    package func read(
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

    package func sealingKey(for peer: Peer?) throws(DBusError) -> [UInt8] { key.publicKey }

    /// Answers as a service that lacks the method.
    package func readMatching(
        query: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[[String: Variant]]> {
        throw DBusError(.unknownMethod, "There is no such method.")
    }

    // MARK: Never called

    private static let unused = DBusError(.notSupported, "Nothing of that.")

    package func update(
        id: String,
        attributes: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.unused }

    package func setSecret(
        id: String,
        secret: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.unused }

    package func sign(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> { throw Self.unused }

    package func decrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> { throw Self.unused }

    package func keyExchange(
        id: String,
        algorithm: String,
        publicKey: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> { throw Self.unused }
}
