import Crypto
import Glibc
import Sealing

/// The private half of a P-256 key, and its operations.
struct PrivateKey {
    let scalar: SecretBytes

    static let scalarSize = 32
    static let pointSize = 65
    private static let tagSize = 16
    /// The number of bytes by which encryption enlarges data.
    static let overhead = pointSize + tagSize

    static func random() throws(KeychainError) -> PrivateKey {
        // One in 2^32 random numbers is no valid scalar. Three in a row indicate a broken
        // generator.
        for _ in 0..<3 {
            let key = PrivateKey(scalar: SecretBytes(SecretBytes.random(count: scalarSize)))
            if (try? key.signing) != nil { return key }
        }
        throw KeychainError(.notAvailable, "No key can be made.")
    }

    /// The X9.63 point, uncompressed.
    var publicKey: [UInt8] {
        get throws(KeychainError) { Array(try signing.publicKey.x963Representation) }
    }

    /// Returns an ECDSA signature in X9.62 DER.
    func sign(_ data: [UInt8], _ algorithm: SignatureAlgorithm) throws(KeychainError) -> [UInt8] {
        let key = try signing
        do {
            switch algorithm {
            case .message: return Array(try key.signature(for: data).derRepresentation)
            case .digest:
                guard let digest = GivenDigest(data) else {
                    throw Self.noDigest
                }
                return Array(try key.signature(for: digest).derRepresentation)
            }
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeychainError(.notAvailable, "The key can't sign.")
        }
    }

    /// Decrypts Apple's ECIES: cofactor, X9.63 SHA-256, AES-GCM with a variable IV.
    ///
    /// The data consists of the sender's point, the cipher text and a tag of 16 bytes. The key
    /// derivation yields 16 bytes of AES key, then 16 bytes of IV. Its shared info is the sender's
    /// point.
    func decrypt(_ data: [UInt8]) throws(KeychainError) -> SecretBytes {
        guard data.count >= Self.overhead else { throw Self.undecryptable }
        let point = Array(data.prefix(Self.pointSize))
        let box = data.dropFirst(Self.pointSize)
        do {
            let shared = try agree(point)
            var derived =
                shared.x963DerivedSymmetricKey(
                    using: SHA256.self,
                    sharedInfo: point,
                    outputByteCount: 32
                )
                .withUnsafeBytes { Array($0) }
            defer { wipe(&derived) }
            let sealed = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: derived[16...]),
                ciphertext: box.dropLast(Self.tagSize),
                tag: box.suffix(Self.tagSize)
            )
            var key = Array(derived[..<16])
            defer { wipe(&key) }
            var opened = try AES.GCM.open(sealed, using: SymmetricKey(data: key))
            return SecretBytes(wiping: &opened)
        } catch {
            throw Self.undecryptable
        }
    }

    /// Returns the shared secret of this key and another party's point.
    func exchange(
        _ point: [UInt8],
        _ algorithm: ExchangeAlgorithm
    ) throws(KeychainError) -> SecretBytes {
        let shared: SharedSecret
        do {
            shared = try agree(point)
        } catch {
            throw Self.noPoint
        }
        var bytes: [UInt8]
        switch algorithm {
        case .plain: bytes = shared.withUnsafeBytes { Array($0) }
        case .x963(let info, let size):
            bytes =
                shared.x963DerivedSymmetricKey(
                    using: SHA256.self,
                    sharedInfo: info,
                    outputByteCount: size
                )
                .withUnsafeBytes { Array($0) }
        }
        return SecretBytes(wiping: &bytes)
    }

    static let noDigest = KeychainError.parameter("a SHA-256 digest has 32 bytes")
    static let noPoint = KeychainError.parameter("the public key is no X9.63 point of P-256")
    static let undecryptable = KeychainError(
        .decode,
        "The data was not encrypted for this key, or was changed."
    )

    private var signing: P256.Signing.PrivateKey {
        get throws(KeychainError) {
            do {
                return try scalar.use { scalar throws(any Error) in
                    try P256.Signing.PrivateKey(rawRepresentation: scalar)
                }
            } catch {
                throw .changed
            }
        }
    }

    private func agree(_ point: [UInt8]) throws -> SharedSecret {
        let key = try scalar.use { scalar throws(any Error) in
            try P256.KeyAgreement.PrivateKey(rawRepresentation: scalar)
        }
        let other = try P256.KeyAgreement.PublicKey(x963Representation: point)
        return try key.sharedSecretFromKeyAgreement(with: other)
    }
}

/// The signature algorithm.
///
/// Raw values are those of the wire.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
    /// SHA-256 of the data, then ECDSA.
    case message = "ecdsa-message-sha256"
    /// ECDSA of data that is a SHA-256 digest.
    case digest = "ecdsa-digest-sha256"
}

package enum ExchangeAlgorithm: Hashable, Sendable {
    /// The x coordinate, 32 bytes.
    case plain
    /// The key derivation of X9.63 with SHA-256.
    ///
    /// The size is in bytes.
    case x963(sharedInfo: [UInt8], size: Int)

    package static let sizes = 1...1024
}

struct GivenDigest: Digest {
    static let byteCount = 32

    private let bytes: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    var description: String { "SHA-256 digest" }

    func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }

    func withUnsafeBytes<Result>(
        // SAFETY: The protocol requires the pointer, which is valid during this call only.
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}
