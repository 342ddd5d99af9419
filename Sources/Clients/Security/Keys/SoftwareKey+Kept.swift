#if SoftwareKeys
internal import Crypto
internal import Foundation

// The parts of signing, decrypting and key exchange that need no private half.

extension SoftwareKey {
    /// Converts a digest to the 32 bytes of ECDSA on P-256, truncated or padded with leading zeros.
    static func digestOfP256(
        _ data: Data,
        _ scheme: KeyScheme
    ) throws(KeychainFailure) -> [UInt8] {
        guard case .ecdsa(let hash, let isDigest, _) = scheme else { throw invalid }
        let digest = [UInt8](try digest(data, hash, isDigest)).prefix(32)
        return [UInt8](repeating: 0, count: 32 - digest.count) + digest
    }

    /// Converts a DER signature to the scheme's format.
    static func signatureOfP256(
        _ signature: [UInt8],
        _ scheme: KeyScheme
    ) throws(KeychainFailure) -> [UInt8] {
        guard case .ecdsa(_, _, let isRaw) = scheme, isRaw else { return signature }
        return try trying {
            let made = try P256.Signing.ECDSASignature(derRepresentation: Data(signature))
            return [UInt8](made.rawRepresentation)
        }
    }

    /// Applies the scheme's key derivation to a shared secret.
    static func derived(
        _ secret: Data,
        _ scheme: KeyScheme,
        _ info: Data,
        _ size: Int
    ) throws(KeychainFailure) -> Data {
        guard case .exchange(let hash?) = scheme else { throw invalid }
        return try derived(secret, hash, info, size)
    }

    /// The key derivation of X9.63.
    static func derived(
        _ secret: Data,
        _ hash: KeyScheme.Hash,
        _ info: Data,
        _ size: Int
    ) throws(KeychainFailure) -> Data {
        var result = Data()
        var counter: UInt32 = 1
        while result.count < size {
            let number = withUnsafeBytes(of: counter.bigEndian) { Data($0) }
            result += hash.digest(secret + number + info)
            counter += 1
        }
        return result.prefix(size)
    }
}

/// A ciphertext for a P-256 key: the sender's point, the encrypted data and a tag.
struct SealedBox {
    let point: [UInt8]
    private let box: Data
    private let hash: KeyScheme.Hash
    private let hasVariableIV: Bool

    /// - Throws: `errSecParam` if the data is too short.
    init(_ data: Data, _ scheme: KeyScheme) throws(KeychainFailure) {
        guard case .ecies(let hash, let hasVariableIV) = scheme,
            data.count >= 65 + SoftwareKey.tagSize
        else { throw SoftwareKey.undecodable }
        (self.hash, self.hasVariableIV) = (hash, hasVariableIV)
        (point, box) = ([UInt8](data.prefix(65)), Data(data.dropFirst(65)))
    }

    /// - Throws: `errSecParam` for another key or modified data.
    func opened(with secret: Data) throws(KeychainFailure) -> Data {
        let bytes = try SoftwareKey.derived(secret, hash, Data(point), hasVariableIV ? 32 : 16)
        return try SoftwareKey.trying(SoftwareKey.undecodable) {
            let sealed = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: hasVariableIV ? bytes.suffix(16) : Data(count: 16)),
                ciphertext: box.dropLast(SoftwareKey.tagSize),
                tag: box.suffix(SoftwareKey.tagSize)
            )
            return try AES.GCM.open(sealed, using: SymmetricKey(data: bytes.prefix(16)))
        }
    }
}
#endif
