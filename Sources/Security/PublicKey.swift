internal import Crypto
internal import Foundation

/// What the public half of a key can do, in this process.
enum PublicKey {
    private static let pointSize = 65
    private static let invalid = KeychainFailure(errSecParam, "This is no X9.63 point of P-256.")

    /// - Throws: `errSecParam` when the bytes are no point of the curve.
    static func check(_ point: [UInt8]) throws(KeychainFailure) {
        guard (try? P256.Signing.PublicKey(x963Representation: point)) != nil else { throw invalid }
    }

    /// Whether a signature in X9.62 DER is this key's.
    static func verify(
        _ signature: Data,
        of data: Data,
        isDigest: Bool,
        by point: [UInt8]
    ) throws(KeychainFailure) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: point) else {
            throw invalid
        }
        guard let parsed = try? P256.Signing.ECDSASignature(derRepresentation: signature) else {
            return false
        }
        guard isDigest else { return key.isValidSignature(parsed, for: data) }
        guard let digest = GivenDigest(data) else {
            throw KeychainFailure(errSecParam, "A SHA-256 digest has 32 bytes.")
        }
        return key.isValidSignature(parsed, for: digest)
    }

    /// Encrypts so that only the holder of the private half can read it.
    ///
    /// ECIES, cofactor, X9.63 with SHA-256, AES-GCM with a derived IV: an ephemeral point, the
    /// cipher text and a tag of 16 bytes.
    static func encrypt(_ data: Data, for point: [UInt8]) throws(KeychainFailure) -> Data {
        do {
            let other = try P256.KeyAgreement.PublicKey(x963Representation: point)
            let ephemeral = P256.KeyAgreement.PrivateKey()
            let ours = ephemeral.publicKey.x963Representation
            let derived = try ephemeral.sharedSecretFromKeyAgreement(with: other)
                .x963DerivedSymmetricKey(
                    using: SHA256.self,
                    sharedInfo: ours,
                    outputByteCount: 32
                )
                .withUnsafeBytes { Data($0) }
            let box = try AES.GCM.seal(
                data,
                using: SymmetricKey(data: derived.prefix(16)),
                nonce: AES.GCM.Nonce(data: derived.suffix(16))
            )
            return ours + box.ciphertext + box.tag
        } catch {
            throw invalid
        }
    }
}

/// A digest that was computed elsewhere.
private struct GivenDigest: Digest {
    static let byteCount = 32

    private let bytes: [UInt8]

    init?(_ data: Data) {
        guard data.count == Self.byteCount else { return nil }
        bytes = [UInt8](data)
    }

    var description: String { "SHA-256 digest" }

    func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }

    func withUnsafeBytes<Result>(
        // Required by the protocol; the pointer is valid during this call only.
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}
