import Crypto
import Foundation
import Testing

@testable import Security

/// Tests RSA encryption with a key of the openssl program.
struct RSATests {
    /// `openssl genrsa -traditional 2048`, as DER.
    private static let key = bytes(
        """
        MIIEowIBAAKCAQEAkJ16UO+ap/zVifRXyNy+99l1vDKwQbR/YTKpGoxyKWpeJWBt9Z74NGIC7aP5HuwbaQxs0uIa
        jhDUQ7xZkhqdvWdauvakP+7f9Pg11ZI51lH976EaGQrLIbr+qf4UBEYEQQlyOppY/QDhzAd2dJEN5GWS1466606l
        QFxe/4hnxd+PtQXZxmrsXK7QsiuuoC5e2/TN/peJ4zmv7V+POw94U+CTY9WuF3UeUkDLjXRsnVKVrDXqkiOKmpNy
        bSrhqDIjCkjWfBREO9+YVRRkpTjBjvhq8OtHJEunQbGC95MVy20Z5qDgD+s2XYAgR0EZX/ED/HJbdK1rhc+MBcwW
        Ha31qQIDAQABAoIBABEDVcZ7ybgFmKGYK1OoFJdX7+/qDq5MK8gli5th9nRE3TqMc6M3xn9zIGEQr1gh8r+TBKJy
        kykvdalaWTdFBlWn+RaRuZUD5zkMkljD0SYTk0pDq6xShr87HoalK3mtOwbjs5qNWfa5ydaU8iyYfAfoozPUyMyx
        /eLqewqY44x1qT7T/2YaEx/bajCDu3ze07yRXsFyOVk/5pIrqMpqwe2BupiA+4j4il7gxZMSHcys2zxr/KrSG+CR
        3ycI/D0KGxIxi24BA4jJXrqeHNKfP83UjhCNYDzIligEnZMk6DcvJQaanJwolyi2gX+4CygfXSZL5WZZS8pAN2+q
        OZJ5QOECgYEAysCS6GCjke7j82W/ZkXNXZc5pp0uz20hHG5yT0KEQ4l9/DAwQFuM++rb8BWOlpa2Cu72dw+UxJ0s
        dJRLQ8j/1aqzEVGKARiqBYhqu1igQvosmfaHOPjQFQlnE6Gia2YWFBHiDt48/vvcGJsu/kCbdZv8plvybP4xZkdM
        6yNTV20CgYEAtpg8BEEBrzu0FdA+didvISn/pGX1a0FCwC9++16gcfFgqVK9In8CQRp02K85rfS55Zu87L4qaKpE
        zRL5rCYKp0dkcS0MgJIlUdqDj+hAfZ2dzLD2hgeYbVgB/4OLv3Glglpea3+8UTypu+TdN3kIe0NFtH2leUPy07wv
        CiZJxa0CgYEAvUd2XlYJne1FBS8RteqoRB0vhunqj16zsJUzRec1Ds/Gu65I/Wv6fBvPY5zcVp0wKZjYomH7YmnQ
        3KysbwWwQMpxDVPv4AIkh7HI4klko+JlzP4nUvqFV35FqkAVHupY5jejsHmsu+ZonNgS0O2DtBIBlVT1RucvOuqJ
        VmLOJSkCgYB/rKjijJXh8ow0aH0UXvR8qwI+8LAPQ/2ppkxS9dKYeaAOJXVsZoSsAxTK4pMhSKqnmyMaIspCjzQ2
        dNsxfRQb7XaVEFvaltYTiwhNGqflbc2F8AMgqrTxWAVlpZSU06FYKVo2LoX+A73nTNtFy5KbpelakDShO1rSpJX7
        sdQJrQKBgC5IaoExTc9uP7zdHNXCBM1xNyneP8RJQNyixcRHf79Gw3HpNXvKuo1XCsY4TbnvMI7CgrD4AJpRHfjj
        bLP4lYMi7ckhc5/yVGXY8AkqVkqtWR/56IIhT/DxJ3yIWxln2XFnH4GM0X8kglEMAxX0UWghKGkm+OTlYMeKYBgU
        ulBI
        """
    )
    /// Decodes base64.
    private static func bytes(_ text: String) -> Data? {
        Data(base64Encoded: text, options: .ignoreUnknownCharacters)
    }

