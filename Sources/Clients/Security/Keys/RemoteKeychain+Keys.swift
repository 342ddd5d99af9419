internal import DBus
internal import Foundation

/// Algorithms of service keys beyond the algorithms that the service implements.
///
/// The service signs SHA-256 digests and derives shared secrets. Every other P-256 signature is
/// made from a digest as well, and every other decryption from a shared secret.
extension RemoteKeychain {
    /// Whether a service key supports an operation with an algorithm.
    static nonisolated func supports(
        _ operation: SecKeyOperationType,
        _ algorithm: SecKeyAlgorithm
    ) -> Bool {
        if (try? algorithm.word(for: operation)) != nil { return true }
        guard SoftwareKey.areBuilt, let scheme = try? KeyScheme(algorithm) else { return false }
        return scheme.isFor(operation, .p256)
    }

    package func sign(
        _ id: String,
        _ algorithm: SecKeyAlgorithm,
        _ data: [UInt8],
        _ use: PromptOptions
    ) async throws(KeychainFailure) -> [UInt8] {
        if let word = try? algorithm.word(for: .sign) { return try await sign(id, word, data, use) }
        try Self.check(.sign, algorithm)
        let scheme = try KeyScheme(algorithm)
        let digest = try SoftwareKey.digestOfP256(Data(data), scheme)
        let word = try SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256.word(for: .sign)
        let signature = try await sign(id, word, digest, use)
        return try SoftwareKey.signatureOfP256(signature, scheme)
    }

    package func decrypt(
        _ id: String,
        _ algorithm: SecKeyAlgorithm,
        _ data: [UInt8],
        _ use: PromptOptions
    ) async throws(KeychainFailure) -> [UInt8] {
        if let word = try? algorithm.word(for: .decrypt) {
            do throws(KeychainFailure) {
                return try await decrypt(id, word, data, use)
            } catch {
                throw error.status == errSecDecode ? SoftwareKey.undecodable : error
            }
        }
        try Self.check(.decrypt, algorithm)
        let box = try SealedBox(Data(data), try KeyScheme(algorithm))
        let secret = try await agree(id, Self.plainAgreement, box.point, [:], use)
        return [UInt8](try box.opened(with: Data(secret)))
    }

    /// Derives a shared secret with a key of the service.
    package func agree(
        _ id: String,
        _ algorithm: SecKeyAlgorithm,
        _ publicKey: [UInt8],
        size: Int?,
        info: [UInt8],
        _ use: PromptOptions
    ) async throws(KeychainFailure) -> [UInt8] {
        if let word = try? algorithm.word(for: .keyExchange) {
            guard word != Self.plainAgreement else {
                return try await agree(id, word, publicKey, [:], use)
            }
            let size = try SoftwareKey.checkedSize(size)
            var options: [String: Variant] = ["size": .uint32(UInt32(size))]
            if !info.isEmpty { options["shared-info"] = .bytes(info) }
            return try await agree(id, word, publicKey, options, use)
        }
        try Self.check(.keyExchange, algorithm)
        let size = try SoftwareKey.checkedSize(size)
        let secret = try await agree(id, Self.plainAgreement, publicKey, [:], use)
        let scheme = try KeyScheme(algorithm)
        return [UInt8](try SoftwareKey.derived(Data(secret), scheme, Data(info), size))
    }

    private static let plainAgreement = "ecdh"

    private static func check(
        _ operation: SecKeyOperationType,
        _ algorithm: SecKeyAlgorithm
    ) throws(KeychainFailure) {
        guard supports(operation, algorithm) else { throw SoftwareKey.unsupported(algorithm) }
    }
}
