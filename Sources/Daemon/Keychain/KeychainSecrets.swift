import DBus
import KeychainStore
import LocalAuthBus
import Sealing

/// A secret that an app passes, plain or sealed (contract 6.1).
enum GivenSecret {
    /// Takes a secret from the bytes of a call.
    ///
    /// - Throws: LimitsExceeded over 64 KiB, `refusal` for a sealed value that does not open.
    @BusActor
    static func take(
        _ bytes: [UInt8],
        isSealed: Bool,
        with key: SealingKey,
        from call: IncomingCall,
        refusal: DBusError.Name
    ) throws(DBusError) -> SecretBytes {
        let limit = KeychainStore.secretLimit + (isSealed ? SealingKey.overhead : 0)
        guard bytes.count <= limit else { throw .exceeded("the secret is over 64 KiB") }
        guard isSealed else {
            let secret = SecretBytes(bytes)
            call.keep(secret)
            return secret
        }
        guard let secret = key.open(bytes, for: .keychain, of: call.peer.name) else {
            throw DBusError(
                refusal,
                "The sealed value does not open: is it for another caller or key?"
            )
        }
        return secret
    }
}

/// The form of a secret in a reply: plain, or sealed to the caller's key.
struct SecretReply: Sendable {
    private let key: RecipientKey?
    private let call: IncomingCall

    /// Reads the option `seal-to`.
    ///
    /// - Throws: InvalidArgs for a wrong type, Parameter for bytes that are no key.
    @BusActor
    init(
        _ options: [String: Variant],
        of call: IncomingCall,
        _ clients: Clients
    ) throws(DBusError) {
        self.call = call
        guard let bytes = try OptionReader(options).value("seal-to", \.asBytes) else {
            key = nil
            return
        }
        guard let key = clients[call.peer].recipientKey(bytes) else {
            throw .parameter("the option seal-to is no X25519 public key")
        }
        self.key = key
    }

    @BusActor
    func bytes(of secret: SecretBytes) throws(DBusError) -> [UInt8] {
        guard let key else {
            call.keep(secret)
            return secret.use { $0 }
        }
        guard let sealed = key.seal(secret, for: .keychain, of: call.peer.name) else {
            throw DBusError(.failed, "The secret cannot be sealed.")
        }
        return sealed
    }
}
