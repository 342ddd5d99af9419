#if SoftwareKeys
internal import Crypto
internal import CryptoExtras
internal import Foundation

extension SoftwareKey {
    /// Whether this build has keys in the process.
    static let areBuilt = true

    /// Runs a call of swift-crypto, and replaces its errors, which contain no detail.
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

    /// The label of both halves.
    func label() throws(KeychainFailure) -> [UInt8] {
        Array(Insecure.SHA1.hash(data: publicBytes))
    }

    static func publicHalfOfRSA(
        _ bytes: Data,
        isPrivate: Bool
    ) throws(KeychainFailure) -> (bytes: Data, bits: Int) {
        try trying {
            let key =
                if isPrivate {
                    try _RSA.Signing.PrivateKey(unsafeDERRepresentation: bytes).publicKey
                } else {
                    try _RSA.Signing.PublicKey(unsafeDERRepresentation: bytes)
                }
            return (key.pkcs1DERRepresentation, key.keySizeInBits)
        }
    }

    static func point(
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

    /// Generates a key.
    ///
    /// - Throws: `errSecParam` for another size.
    static func random(isRSA: Bool, bits: Int) throws(KeychainFailure) -> SoftwareKey {
        let size = KeychainFailure(errSecParam, "There are no keys of \(bits) bits.")
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
}
#endif
