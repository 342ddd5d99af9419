import Crypto
import CryptoExtras
import FoundationEssentials

/// The extension `hmac-secret`: symmetric secrets of a passkey, sent under a key agreed with the
/// program (PIN/UV auth protocols 1 and 2).
struct HMACSecret {
    private let key = P256.KeyAgreement.PrivateKey()

    static let protocols = [2, 1]
    private static let blockSize = 16
    private static let saltSize = 32
    /// ECDH-ES with HKDF-SHA-256, which CTAP names and does not use.
    private static let agreementAlgorithm = -25

    /// The public key, as COSE.
    var agreementKey: CBOR {
        Self.cose(key.publicKey.rawRepresentation, algorithm: Self.agreementAlgorithm)
    }

    /// A public key as COSE; `point` is X and Y, 64 bytes.
    static func cose(_ point: some Collection<UInt8>, algorithm: Int) -> CBOR {
        .map([
            .number(1): .number(2), .number(3): .number(algorithm), .number(-1): .number(1),
            .number(-2): .bytes(Array(point.prefix(32))),
            .number(-3): .bytes(Array(point.dropFirst(32))),
        ])
    }

    /// A checked request of the extension.
    struct Request {
        fileprivate let keys: SessionKeys
        fileprivate let salts: [[UInt8]]

        /// Returns an encrypted secret for each salt.
        func answer(seed: [UInt8]) throws(VaultFault) -> CBOR {
            let secrets = salts.flatMap { salt in
                Array(HMAC<SHA256>.authenticationCode(for: salt, using: SymmetricKey(data: seed)))
            }
            return .bytes(try keys.encrypted(secrets))
        }
    }

    /// Reads the input of the extension.
    func request(_ input: CBOR) throws(CTAPStatus) -> Request {
        guard let peer = input[1], let salts = input[2]?.asBytes, let proof = input[3]?.asBytes
        else { throw .missingParameter }
        let number = input[4]?.asNumber ?? 1
        guard Self.protocols.contains(number) else { throw .invalidParameter }
        let keys = try sessionKeys(with: peer, isSecond: number == 2)
        guard keys.proves(proof, salts) else { throw .pinAuthInvalid }
        let plain = try keys.decrypted(salts)
        guard plain.count == Self.saltSize || plain.count == 2 * Self.saltSize else {
            throw .invalidParameter
        }
        let (first, second) = (plain.prefix(Self.saltSize), plain.dropFirst(Self.saltSize))
        return Request(keys: keys, salts: [first, second].filter { !$0.isEmpty }.map(Array.init))
    }

    private func sessionKeys(
        with peer: CBOR,
        isSecond: Bool
    ) throws(CTAPStatus) -> SessionKeys {
        guard peer[1] == .number(2), peer[-1] == .number(1), let x = peer[-2]?.asBytes,
            let y = peer[-3]?.asBytes, x.count == 32, y.count == 32,
            let point = try? P256.KeyAgreement.PublicKey(rawRepresentation: x + y),
            let shared = try? key.sharedSecretFromKeyAgreement(with: point)
        else { throw .invalidParameter }
        let bytes = shared.withUnsafeBytes { Array($0) }
        guard isSecond else {
            let key = SymmetricKey(data: SHA256.hash(data: bytes))
            return SessionKeys(authentication: key, encryption: key, isSecond: false)
        }
        func derived(_ word: String) -> SymmetricKey {
            HKDF<SHA256>
                .deriveKey(
                    inputKeyMaterial: SymmetricKey(data: bytes),
                    salt: [UInt8](repeating: 0, count: 32),
                    info: Array(word.utf8),
                    outputByteCount: 32
                )
        }
        return SessionKeys(
            authentication: derived("CTAP2 HMAC key"),
            encryption: derived("CTAP2 AES key"),
            isSecond: true
        )
    }

    fileprivate struct SessionKeys {
        let authentication: SymmetricKey
        let encryption: SymmetricKey
        /// Protocol 2 sends a random initialization vector; protocol 1 has zeros.
        let isSecond: Bool

        /// Compares in constant time.
        func proves(_ proof: [UInt8], _ message: [UInt8]) -> Bool {
            let code = Array(HMAC<SHA256>.authenticationCode(for: message, using: authentication))
            let wanted = isSecond ? code[...] : code.prefix(HMACSecret.blockSize)
            guard proof.count == wanted.count else { return false }
            return zip(proof, wanted).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
        }

        func encrypted(_ plain: [UInt8]) throws(VaultFault) -> [UInt8] {
            let vector =
                isSecond
                ? randomBytes(HMACSecret.blockSize)
                : [UInt8](repeating: 0, count: HMACSecret.blockSize)
            guard let iv = try? AES._CBC.IV(ivBytes: vector),
                let data = try? AES._CBC.encrypt(plain, using: encryption, iv: iv, noPadding: true)
            else { throw .unreachable("A secret can't be encrypted.") }
            return (isSecond ? vector : []) + Array(data)
        }

        func decrypted(_ content: [UInt8]) throws(CTAPStatus) -> [UInt8] {
            let vector =
                isSecond
                ? Array(content.prefix(HMACSecret.blockSize))
                : [UInt8](repeating: 0, count: HMACSecret.blockSize)
            let rest = Array(isSecond ? content.dropFirst(HMACSecret.blockSize) : content[...])
            guard vector.count == HMACSecret.blockSize, !rest.isEmpty,
                rest.count.isMultiple(of: HMACSecret.blockSize),
                let iv = try? AES._CBC.IV(ivBytes: vector),
                let data = try? AES._CBC.decrypt(rest, using: encryption, iv: iv, noPadding: true)
            else { throw .invalidParameter }
            return Array(data)
        }
    }
}
