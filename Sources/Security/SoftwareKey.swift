internal import Crypto
internal import CryptoExtras
internal import Foundation

/// A key whose bytes are in this process, in Apple's external form.
struct SoftwareKey: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case p256
        case p384
        case p521
        case rsa
    }

    let kind: Kind
    let isPrivate: Bool
    /// X9.63 of a curve's key, with the private number after the point; PKCS#1 of RSA.
    let bytes: Data
    let publicBytes: Data
    let bits: Int

    static let invalid = KeychainFailure(errSecParam, "These bytes are no such key.")

    /// Runs a call of the library, whose errors say no more than that it failed.
    static func trying<Value>(
        _ failure: KeychainFailure = invalid,
        _ body: () throws -> Value
    ) throws(KeychainFailure) -> Value {
        do {
            return try body()
        } catch {
            throw failure
        }
    }

    /// A key from its bytes; the size says which curve.
    ///
    /// - Throws: `errSecParam` when they are none.
    init(_ bytes: Data, isRSA: Bool, isPrivate: Bool) throws(KeychainFailure) {
        self.bytes = bytes
        self.isPrivate = isPrivate
        if isRSA {
            kind = .rsa
            if isPrivate {
                let key = try Self.trying {
                    try _RSA.Signing.PrivateKey(unsafeDERRepresentation: bytes)
                }
                (publicBytes, bits) = (key.publicKey.pkcs1DERRepresentation, key.keySizeInBits)
            } else {
                let key = try Self.trying {
                    try _RSA.Signing.PublicKey(unsafeDERRepresentation: bytes)
                }
                (publicBytes, bits) = (key.pkcs1DERRepresentation, key.keySizeInBits)
            }
            return
        }
        switch bytes.count {
        case isPrivate ? 97 : 65: (kind, bits) = (.p256, 256)
        case isPrivate ? 145 : 97: (kind, bits) = (.p384, 384)
        case isPrivate ? 199 : 133: (kind, bits) = (.p521, 521)
        default: throw Self.invalid
        }
        publicBytes = try Self.point(of: bytes, kind, isPrivate: isPrivate)
    }

    private static func point(
        of bytes: Data,
        _ kind: Kind,
        isPrivate: Bool
    ) throws(KeychainFailure) -> Data {
        try trying {
            switch (kind, isPrivate) {
            case (.p256, true):
                try P256.Signing.PrivateKey(x963Representation: bytes).publicKey.x963Representation
            case (.p384, true):
                try P384.Signing.PrivateKey(x963Representation: bytes).publicKey.x963Representation
            case (.p521, true):
                try P521.Signing.PrivateKey(x963Representation: bytes).publicKey.x963Representation
            case (.p256, false):
                try P256.Signing.PublicKey(x963Representation: bytes).x963Representation
            case (.p384, false):
                try P384.Signing.PublicKey(x963Representation: bytes).x963Representation
            default: try P521.Signing.PublicKey(x963Representation: bytes).x963Representation
            }
        }
    }

    /// A new key.
    ///
    /// - Throws: `errSecUnsupportedKeySize`.
    static func random(isRSA: Bool, bits: Int) throws(KeychainFailure) -> SoftwareKey {
        let size = KeychainFailure(errSecUnsupportedKeySize, "There are no keys of \(bits) bits.")
        if isRSA {
            guard (2048...8192).contains(bits), bits % 8 == 0 else { throw size }
            let key = try trying(size) {
                try _RSA.Signing.PrivateKey(keySize: .init(bitCount: bits))
            }
            return try SoftwareKey(key.derRepresentation, isRSA: true, isPrivate: true)
        }
        let bytes =
            switch bits {
            case 256: P256.Signing.PrivateKey().x963Representation
            case 384: P384.Signing.PrivateKey().x963Representation
            case 521: P521.Signing.PrivateKey().x963Representation
            default: throw size
            }
        return try SoftwareKey(bytes, isRSA: false, isPrivate: true)
    }

    /// The public half.
    var publicHalf: SoftwareKey {
        // Its bytes came from a key.
        isPrivate
            ? (try? SoftwareKey(publicBytes, isRSA: kind == .rsa, isPrivate: false)) ?? self : self
    }

    /// Apple's number of the kind.
    var type: UInt32 { kind == .rsa ? 42 : 73 }

    /// What both halves are found by.
    var label: [UInt8] { Array(Insecure.SHA1.hash(data: publicBytes)) }

    func supports(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
        let needsPrivate =
            switch operation {
            case .sign, .decrypt, .keyExchange: true
            case .verify, .encrypt: false
            }
        guard isPrivate || !needsPrivate, let scheme = try? KeyScheme(algorithm) else {
            return false
        }
        return scheme.isFor(operation, kind)
    }

    /// - Throws: `errSecUnsupportedAlgorithm` for what this key can't do.
    func scheme(
        _ operation: SecKeyOperationType,
        _ algorithm: SecKeyAlgorithm
    ) throws(KeychainFailure) -> KeyScheme {
        guard supports(operation, algorithm) else {
            throw KeychainFailure(
                errSecUnsupportedAlgorithm,
                "This key can't do \(algorithm.name) here."
            )
        }
        return try KeyScheme(algorithm)
    }
}
