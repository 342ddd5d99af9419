#if SoftwareKeys
internal import Crypto
internal import CryptoExtras
internal import Foundation

extension SoftwareKey {
    func sign(_ data: Data, _ algorithm: SecKeyAlgorithm) throws(KeychainFailure) -> Data {
        switch try scheme(.sign, algorithm) {
        case .ecdsa(let hash, let isDigest, let isRaw):
            let digest = try Self.digest(data, hash, isDigest)
            return try Self.trying { try ecdsa(digest, isRaw) }
        case .rsaSignature(let hash, let isDigest, let padding):
            let data = try Self.digest(data, hash, isDigest)
            let choice: _RSA.Signing.Padding = padding == .pss ? .PSS : .insecurePKCS1v1_5
            return try Self.trying {
                let key = try _RSA.Signing.PrivateKey(unsafeDERRepresentation: bytes)
                return switch hash {
                case .sha1: try key.sign(data, as: Insecure.SHA1.self, choice)
                case .sha256: try key.sign(data, as: SHA256.self, choice)
                case .sha384: try key.sign(data, as: SHA384.self, choice)
                case .sha512: try key.sign(data, as: SHA512.self, choice)
                }
            }
        default: throw Self.invalid
        }
    }

    func verify(
        _ signature: Data,
        of data: Data,
        _ algorithm: SecKeyAlgorithm
    ) throws(KeychainFailure) -> Bool {
        switch try scheme(.verify, algorithm) {
        case .ecdsa(let hash, let isDigest, let isRaw):
            let digest = try Self.digest(data, hash, isDigest)
            return (try? isECDSA(signature, digest, isRaw)) ?? false
        case .rsaSignature(let hash, let isDigest, let padding):
            let data = try Self.digest(data, hash, isDigest)
            let choice: _RSA.Signing.Padding = padding == .pss ? .PSS : .insecurePKCS1v1_5
            let key = try Self.trying {
                try _RSA.Signing.PublicKey(unsafeDERRepresentation: publicBytes)
            }
            return switch hash {
            case .sha1: key.verify(signature, data, as: Insecure.SHA1.self, choice)
            case .sha256: key.verify(signature, data, as: SHA256.self, choice)
            case .sha384: key.verify(signature, data, as: SHA384.self, choice)
            case .sha512: key.verify(signature, data, as: SHA512.self, choice)
            }
        default: throw Self.invalid
        }
    }

    static func digest(
        _ data: Data,
        _ hash: KeyScheme.Hash?,
        _ isDigest: Bool
    ) throws(KeychainFailure) -> Data {
        guard isDigest else { return hash?.digest(data) ?? data }
        let isRight = hash.map { data.count == $0.size } ?? (20...64).contains(data.count)
        guard isRight else { throw KeychainFailure(errSecParam, "A digest has another length.") }
        return data
    }

    private func ecdsa(_ digest: Data, _ isRaw: Bool) throws -> Data {
        let digest = GivenDigest(digest)
        switch kind {
        case .p256:
            let made = try P256.Signing.PrivateKey(x963Representation: bytes).signature(for: digest)
            return isRaw ? made.rawRepresentation : made.derRepresentation
        case .p384:
            let made = try P384.Signing.PrivateKey(x963Representation: bytes).signature(for: digest)
            return isRaw ? made.rawRepresentation : made.derRepresentation
        default:
            let made = try P521.Signing.PrivateKey(x963Representation: bytes).signature(for: digest)
            return isRaw ? made.rawRepresentation : made.derRepresentation
        }
    }

    private func isECDSA(_ signature: Data, _ digest: Data, _ isRaw: Bool) throws -> Bool {
        let digest = GivenDigest(digest)
        switch kind {
        case .p256:
            return try P256.Signing.PublicKey(x963Representation: publicBytes)
                .isValidSignature(
                    isRaw
                        ? .init(rawRepresentation: signature) : .init(derRepresentation: signature),
                    for: digest
                )
        case .p384:
            return try P384.Signing.PublicKey(x963Representation: publicBytes)
                .isValidSignature(
                    isRaw
                        ? .init(rawRepresentation: signature) : .init(derRepresentation: signature),
                    for: digest
                )
        default:
            return try P521.Signing.PublicKey(x963Representation: publicBytes)
                .isValidSignature(
                    isRaw
                        ? .init(rawRepresentation: signature) : .init(derRepresentation: signature),
                    for: digest
                )
        }
    }
}

extension KeyScheme.Hash {
    func digest(_ data: Data) -> Data {
        switch self {
        case .sha1: Data(Insecure.SHA1.hash(data: data))
        case .sha256: Data(SHA256.hash(data: data))
        case .sha384: Data(SHA384.hash(data: data))
        case .sha512: Data(SHA512.hash(data: data))
        }
    }
}

/// A digest that was computed elsewhere.
struct GivenDigest: Digest {
    // ECDSA accepts any digest, truncated to the size of the curve.
    static let byteCount = 64

    private let bytes: [UInt8]

    init(_ data: Data) {
        bytes = [UInt8](data)
    }

    var description: String { "a digest" }

    func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }

    func withUnsafeBytes<Result>(
        // SAFETY: the protocol requires the pointer, which is valid during this call only.
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}

/// Converts bytes to swift-crypto's digest type, because RSA signatures name their hash.
private func digest<Function: HashFunction>(
    _ bytes: Data,
    of function: Function.Type
) -> Function.Digest {
    precondition(MemoryLayout<Function.Digest>.size >= bytes.count)
    return withUnsafeTemporaryAllocation(of: Function.Digest.self, capacity: 1) { buffer in
        // SAFETY: swift-crypto has no other way to create this type, whose only content is the
        // bytes.
        let raw = UnsafeMutableRawBufferPointer(buffer)
        raw.initializeMemory(as: UInt8.self, repeating: 0)
        raw.copyBytes(from: bytes)
        return buffer[0]
    }
}

extension _RSA.Signing.PrivateKey {
    fileprivate func sign<Function: HashFunction>(
        _ bytes: Data,
        as function: Function.Type,
        _ padding: _RSA.Signing.Padding
    ) throws -> Data {
        try signature(for: digest(bytes, of: function), padding: padding).rawRepresentation
    }
}

extension _RSA.Signing.PublicKey {
    fileprivate func verify<Function: HashFunction>(
        _ signature: Data,
        _ bytes: Data,
        as function: Function.Type,
        _ padding: _RSA.Signing.Padding
    ) -> Bool {
        let given = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return isValidSignature(given, for: digest(bytes, of: function), padding: padding)
    }
}
#endif
