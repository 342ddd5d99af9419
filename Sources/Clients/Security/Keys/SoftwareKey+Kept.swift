#if SoftwareKeys
internal import Crypto
internal import Foundation

// The parts of a signature, a decryption and an agreement that need no private half.

extension SoftwareKey {
    /// A digest of any length as the 32 bytes that ECDSA on P-256 makes of it: cut at the end, or
    /// with zeros before it.
    static func digestOfP256(
        _ data: Data,
        _ scheme: KeyScheme
    ) throws(KeychainFailure) -> [UInt8] {
        guard case .ecdsa(let hash, let isDigest, _) = scheme else { throw invalid }
        let digest = [UInt8](try digest(data, hash, isDigest)).prefix(32)
        return [UInt8](repeating: 0, count: 32 - digest.count) + digest
    }

    /// A signature in DER as a scheme has it.
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

    /// - Throws: `errSecParam` for a size that no key derivation has.
    static func checkedSize(_ size: Int?) throws(KeychainFailure) -> Int {
        guard let size, (1...1024).contains(size) else {
            throw KeychainFailure(errSecParam, "A key derivation needs the size of its result.")
        }
        return size
    }

    /// What a key derivation makes of a secret that two keys agreed on.
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
            result += try hash.digest(secret + number + info)
            counter += 1
        }
        return result.prefix(size)
    }
}

/// What is encrypted for a key on P-256: the sender's point, the cipher text and a tag.
struct SealedBox {
    let point: [UInt8]
    private let box: Data
    private let hash: KeyScheme.Hash
    private let hasVariableIV: Bool

    /// - Throws: `errSecDecode` for what is too short.
    init(_ data: Data, _ scheme: KeyScheme) throws(KeychainFailure) {
        guard case .ecies(let hash, let hasVariableIV) = scheme,
            data.count >= 65 + SoftwareKey.tagSize
        else { throw SoftwareKey.undecodable }
        (self.hash, self.hasVariableIV) = (hash, hasVariableIV)
        (point, box) = ([UInt8](data.prefix(65)), Data(data.dropFirst(65)))
    }

    /// - Throws: `errSecDecode` for what was encrypted for another key, or was changed.
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