    private static func pair() throws -> (key: SecKey, half: SecKey) {
        let what: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        ]
        let bytes = try #require(key) as CFData
        let made = try #require(SecKeyCreateWithData(bytes, what as CFDictionary, nil))
        return (made, try #require(SecKeyCopyPublicKey(made)))
    }

    private static func seal(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) -> Data? {
        SecKeyCreateEncryptedData(key, algorithm, data as CFData, nil) as Data?
    }

    private static func open(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) -> Data? {
        SecKeyCreateDecryptedData(key, algorithm, data as CFData, nil) as Data?
    }

    @Test("OAEP with AES-GCM is an AES key encrypted by RSA, then the data")
    func hybrid() throws {
        let (key, half) = try Self.pair()
        let publicBytes = try #require(SecKeyCopyExternalRepresentation(half, nil)) as Data
        let forms: [(SecKeyAlgorithm, SecKeyAlgorithm)] = [
            (.rsaEncryptionOAEPSHA1AESGCM, .rsaEncryptionOAEPSHA1),
            (.rsaEncryptionOAEPSHA256AESGCM, .rsaEncryptionOAEPSHA256),
        ]
        for (algorithm, ofKey) in forms {
            for plain in [Data(), Data(repeating: 7, count: 5000)] {
                let sealed = try #require(Self.seal(half, algorithm, plain))
                #expect(Self.open(key, algorithm, sealed) == plain)
                let secret = try #require(Self.open(key, ofKey, sealed.prefix(256)))
                #expect(secret.count == 16)
                let box = try AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: Data(count: 16)),
                    ciphertext: sealed.dropFirst(256).dropLast(16),
                    tag: sealed.suffix(16)
                )
                let aes = SymmetricKey(data: secret)
                #expect(try AES.GCM.open(box, using: aes, authenticating: publicBytes) == plain)
                var changed = sealed
                changed[changed.count - 1] ^= 1
                #expect(Self.open(key, algorithm, changed) == nil)
                #expect(Self.open(key, algorithm, sealed.prefix(271)) == nil)
            }
        }
    }

    @Test("Algorithms without an implementation in swift-crypto are unsupported")
    func unsupported() throws {
        let (key, half) = try Self.pair()
        for algorithm in [
            SecKeyAlgorithm.rsaSignatureRaw, .rsaSignatureDigestPKCS1v15Raw,
            .rsaSignatureMessagePSSSHA224, .rsaSignatureMessagePKCS1v15SHA224,
        ] {
            #expect(!SecKeyIsAlgorithmSupported(key, .sign, algorithm))
        }
        for algorithm in [
            SecKeyAlgorithm.rsaEncryptionRaw, .rsaEncryptionOAEPSHA224, .rsaEncryptionOAEPSHA512,
        ] {
            #expect(!SecKeyIsAlgorithmSupported(half, .encrypt, algorithm))
            #expect(Self.seal(half, algorithm, Data([1])) == nil)
        }
    }

    @Test("A truncated or extended algorithm name is unknown")
    func cutNames() {
        for name in [
            "", "algid", "algid:sign", "algid:sign:RSA", "algid:encrypt:RSA", "algid:sign:ECDSA",
            "algid:encrypt:ECIES", "algid:keyexchange",
        ] {
            let algorithm = SecKeyAlgorithm(rawValue: name as NSString)
            #expect(throws: KeychainFailure.self, "\(name)") { try KeyScheme(algorithm) }
        }
    }
}
