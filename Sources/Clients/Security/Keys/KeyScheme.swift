internal import Foundation

/// A parsed algorithm name, as far as keys in this process implement it.
enum KeyScheme: Sendable, Hashable {
    enum Hash: String, Sendable {
        case sha1 = "SHA1"
        /// Needs OpenSSL.
        case sha224 = "SHA224"
        case sha256 = "SHA256"
        case sha384 = "SHA384"
        case sha512 = "SHA512"

        var size: Int {
            switch self {
            case .sha1: 20
            case .sha224: 28
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }

    /// The paddings of RSA, by OpenSSL's names.
    enum Padding: String, Sendable {
        case none
        case pkcs1
        case pss
        case oaep
    }

    /// An ECDSA signature; without a hash the input may be any digest.
    case ecdsa(Hash?, isDigest: Bool, isRaw: Bool)
    /// An RSA signature; without a hash the input itself is padded.
    case rsaSignature(Hash?, isDigest: Bool, Padding)
    /// RSA encryption; OAEP has a hash, and a hybrid encrypts an AES-GCM key.
    case rsaEncryption(Hash?, Padding, isHybrid: Bool)
    case ecies(Hash, hasVariableIV: Bool)
    case exchange(Hash?)

    /// - Throws: `errSecUnsupportedAlgorithm` for an unknown name.
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
        // In names without a hash the third part is the padding.
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
            guard parts.count > 3 else {
                let padding: Padding? = ["raw": .none, "digest-PKCS1v15": .pkcs1][way]
                return padding.map { .rsaSignature(nil, isDigest: true, $0) }
            }
            let padding: Padding = parts[2].hasSuffix("PSS") ? .pss : .pkcs1
            let isDigest = parts[2].hasPrefix("digest")
            return hash.map { .rsaSignature($0, isDigest: isDigest, padding) }
        case ("encrypt", "RSA"):
            guard parts.count > 3 else {
                let padding: Padding? = ["raw": .none, "PKCS1": .pkcs1][way]
                return padding.map { .rsaEncryption(nil, $0, isHybrid: false) }
            }
            let isHybrid = parts.last == "AESGCM"
            return hash.map { .rsaEncryption($0, .oaep, isHybrid: isHybrid) }
        case ("encrypt", "ECIES"):
            guard parts.count == 6, let hash = Hash(rawValue: parts[4]) else { return nil }
            return .ecies(hash, hasVariableIV: parts[5].hasSuffix("KDFIV"))
        case ("keyexchange", _):
            if parts.count == 2 { return .exchange(nil) }
            return hash.map { .exchange($0) }
        default: return nil
        }
    }

    /// Whether swift-crypto lacks the algorithm, and OpenSSL implements it.
    var needsOpenSSL: Bool {
        switch self {
        case .ecdsa(let hash, let isDigest, _): hash == .sha224 && !isDigest
        case .rsaSignature(let hash, _, _): hash == nil || hash == .sha224
        case .rsaEncryption(let hash, let padding, _):
            padding == .none || [.sha224, .sha384, .sha512].contains(hash)
        case .ecies(let hash, _): hash == .sha224
        case .exchange(let hash): hash == .sha224
        }
    }

    /// Whether a kind of key supports the algorithm.
    func isFor(_ operation: SecKeyOperationType, _ kind: SoftwareKey.Kind) -> Bool {
        if needsOpenSSL, !SoftwareKey.isOpenSSLInstalled { return false }
        return switch (self, operation) {
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
