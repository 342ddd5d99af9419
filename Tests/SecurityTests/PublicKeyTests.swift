import Crypto
import Foundation
import Security
import Testing

/// Tests public keys, which need no service.
struct PublicKeyTests {
    private let own = P256.Signing.PrivateKey()
    private let attributes: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
        kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
    ]

    private func publicKey(_ point: Data) -> SecKey? {
        SecKeyCreateWithData(point as CFData, attributes as CFDictionary, nil)
    }

    @Test("A point is exported unchanged, and invalid bytes are refused")
    func representation() throws {
        let point = own.publicKey.x963Representation
        let key = try #require(publicKey(point))
        #expect(SecKeyCopyExternalRepresentation(key, nil) as Data? == point)
        #expect(
            SecKeyCreateWithData(Data(count: 65) as CFData, attributes as CFDictionary, nil) == nil
        )
        var error: Unmanaged<CFError>?
        #expect(SecKeyCreateWithData(Data() as CFData, attributes as CFDictionary, &error) == nil)
        #expect(error?.takeRetainedValue().code == Int(errSecParam))
    }

    @Test("A signature verifies for its message and its digest only")
    func verification() throws {
        let key = try #require(publicKey(own.publicKey.x963Representation))
        let message = Data("pay 5 to jo".utf8)
        let signature = try own.signature(for: message).derRepresentation as CFData
        let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
        #expect(SecKeyVerifySignature(key, algorithm, message as CFData, signature, nil))
        let digest = Data(SHA256.hash(data: message)) as CFData
        let ofDigest = SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256
        #expect(SecKeyVerifySignature(key, ofDigest, digest, signature, nil))
        var error: Unmanaged<CFError>?
        let other = Data("pay 9 to jo".utf8) as CFData
        #expect(!SecKeyVerifySignature(key, algorithm, other, signature, &error))
        #expect(error?.takeRetainedValue().code == Int(errSecVerifyFailed))
        #expect(!SecKeyVerifySignature(key, algorithm, other, Data([1]) as CFData, nil))
        let another = Data(SHA256.hash(data: Data("pay 9 to jo".utf8))) as CFData
        #expect(!SecKeyVerifySignature(key, ofDigest, another, signature, nil))
        #expect(!SecKeyVerifySignature(key, ofDigest, Data([1]) as CFData, signature, nil))
    }

    @Test("A public key verifies and encrypts, without RSA algorithms")
    func support() throws {
        let key = try #require(publicKey(own.publicKey.x963Representation))
        #expect(SecKeyIsAlgorithmSupported(key, .verify, .ecdsaSignatureMessageX962SHA256))
        #expect(!SecKeyIsAlgorithmSupported(key, .sign, .ecdsaSignatureMessageX962SHA256))
        #expect(!SecKeyIsAlgorithmSupported(key, .verify, .rsaSignatureMessagePKCS1v15SHA256))
        let data = Data("x".utf8) as CFData
        var error: Unmanaged<CFError>?
        #expect(SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, data, &error) == nil)
        #expect(error != nil)
        error?.release()
    }

    @Test("A ciphertext has a point, the text's length and a tag, and differs each time")
    func encryption() throws {
        let key = try #require(publicKey(own.publicKey.x963Representation))
        let algorithm = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
        let data = Data("secret".utf8) as CFData
        let first = try #require(SecKeyCreateEncryptedData(key, algorithm, data, nil)) as Data
        let second = try #require(SecKeyCreateEncryptedData(key, algorithm, data, nil)) as Data
        #expect(first.count == 65 + 6 + 16)
        #expect(first != second)
    }
}
