// CryptoKit re-exports swift-crypto, and maps the Secure Enclave to keys of the service.
@_exported public import Crypto
public import Foundation
public import LocalAuthentication
public import Security

/// P-256 keys that the service generates and stores.
///
/// Apple's keys are encrypted blobs that the app stores. Here each key is a keychain item in the
/// program's access group, of class `kSecClassKey` with the tag ``tag``. The item exists until it
/// is deleted.
public enum SecureEnclave {
    /// The application tag of these keys, for `SecItemDelete`.
    public static let tag = Data("org.localauth.CryptoKit".utf8)

    /// Whether the service is available.
    public static var isAvailable: Bool {
        let none: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: Data()]
        return SecItemCopyMatching(none as CFDictionary, nil) == errSecItemNotFound
    }

    public enum P256 {
        public enum Signing {}
        public enum KeyAgreement {}
    }
}

/// A key of the service, with the context for its prompts.
struct ServiceKeyHandle: Sendable {
    let key: SecKey
    let dataRepresentation: Data

    /// Creates a key.
    ///
    /// - Throws: An error of the keychain.
    init(_ accessControl: SecAccessControl?, _ context: LAContext?, isCompact: Bool) throws {
        // On average every second point has a compact representation.
        for _ in 0..<64 {
            let made = try ServiceKeyHandle(accessControl, context)
            let point = try Crypto.P256.Signing.PublicKey(x963Representation: made.point())
            if !isCompact || point.compactRepresentation != nil {
                self = made
                return
            }
            let status = SecItemDelete([kSecValueRef: made.key] as [CFString: Any] as CFDictionary)
            guard status == errSecSuccess else { throw Self.error(status) }
        }
        throw Self.error(errSecInternalComponent)
    }

    private init(_ accessControl: SecAccessControl?, _ context: LAContext?) throws {
        var inner: [String: Any] = [
            kSecAttrIsPermanent as String: true,
            kSecAttrApplicationTag as String: SecureEnclave.tag,
        ]
        inner[kSecAttrAccessControl as String] = accessControl
        var parameters: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs as String: inner,
        ]
        parameters[kSecUseAuthenticationContext as String] = context
        var error: Unmanaged<CFError>?
        guard let made = SecKeyCreateRandomKey(parameters as CFDictionary, &error) else {
            throw Self.taken(error)
        }
        let query: [CFString: Any] = [kSecValueRef: made, kSecReturnPersistentRef: true]
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        guard let reference = found as? Data else { throw Self.error(status) }
        (key, dataRepresentation) = (made, reference)
    }

    /// Loads a key.
    ///
    /// - Throws: An error of the keychain; `errSecItemNotFound` if the key was deleted.
    init(_ dataRepresentation: Data, _ context: LAContext?) throws {
        var query: [String: Any] = [
            kSecClass as String: kSecClassKey,
            kSecValuePersistentRef as String: dataRepresentation,
            kSecReturnAttributes as String: true, kSecReturnRef as String: true,
        ]
        query[kSecUseAuthenticationContext as String] = context
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        guard let item = found as? [String: Any] else { throw Self.error(status) }
        guard item[kSecAttrApplicationTag as String] as? Data == SecureEnclave.tag,
            let key = item[kSecValueRef as String] as? SecKey
        else { throw Self.error(errSecItemNotFound) }
        (self.key, self.dataRepresentation) = (key, dataRepresentation)
    }

    /// The point of the public half in X9.63 format.
    ///
    /// - Throws: An error of the keychain.
    func point() throws -> Data {
        var error: Unmanaged<CFError>?
        guard let half = SecKeyCopyPublicKey(key),
            let bytes = SecKeyCopyExternalRepresentation(half, &error)
        else { throw Self.taken(error) }
        return bytes as Data
    }

    static func taken(_ error: Unmanaged<CFError>?) -> any Error {
        error?.takeRetainedValue() ?? Self.error(errSecInternalComponent)
    }

    static func error(_ status: OSStatus) -> NSError {
        let text = SecCopyErrorMessageString(status, nil) as String? ?? "The keychain refused."
        return NSError(
            domain: NSOSStatusErrorDomain,
            code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: text]
        )
    }
}

extension SecureEnclave.P256.Signing {
    /// A signing key that never leaves the service.
    public struct PrivateKey: Sendable {
        private let kept: ServiceKeyHandle
        public let publicKey: Crypto.P256.Signing.PublicKey

