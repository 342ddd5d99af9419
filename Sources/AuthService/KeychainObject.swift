import DBus
import LocalAuthBus

/// `/org/localauth/Keychain1`.
///
/// There is no keychain yet: every call says so.
@BusActor
final class KeychainObject: Keychain1Service {
    static let path = ObjectPath(trusted: "/org/localauth/Keychain1")

    private static let unavailable = DBusError(
        .keychainNotAvailable,
        "This version of the service has no keychain."
    )

    func add(
        attributes: [String: Variant],
        secret: OwnedDescriptor,
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> { throw Self.unavailable }

    func search(
        query: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[[String: Variant]]> { throw Self.unavailable }

    func read(
        id: String,
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.unavailable }

    func update(
        id: String,
        attributes: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.unavailable }

    func setSecret(
        id: String,
        secret: OwnedDescriptor,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.unavailable }

    func delete(ids: [String], call: IncomingCall) throws(DBusError) -> Answer<UInt32> {
        throw Self.unavailable
    }

    func createKey(
        attributes: [String: Variant],
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<(id: String, publicKey: [UInt8])> { throw Self.unavailable }

    func sign(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> { throw Self.unavailable }

    func decrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.unavailable }

    func keyExchange(
        id: String,
        algorithm: String,
        publicKey: [UInt8],
        receiver: OwnedDescriptor,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.unavailable }
}
