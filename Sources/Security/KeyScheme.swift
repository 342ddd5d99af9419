internal import Foundation

/// What an algorithm's name says, as far as a key in this process can do it.
enum KeyScheme: Sendable, Hashable {
    enum Hash: String, Sendable {
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha384 = "SHA384"
        case sha512 = "SHA512"

        var size: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }

    /// An ECDSA signature; without a hash the data is a digest of any.
    case ecdsa(Hash?, isDigest: Bool, isRaw: Bool)
    case rsaSignature(Hash, isDigest: Bool, isPSS: Bool)
    /// OAEP with a hash, or PKCS#1 without.
    case rsaEncryption(Hash?)
    case ecies(Hash, hasVariableIV: Bool)
    case exchange(Hash?)

    /// - Throws: `errSecUnsupportedAlgorithm`: SHA-224 and RSA without a padding, among others.
    init(_ algorithm: SecKeyAlgorithm) throws(KeychainFailure) {
        let parts = algorithm.name.split(separator: ":").dropFirst().map(String.init)
        guard let scheme = Self.known(parts) else {
            throw KeychainFailure(
                errSecUnsupportedAlgorithm,
                "There is no \(algorithm.name) here."
            )
        }
        self = scheme
    }

    private static func known(_ parts: [String]) -> KeyScheme? {
        let hash = parts.count > 3 ? Hash(rawValue: parts[3]) : nil
        switch (parts.first, parts.dropFirst().first) {
        case ("sign", "ECDSA"):
            if parts.count == 3 {
                let isRaw = parts[2].hasSuffix("RFC4754")
                return .ecdsa(nil, isDigest: true, isRaw: isRaw)
            }
            guard let hash, parts.count == 4 else { return nil }
            let isRaw = parts[2].hasSuffix("RFC4754")
            return .ecdsa(hash, isDigest: parts[2].hasPrefix("digest"), isRaw: isRaw)
        case ("sign", "RSA"):
            guard let hash else { return nil }
            let isPSS = parts[2].hasSuffix("PSS")
            return .rsaSignature(hash, isDigest: parts[2].hasPrefix("digest"), isPSS: isPSS)
        case ("encrypt", "RSA"):
            if parts.last == "PKCS1" { return .rsaEncryption(nil) }
            guard let hash, parts.count == 4, [.sha1, .sha256].contains(hash) else { return nil }
            return .rsaEncryption(hash)
        case ("encrypt", "ECIES"):
            guard parts.count == 6, let hash = Hash(rawValue: parts[4]) else { return nil }
            return .ecies(hash, hasVariableIV: parts[5].hasSuffix("KDFIV"))
        case ("keyexchange", _):
            if parts.count == 2 { return .exchange(nil) }
            return hash.map { .exchange($0) }
        default: return nil
        }
    }

    /// Whether a key of a kind can do it.
    func isFor(_ operation: SecKeyOperationType, _ kind: SoftwareKey.Kind) -> Bool {
        switch (self, operation) {
        case (.ecdsa, .sign), (.ecdsa, .verify), (.ecies, .encrypt), (.ecies, .decrypt),
            (.exchange, .keyExchange):
            kind != .rsa
        case (.rsaSignature, .sign), (.rsaSignature, .verify), (.rsaEncryption, .encrypt),
            (.rsaEncryption, .decrypt):
            kind == .rsa
        default: false
        }
    }
}