        /// Creates a key.
        ///
        /// - Parameters:
        ///   - compactRepresentable: Whether the public half has a `compactRepresentation`.
        ///   - accessControl: The proof that each use requires; nil: no proof.
        ///   - authenticationContext: The context for prompts.
        /// - Throws: An error of the keychain.
        public init(
            compactRepresentable: Bool = true,
            accessControl: SecAccessControl? = nil,
            authenticationContext: LAContext? = nil
        ) throws {
            kept = try ServiceKeyHandle(
                accessControl,
                authenticationContext,
                isCompact: compactRepresentable
            )
            publicKey = try .init(x963Representation: kept.point())
        }

        /// Loads a key.
        ///
        /// - Throws: An error of the keychain.
        public init(
            dataRepresentation: Data,
            authenticationContext: LAContext? = nil
        ) throws {
            kept = try ServiceKeyHandle(dataRepresentation, authenticationContext)
            publicKey = try .init(x963Representation: kept.point())
        }

        /// A reference for loading the key again; not a secret.
        public var dataRepresentation: Data { kept.dataRepresentation }

        /// Signs a SHA-256 digest; blocks while a prompt is open.
        ///
        /// - Throws: An error of the keychain or of the prompt.
        public func signature<D: Digest>(
            for digest: D
        ) throws -> Crypto.P256.Signing.ECDSASignature {
            try signature(Data(digest), .ecdsaSignatureDigestX962SHA256)
        }

        /// Signs data; blocks while a prompt is open.
        ///
        /// - Throws: An error of the keychain or of the prompt.
        public func signature<D: DataProtocol>(
            for data: D
        ) throws -> Crypto.P256.Signing.ECDSASignature {
            try signature(Data(data), .ecdsaSignatureMessageX962SHA256)
        }

        private func signature(
            _ data: Data,
            _ algorithm: SecKeyAlgorithm
        ) throws -> Crypto.P256.Signing.ECDSASignature {
            var error: Unmanaged<CFError>?
            guard let made = SecKeyCreateSignature(kept.key, algorithm, data as CFData, &error)
            else { throw ServiceKeyHandle.taken(error) }
            return try .init(derRepresentation: made as Data)
        }
    }
}

extension SecureEnclave.P256.KeyAgreement {
    /// A key agreement key that never leaves the service.
    public struct PrivateKey: Sendable {
        private let kept: ServiceKeyHandle
        public let publicKey: Crypto.P256.KeyAgreement.PublicKey

        /// Creates a key.
        ///
        /// - Parameters:
        ///   - compactRepresentable: Whether the public half has a `compactRepresentation`.
        ///   - accessControl: The proof that each use requires; nil: no proof.
        ///   - authenticationContext: The context for prompts.
        /// - Throws: An error of the keychain.
        public init(
            compactRepresentable: Bool = true,
            accessControl: SecAccessControl? = nil,
            authenticationContext: LAContext? = nil
        ) throws {
            kept = try ServiceKeyHandle(
                accessControl,
                authenticationContext,
                isCompact: compactRepresentable
            )
            publicKey = try .init(x963Representation: kept.point())
        }

        /// Loads a key.
        ///
        /// - Throws: An error of the keychain.
        public init(
            dataRepresentation: Data,
            authenticationContext: LAContext? = nil
        ) throws {
            kept = try ServiceKeyHandle(dataRepresentation, authenticationContext)
            publicKey = try .init(x963Representation: kept.point())
        }

        /// A reference for loading the key again; not a secret.
        public var dataRepresentation: Data { kept.dataRepresentation }

        /// Agrees on a secret with another key by ECDH; blocks while a prompt is open.
        ///
        /// - Throws: An error of the keychain or of the prompt.
        public func sharedSecretFromKeyAgreement(
            with publicKeyShare: Crypto.P256.KeyAgreement.PublicKey
        ) throws -> SharedSecret {
            let attributes: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
                kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
            ]
            var error: Unmanaged<CFError>?
            let point = publicKeyShare.x963Representation as CFData
            guard let other = SecKeyCreateWithData(point, attributes as CFDictionary, &error),
                let secret = SecKeyCopyKeyExchangeResult(
                    kept.key,
                    .ecdhKeyExchangeStandard,
                    other,
                    [:] as CFDictionary,
                    &error
                )
            else { throw ServiceKeyHandle.taken(error) }
            return try Self.sharedSecret(secret as Data)
        }

        /// Wraps a secret, which is the first coordinate of a point.
        ///
        /// swift-crypto makes a `SharedSecret` in an agreement only. The private key 1 agrees on
        /// the first coordinate of the other key's point. Either point with this coordinate will
        /// do.
        private static func sharedSecret(_ coordinate: Data) throws -> SharedSecret {
            let one = Data(count: 31) + [1]
            let point = Data([2]) + coordinate
            return try Crypto.P256.KeyAgreement.PrivateKey(rawRepresentation: one)
                .sharedSecretFromKeyAgreement(with: .init(compressedRepresentation: point))
        }
    }
}
