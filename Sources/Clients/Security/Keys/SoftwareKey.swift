internal import Foundation

/// A key whose bytes are in this process, in Apple's external format.
struct SoftwareKey: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case p256
        case p384
        case p521
        case rsa
    }

    let kind: Kind
    let isPrivate: Bool
    /// X9.63 for elliptic curves, with the private number after the point; PKCS#1 for RSA.
    let bytes: Data
    let publicBytes: Data
    let bits: Int

    static let invalid = KeychainFailure(errSecParam, "These bytes are no such key.")
    static let undecodable = KeychainFailure(errSecParam, "The data doesn't decrypt.")

    /// Parses a key; the number of bytes determines the curve.
    ///
    /// - Throws: `errSecParam` for invalid bytes.
    init(_ bytes: Data, isRSA: Bool, isPrivate: Bool) throws(KeychainFailure) {
        self.bytes = bytes
        self.isPrivate = isPrivate
        if isRSA {
            kind = .rsa
            (publicBytes, bits) = try Self.publicHalfOfRSA(bytes, isPrivate: isPrivate)
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

    var publicHalf: SoftwareKey {
        // The conversion can't fail, because the bytes come from a valid key.
        isPrivate
            ? (try? SoftwareKey(publicBytes, isRSA: kind == .rsa, isPrivate: false)) ?? self : self
    }

    /// Apple's number for the type.
    var type: UInt32 { kind == .rsa ? 42 : 73 }

    func supports(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
        let needsPrivate =
            switch operation {
            case .sign, .decrypt, .keyExchange: true
            case .verify, .encrypt: false
            }
        guard Self.areBuilt, isPrivate || !needsPrivate, let scheme = try? KeyScheme(algorithm)
        else { return false }
        return scheme.isFor(operation, kind)
    }

    /// - Throws: `errSecParam` if the key doesn't support the algorithm.
    func scheme(
        _ operation: SecKeyOperationType,
        _ algorithm: SecKeyAlgorithm
    ) throws(KeychainFailure) -> KeyScheme {
        guard supports(operation, algorithm) else { throw Self.unsupported(algorithm) }
        return try KeyScheme(algorithm)
    }

    /// - Throws: `errSecParam` for an invalid size of a derived key.
    static func checkedSize(_ size: Int?) throws(KeychainFailure) -> Int {
        guard let size, (1...1024).contains(size) else {
            throw KeychainFailure(errSecParam, "A key derivation needs the size of its result.")
        }
        return size
    }

    /// Returns the error for an unsupported algorithm, in Apple's words.
    static func unsupported(_ algorithm: SecKeyAlgorithm) -> KeychainFailure {
        KeychainFailure(errSecParam, "\(algorithm.name): algorithm not supported by the key")
    }
}
