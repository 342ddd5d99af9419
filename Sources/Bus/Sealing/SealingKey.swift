import Crypto
internal import FoundationEssentials

/// The use of a sealed value.
///
/// A value opens only for the use that it is sealed for.
public enum SealingPurpose: String, Sendable {
    /// A secret between a caller and the daemon, bound to the caller's unique bus name.
    case keychain = "org.localauth.Keychain1"
    /// A login password for the verifier, bound to the handle of the prompt.
    case passcode = "org.localauth.Passcode1"
    /// A recovery key for an administrator, on no bus.
    case recovery = "org.localauth.RecoveryKey1"
    /// Exported passkeys, on no bus.
    case passkeys = "org.localauth.Passkeys1"

    fileprivate var info: Data { Data(rawValue.utf8) }
}

/// The sealing of secrets on the bus (L32): HPKE (RFC 9180), base mode, single-shot.
///
/// A sealed value is the encapsulated key (32 bytes), then the ciphertext with its tag.
enum SealingSuite {
    static let value = HPKE.Ciphersuite(
        kem: .Curve25519_HKDF_SHA256,
        kdf: .HKDF_SHA256,
        aead: .AES_GCM_256
    )
    static let keySize = 32
}

/// The key pair of a process to which others seal secrets.
public struct SealingKey: Sendable {
    /// The size of a sealed value beyond its secret, in bytes.
    public static let overhead = SealingSuite.keySize + 16

    private let key: Curve25519.KeyAgreement.PrivateKey
    /// 32 bytes.
    public let publicKey: [UInt8]

    /// Generates a new key pair.
    public init() {
        self.init(Curve25519.KeyAgreement.PrivateKey())
    }

    /// Restores a key pair; nil unless there are 32 bytes.
    public init?(_ rawRepresentation: SecretBytes) {
        let key = rawRepresentation.use {
            try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0)
        }
        guard let key else { return nil }
        self.init(key)
    }

    private init(_ key: Curve25519.KeyAgreement.PrivateKey) {
        self.key = key
        publicKey = Array(key.publicKey.rawRepresentation)
    }

    /// The private key, 32 bytes.
    public var rawRepresentation: SecretBytes {
        // The library lends its own storage: wiping it would destroy the key.
        SecretBytes(key.rawRepresentation.withUnsafeBytes { Array($0) })
    }

    /// Opens a sealed value.
    ///
    /// - Parameters:
    ///   - sealed: The encapsulated key and the ciphertext.
    ///   - purpose: The use that the value was sealed for.
    ///   - holder: The bus name or the handle that the value is bound to.
    /// - Returns: The secret; nil if the value is for another key, purpose or holder, or damaged.
    public func open(
        _ sealed: [UInt8],
        for purpose: SealingPurpose,
        of holder: String
    ) -> SecretBytes? {
        guard sealed.count >= Self.overhead else { return nil }
        let recipient = try? HPKE.Recipient(
            privateKey: key,
            ciphersuite: SealingSuite.value,
            info: purpose.info,
            encapsulatedKey: Data(sealed.prefix(SealingSuite.keySize))
        )
        guard var recipient,
            var secret = try? recipient.open(
                sealed.dropFirst(SealingSuite.keySize),
                authenticating: Data(holder.utf8)
            )
        else { return nil }
        return SecretBytes(wiping: &secret)
    }
}

/// The public key of another process, to seal secrets to.
public struct RecipientKey: Sendable {
    private let key: Curve25519.KeyAgreement.PublicKey

    /// Checks a public key; nil unless it has 32 bytes and agrees on a value other than zero.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == SealingSuite.keySize,
            let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes),
            let shared = try? Curve25519.KeyAgreement.PrivateKey()
                .sharedSecretFromKeyAgreement(with: key),
            shared.withUnsafeBytes({ $0.contains { $0 != 0 } })
        else { return nil }
        self.key = key
    }

    /// Seals a secret; nil if the cryptographic library fails.
    ///
    /// - Parameters:
    ///   - secret: The bytes, possibly empty.
    ///   - purpose: The only use that the value opens for.
    ///   - holder: The bus name or the handle that the value is bound to.
    /// - Returns: The sealed value.
    public func seal(
        _ secret: [UInt8],
        for purpose: SealingPurpose,
        of holder: String
    ) -> [UInt8]? {
        guard
            var sender = try? HPKE.Sender(
                recipientKey: key,
                ciphersuite: SealingSuite.value,
                info: purpose.info
            ),
            let ciphertext = try? sender.seal(secret, authenticating: Data(holder.utf8))
        else { return nil }
        return Array(sender.encapsulatedKey) + Array(ciphertext)
    }

    /// Seals a secret; nil if the cryptographic library fails.
    public func seal(
        _ secret: SecretBytes,
        for purpose: SealingPurpose,
        of holder: String
    ) -> [UInt8]? {
        secret.use { seal($0, for: purpose, of: holder) }
    }
}
