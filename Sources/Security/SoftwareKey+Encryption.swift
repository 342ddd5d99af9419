#if SoftwareKeys
internal import Crypto
internal import CryptoExtras
internal import Foundation

extension SoftwareKey {
    static let undecodable = KeychainFailure(errSecDecode, "The data doesn't decrypt.")
    static let tagSize = 16

    func encrypt(_ data: Data, _ algorithm: SecKeyAlgorithm) throws(KeychainFailure) -> Data {
        switch try scheme(.encrypt, algorithm) {
        case .rsaEncryption(let hash):
            return try Self.trying {
                try _RSA.Encryption.PublicKey(unsafeDERRepresentation: publicBytes)
                    .encrypt(data, padding: Self.padding(hash))
            }
        case .ecies(let hash, let hasVariableIV):
            let ephemeral = try Self.random(isRSA: false, bits: bits)
            let secret = try ephemeral.secret(with: publicBytes)
            let point = ephemeral.publicBytes
            let (key, nonce) = derived(secret, hash, point, hasVariableIV)
            return try Self.trying {
                let nonce = try AES.GCM.Nonce(data: nonce)
                let box = try AES.GCM.seal(data, using: key, nonce: nonce)
                return point + box.ciphertext + box.tag
            }
        default: throw Self.invalid
        }
    }

    func decrypt(_ data: Data, _ algorithm: SecKeyAlgorithm) throws(KeychainFailure) -> Data {
        switch try scheme(.decrypt, algorithm) {
        case .rsaEncryption(let hash):
            return try Self.trying(Self.undecodable) {
                try _RSA.Encryption.PrivateKey(unsafeDERRepresentation: bytes)
                    .decrypt(data, padding: Self.padding(hash))
            }
        case .ecies(let hash, let hasVariableIV):
            let size = publicBytes.count
            guard data.count >= size + Self.tagSize else { throw Self.undecodable }
            let point = Data(data.prefix(size))
            guard let secret = try? secret(with: point) else { throw Self.undecodable }
            let (key, nonce) = derived(secret, hash, point, hasVariableIV)
            return try Self.trying(Self.undecodable) {
                let box = try AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: nonce),
                    ciphertext: data.dropFirst(size).dropLast(Self.tagSize),
                    tag: data.suffix(Self.tagSize)
                )
                return try AES.GCM.open(box, using: key)
            }
        default: throw Self.invalid
        }
    }

    /// Agrees on a secret with the holder of another key.
    func agree(
        with point: Data,
        _ algorithm: SecKeyAlgorithm,
        size: Int?,
        info: Data
    ) throws(KeychainFailure) -> Data {
        guard case .exchange(let hash) = try scheme(.keyExchange, algorithm) else {
            throw Self.invalid
        }
        let secret = try secret(with: point)
        guard let hash else { return secret.withUnsafeBytes { Data($0) } }
        return Self.derive(secret, hash, info, try Self.checkedSize(size))
            .withUnsafeBytes { Data($0) }
    }

    private static func padding(_ hash: KeyScheme.Hash?) -> _RSA.Encryption.Padding {
        switch hash {
        case .sha256: .PKCS1_OAEP_SHA256
        case nil: ._WEAK_AND_INSECURE_PKCS_V1_5
        default: .PKCS1_OAEP
        }
    }

    /// The key and the nonce of an encryption: Apple's rule is 128 bits for keys of up to 256 bits,
    /// and 256 above; a nonce of zeros, or one that is derived as well.
    private func derived(
        _ secret: SharedSecret,
        _ hash: KeyScheme.Hash,
        _ point: Data,
        _ hasVariableIV: Bool
    ) -> (key: SymmetricKey, nonce: Data) {
        let size = bits <= 256 ? 16 : 32
        let bytes = Self.derive(secret, hash, point, size + (hasVariableIV ? 16 : 0))
            .withUnsafeBytes { Data($0) }
        let nonce = hasVariableIV ? Data(bytes.suffix(16)) : Data(count: 16)
        return (SymmetricKey(data: bytes.prefix(size)), nonce)
    }

    private static func derive(
        _ secret: SharedSecret,
        _ hash: KeyScheme.Hash,
        _ info: Data,
        _ size: Int
    ) -> SymmetricKey {
        func derive<Function: HashFunction>(_ function: Function.Type) -> SymmetricKey {
            secret.x963DerivedSymmetricKey(
                using: function,
                sharedInfo: info,
                outputByteCount: size
            )
        }
        switch hash {
        case .sha1: return derive(Insecure.SHA1.self)
        case .sha256: return derive(SHA256.self)
        case .sha384: return derive(SHA384.self)
        case .sha512: return derive(SHA512.self)
        }
    }

    private func secret(with point: Data) throws(KeychainFailure) -> SharedSecret {
        try Self.trying {
            switch kind {
            case .p256:
                try P256.KeyAgreement.PrivateKey(x963Representation: bytes)
                    .sharedSecretFromKeyAgreement(with: .init(x963Representation: point))
            case .p384:
                try P384.KeyAgreement.PrivateKey(x963Representation: bytes)
                    .sharedSecretFromKeyAgreement(with: .init(x963Representation: point))
            default:
                try P521.KeyAgreement.PrivateKey(x963Representation: bytes)
                    .sharedSecretFromKeyAgreement(with: .init(x963Representation: point))
            }
        }
    }
}
#endif
