internal import Foundation

/// A parsed algorithm name, as far as keys in this process implement it.
enum KeyScheme: Sendable, Hashable {
    /// The hashes of swift-crypto, which has no SHA-224.
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

    /// The paddings of RSA.
    enum Padding: Sendable {
        case pkcs1
        case pss
    }

    /// An ECDSA signature; without a hash the input may be any digest.
    case ecdsa(Hash?, isDigest: Bool, isRaw: Bool)
    case rsaSignature(Hash, isDigest: Bool, Padding)
    /// RSA encryption: OAEP with a hash, else PKCS#1. A hybrid encrypts an AES-GCM key.
    case rsaEncryption(Hash?, isHybrid: Bool)
    case ecies(Hash, hasVariableIV: Bool)
    case exchange(Hash?)

    /// - Throws: `errSecParam` for an unknown name.
    init(_ algorithm: SecKeyAlgorithm) throws(KeychainFailure) {
        let parts = algorithm.name.split(separator: ":").dropFirst().map(String.init)
        guard let scheme = Self.known(parts) else { throw SoftwareKey.unsupported(algorithm) }
        self = scheme
    }

    private static func known(_ parts: [String]) -> KeyScheme? {
        let hash = parts.count > 3 ? Hash(rawValue: parts[3]) : nil
        let way = parts.count > 2 ? parts[2] : ""
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
            let padding: Padding = way.hasSuffix("PSS") ? .pss : .pkcs1
            let isDigest = way.hasPrefix("digest")
            return hash.map { .rsaSignature($0, isDigest: isDigest, padding) }
        case ("encrypt", "RSA"):
            if parts.count == 3, way == "PKCS1" {
                return .rsaEncryption(nil, isHybrid: false)
            }
            guard let hash, [.sha1, .sha256].contains(hash) else { return nil }
            return .rsaEncryption(hash, isHybrid: parts.last == "AESGCM")
        case ("encrypt", "ECIES"):
            guard parts.count == 6, let hash = Hash(rawValue: parts[4]) else { return nil }
            return .ecies(hash, hasVariableIV: parts[5].hasSuffix("KDFIV"))
        case ("keyexchange", _):
            if parts.count == 2 { return .exchange(nil) }
            return hash.map { .exchange($0) }
        default: return nil
        }
    }

    /// Whether a kind of key supports the algorithm.
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
