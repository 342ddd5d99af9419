#if SoftwareKeys
internal import Crypto
internal import CryptoExtras
internal import Foundation

extension SoftwareKey {
    static let tagSize = 16

    func encrypt(_ data: Data, _ algorithm: SecKeyAlgorithm) throws(KeychainFailure) -> Data {
        switch try scheme(.encrypt, algorithm) {
        case .rsaEncryption(let hash, let isHybrid):
            guard isHybrid else { return try encryptByRSA(data, hash) }
            let key = SymmetricKey(size: sizeOfHybrid)
            let wrapped = try encryptByRSA(key.withUnsafeBytes { Data($0) }, hash)
            return try Self.trying {
                let nonce = try AES.GCM.Nonce(data: Data(count: 16))
                let bytes = publicBytes
                let box = try AES.GCM.seal(data, using: key, nonce: nonce, authenticating: bytes)
                return wrapped + box.ciphertext + box.tag
            }
        case .ecies(let hash, let hasVariableIV):
            let ephemeral = try Self.random(isRSA: false, bits: bits)
            let secret = try ephemeral.secret(with: publicBytes)
            let point = ephemeral.publicBytes
            let (key, nonce) = try derived(secret, hash, point, hasVariableIV)
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
        case .rsaEncryption(let hash, let isHybrid):
            guard isHybrid else { return try decryptByRSA(data, hash) }
            let size = (bits + 7) / 8
            guard data.count >= size + Self.tagSize else { throw Self.undecodable }
            let key = try decryptByRSA(Data(data.prefix(size)), hash)
            guard key.count * 8 == sizeOfHybrid.bitCount else { throw Self.undecodable }
            return try Self.trying(Self.undecodable) {
                let box = try AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: Data(count: 16)),
                    ciphertext: data.dropFirst(size).dropLast(Self.tagSize),
                    tag: data.suffix(Self.tagSize)
                )
                let key = SymmetricKey(data: key)
                return try AES.GCM.open(box, using: key, authenticating: publicBytes)
            }
        case .ecies(let hash, let hasVariableIV):
            let size = publicBytes.count
            guard data.count >= size + Self.tagSize else { throw Self.undecodable }
            let point = Data(data.prefix(size))
            guard let secret = try? secret(with: point) else { throw Self.undecodable }
            let (key, nonce) = try derived(secret, hash, point, hasVariableIV)
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

    /// Derives a shared secret with another key.
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
        let bytes = secret.withUnsafeBytes { Data($0) }
        guard let hash else { return bytes }
        return try Self.derived(bytes, hash, info, try Self.checkedSize(size))
    }

    /// The size of the AES key in RSA hybrid encryption, by Apple's rule.
    private var sizeOfHybrid: SymmetricKeySize { bits >= 4096 ? .bits256 : .bits128 }

    private func encryptByRSA(
        _ data: Data,
        _ hash: KeyScheme.Hash?
    ) throws(KeychainFailure) -> Data {
        try Self.trying {
            try _RSA.Encryption.PublicKey(unsafeDERRepresentation: publicBytes)
                .encrypt(data, padding: Self.choice(hash))
        }
    }

    private func decryptByRSA(
        _ data: Data,
        _ hash: KeyScheme.Hash?
    ) throws(KeychainFailure) -> Data {
        try Self.trying(Self.undecodable) {
            try _RSA.Encryption.PrivateKey(unsafeDERRepresentation: bytes)
                .decrypt(data, padding: Self.choice(hash))
        }
    }

    /// swift-crypto's name of a padding: OAEP with a hash, else PKCS#1 v1.5.
    private static func choice(_ hash: KeyScheme.Hash?) -> _RSA.Encryption.Padding {
        switch hash {
        case nil: ._WEAK_AND_INSECURE_PKCS_V1_5
        case .sha1: .PKCS1_OAEP
        default: .PKCS1_OAEP_SHA256
        }
    }

    /// Derives the key and the nonce of an encryption.
    ///
    /// By Apple's rule keys of up to 256 bits have a 128-bit AES key, larger keys have a 256-bit
    /// AES key. The nonce is zero, or derived if the algorithm says so.
    private func derived(
        _ secret: SharedSecret,
        _ hash: KeyScheme.Hash,
        _ point: Data,
        _ hasVariableIV: Bool
    ) throws(KeychainFailure) -> (key: SymmetricKey, nonce: Data) {
        let size = bits <= 256 ? 16 : 32
        let secret = secret.withUnsafeBytes { Data($0) }
        let bytes = try Self.derived(secret, hash, point, size + (hasVariableIV ? 16 : 0))
        let nonce = hasVariableIV ? Data(bytes.suffix(16)) : Data(count: 16)
        return (SymmetricKey(data: bytes.prefix(size)), nonce)
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
