import Crypto
import Foundation
import Testing

@testable import Security

/// Tests algorithms that swift-crypto lacks, against the openssl program and NIST.
@Suite
struct OpenSSLTests {
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
    /// The public half of a key from `openssl ecparam -name prime256v1 -genkey`.
    private static let point = bytes(
        """
        BF4Tx/oVsn6qcUsJ8yU1GhAq6DVHQvqRPd0hUx/ifOnQEaukJ2gdOtWTglKvwnCY1uSdZQrpcdxqgVSlqHqq20U=
        """
    )
    /// The output of `openssl dgst -sha224 -sign` with the elliptic curve key.
    private static let curveSignature = bytes(
        """
        MEYCIQDl+rinkcAqrauFDcM/DefsT0PmrRnoocneIOh6iVpYIAIhAOr098C4q37P/+ScMiDkHp592lkflVYkgyCl
        ryv7NRSX
        """
    )
    /// The output of `openssl dgst -sha224 -sign`.
    private static let signature = bytes(
        """
        cWDjHp/qNxc8c494sMiA8K0cD3LAy8HjM2sT75sJivfxOd4dQadWe4ZNCExOs/PDX3CIRIA36Ia0vH6LCNz8CEGA
        xPeYItCgRHNNoWhDMsMS76Ie7wW6mGpChOOCGHW5NgOyud6gDnqjSomU73F/889Wa/2F7bf5UD/Z1mvmUrS8moeK
        ZOoc1a9xFxFlPwVf8VubhUf6rtNFnRPhhT625C3gucYtZasX2oNjugStRQEdwpdKxiGC35+OahbA5vubHsaIAZhC
        +O1VYo8763HIIPrKKX+PbEs/HBVQiFGpeN0Ft0wP6Drpd2PctMAmGzkZSzUgY1/gyhIhm46fBKuxsw==
        """
    )
    /// The output with `-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:28`.
    private static let pss = bytes(
        """
        DHb9lvu1Fu+ZANnBFWJhmaEa+QQvsrqS8FAKz8ZH3JbdCffTEx8ursswvbEZl0lV5Rw0Gi0ZA5L1hrXvViqA6pnF
        iokvDJZ9l0fkFrsCcSEpgnADlzXTBZlF+Lb+hSnmfQO2H27KuVuu7WsheKAemwu4mpEkSg2DwIZqJbLwwkb+b6Uq
        YFv55kZLo8xQ2TnXIRvxOZNqfYu/VDzManrn3LEdSsAbmNRTGgZOBdYKzi2f7LZCX4aCEdN2gdqFBFGtYfEtqWaZ
        qvHfUfdXGXPfQ3yQfAH4293WvfRmzS99ba36O0coKwPClBdwZvAmDLrKuEUysvmQzTJ9CAeIUOZm1w==
        """
    )
    /// The output with a salt of 10 bytes, unlike Apple's.
    private static let otherSalt = bytes(
        """
        j+DlBsZwuChSMKaViPUVPr9bvrCyh1RC8axZXYKe3C4G6Tm/9eYqqbDgZLy+TeTHoDWutsIQPDbRUV18nBe8hQLG
        7qGm3xy1i6z+QTEusZ+9g68c27i3uYY5C14XeYRltZ22AQ1hMb1Xo+9HTO9ZxJA9nXEzAdHyFUq6w5H78QNM9VmB
        rbnyZRsYj6i3eCYWSgOpyQSKjOPenkE3kbKP2MlDEqu0LyHO4Zk8UPMMYywXxb2U4O4hp5nzdvkJO17jOlIyuLT4
        rM11dkaElNerqjTfrp5kQWoR4HQaOWMOKviraQ5eYlMSAI66NHiaPb/nIKg5jD8qYwmpW06otfW8ZA==
        """
    )
    /// `openssl pkeyutl -encrypt -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha224`.
    private static let sealed224 = bytes(
        """
        N8Vq+9UeQSKVuMMKQmiihNT/8nR7WAazcPk7FVCfZBTvHD1TEjwm/Sk8bRlpMH7phW7z1kX5/tkQl46ovcVw5+YY
        m2dcgYY+uIIFYktO2gpFH/rq5Nr3ihIX7vUgYvKJiKeY9INX06KJciVwZ2Yfeh3P3+9XOd3uwCun1pxmhTaoTQCU
        W+PF1Lh54MwlnpKzoG3FiZgqHeeciR2Tfezb2wf3nvk41SO8vDWtkWgPcGoMXxVIb7porlgOcIOCNBCtjpfqNV91
        fZL08tur6ZuWmSIh9gQNFt7pcfGw4Z+JMIFrcjTpHdG/D8HjOZXwJ1aL+YC/N2cPyaQBFlmMDdcg3A==
        """
    )
    /// `openssl pkeyutl -encrypt -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha384`.
    private static let sealed384 = bytes(
        """
        MNdu61mjmNYGd7d2f1PClTwxqEDmbI3l/kZobrUdzzpFTbMVroWoxbs9Y8dafpReRvy0Dwd1F3HgrZF50okUsBVf
        lgUPw1smm9e2Sbs6lWI3Q4daTs4cc67xCXejCMt6qbrLaO6vNxBBC+DOINw0RxCOUnh1ZOsgHnAGkOIAYxspd+Ha
        UBL7R5p13uBaM78OYG53jFaF3tH/UrutyahxvFbmOO+1Jlu3eo60j0TbXwsyvJ9wPLsIjNdRfF5rvlRx6OAO8DC9
        1KJ5vAxQHKaES5KO91vZB1axwKRg/7dnPj6ThKaTITKQCLhL4AuaUaw6/7Q7+1trTt2FFPYY1sVjSQ==
        """
    )
    /// `openssl pkeyutl -encrypt -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha512`.
    private static let sealed512 = bytes(
        """
        bj72FMUA9wbs/2D8EOrf0SeBgdanCTbf+WeEhdGxzI0GyVG7/Nh74VJ4aJEMSstBtdk6qPbXgrS/9t8cqg7z3JMp
        AG0ZqwMyvGfnbshs3FfM2N4uJx04jm/usKgo902lQQlTO9rkTW2yoXRr8ccxQynwAH/tip1uPE9YoQLwGNnCuC4K
        c9X6Iw9sv4XNHtf4iC4ZBRVvjAu/JsIwFt4p2Cn71eLeE3dNhBkJOXuyZG9ZhYAiFpo+DJSUPM0roYhc7i6Vxv6e
        +Hr3JrgNlet0vz0mphJkW1YGS/OLKeStaBTvXMi1RPKKSsAHUiLW8ozWBeW2FLxxNBFtYrlHvvB4gw==
        """
    )

    private static let message = Data("pay 5 to jo".utf8)

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

    private static func sign(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) -> Data? {
        SecKeyCreateSignature(key, algorithm, data as CFData, nil) as Data?
    }

    private static func isValid(
        _ signature: Data,
        _ key: SecKey,
        _ algorithm: SecKeyAlgorithm,
        _ data: Data
    ) -> Bool {
        SecKeyVerifySignature(key, algorithm, data as CFData, signature as CFData, nil)
    }

    private static func seal(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) -> Data? {
        SecKeyCreateEncryptedData(key, algorithm, data as CFData, nil) as Data?
    }

    private static func open(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) -> Data? {
        SecKeyCreateDecryptedData(key, algorithm, data as CFData, nil) as Data?
    }

    @Test("SHA-224 equals the digest of \"abc\" in FIPS 180")
    func digest() throws {
        let digest = Data([
            0x23, 0x09, 0x7d, 0x22, 0x34, 0x05, 0xd8, 0x22, 0x86, 0x42, 0xa4, 0x77, 0xbd, 0xa2,
            0x55,
            0xb3, 0x2a, 0xad, 0xbc, 0xe4, 0xbd, 0xa0, 0xb3, 0xf7, 0xe3, 0x6c, 0x9d, 0xa7,
        ])
        let forms: [(SecKeyAlgorithm, SecKeyAlgorithm)] = [
            (.ecdsaSignatureMessageX962SHA224, .ecdsaSignatureDigestX962SHA224),
            (.ecdsaSignatureMessageRFC4754SHA224, .ecdsaSignatureDigestRFC4754SHA224),
        ]
        let rsa: [(SecKeyAlgorithm, SecKeyAlgorithm)] = [
            (.rsaSignatureMessagePKCS1v15SHA224, .rsaSignatureDigestPKCS1v15SHA224),
            (.rsaSignatureMessagePSSSHA224, .rsaSignatureDigestPSSSHA224),
        ]
        let curve = kSecAttrKeyTypeECSECPrimeRandom
        let curves = try [256, 384, 521]
            .map { bits in
                let what: [CFString: Any] = [kSecAttrKeyType: curve, kSecAttrKeySizeInBits: bits]
                return try #require(SecKeyCreateRandomKey(what as CFDictionary, nil))
            }
        let cases = curves.map { ($0, forms) } + [(try Self.pair().key, rsa)]
        for (key, forms) in cases {
            let half = try #require(SecKeyCopyPublicKey(key))
            for (ofMessage, ofDigest) in forms {
                #expect(SecKeyIsAlgorithmSupported(key, .sign, ofMessage))
                let first = try #require(Self.sign(key, ofMessage, Data("abc".utf8)))
                #expect(Self.isValid(first, half, ofDigest, digest))
                let second = try #require(Self.sign(key, ofDigest, digest))
                #expect(Self.isValid(second, half, ofMessage, Data("abc".utf8)))
                #expect(!Self.isValid(second, half, ofMessage, Data("abd".utf8)))
                #expect(Self.sign(key, ofDigest, digest.dropLast()) == nil)
                #expect(Self.sign(half, ofMessage, Data("abc".utf8)) == nil)
            }
        }
    }

    @Test("Signatures with SHA-224 equal the openssl program's")
    func signatures() throws {
        let (key, half) = try Self.pair()
        let made = try #require(Self.signature)
        let pkcs = SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA224
        #expect(Self.sign(key, pkcs, Self.message) == made)
        let pss = SecKeyAlgorithm.rsaSignatureMessagePSSSHA224
        let what: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass: kSecAttrKeyClassPublic,
        ]
        let point = try #require(Self.point) as CFData
        let curve = try #require(SecKeyCreateWithData(point, what as CFDictionary, nil))
        let ecdsa = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA224
        for (signature, key, algorithm) in [
            (made, half, pkcs), (try #require(Self.pss), half, pss),
            (try #require(Self.curveSignature), curve, ecdsa),
        ] {
            #expect(Self.isValid(signature, key, algorithm, Self.message))
            #expect(!Self.isValid(signature, key, algorithm, Data("pay 9 to jo".utf8)))
            var changed = signature
            changed[changed.count - 1] ^= 1
            #expect(!Self.isValid(changed, key, algorithm, Self.message))
            #expect(!Self.isValid(Data(), key, algorithm, Self.message))
        }
        #expect(!Self.isValid(made, half, pss, Self.message))
        #expect(!Self.isValid(try #require(Self.otherSalt), half, pss, Self.message))
        let other = SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA256
        #expect(!Self.isValid(made, half, other, Self.message))
    }

    @Test("OAEP with SHA-224, 384 and 512 decrypts the openssl program's output and its own")
    func encryption() throws {
        let (key, half) = try Self.pair()
        let cases: [(SecKeyAlgorithm, Data?, Int)] = [
            (.rsaEncryptionOAEPSHA224, Self.sealed224, 198),
            (.rsaEncryptionOAEPSHA384, Self.sealed384, 158),
            (.rsaEncryptionOAEPSHA512, Self.sealed512, 126),
        ]
        for (algorithm, sealed, longest) in cases {
            #expect(SecKeyIsAlgorithmSupported(half, .encrypt, algorithm))
            let sealed = try #require(sealed)
            #expect(Self.open(key, algorithm, sealed) == Self.message)
            #expect(Self.open(key, .rsaEncryptionOAEPSHA256, sealed) == nil)
            var changed = sealed
            changed[0] ^= 1
            #expect(Self.open(key, algorithm, changed) == nil)
            for plain in [Data(), Self.message, Data(count: longest)] {
                let sealed = try #require(Self.seal(half, algorithm, plain))
                #expect(Self.open(key, algorithm, sealed) == plain)
            }
            #expect(Self.seal(half, algorithm, Data(count: longest + 1)) == nil)
        }
    }

    @Test("OAEP with AES-GCM is an AES key encrypted by RSA, then the data")
    func hybrid() throws {
        let (key, half) = try Self.pair()
        let publicBytes = try #require(SecKeyCopyExternalRepresentation(half, nil)) as Data
        let forms: [(SecKeyAlgorithm, SecKeyAlgorithm)] = [
            (.rsaEncryptionOAEPSHA1AESGCM, .rsaEncryptionOAEPSHA1),
            (.rsaEncryptionOAEPSHA256AESGCM, .rsaEncryptionOAEPSHA256),
            (.rsaEncryptionOAEPSHA512AESGCM, .rsaEncryptionOAEPSHA512),
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

    @Test("RSA without padding and hash transforms the block without change of size")
    func bare() throws {
        let (key, half) = try Self.pair()
        let block = Data([0, 1]) + Data(repeating: 7, count: 254)
        let signature = try #require(Self.sign(key, .rsaSignatureRaw, block))
        #expect(Self.isValid(signature, half, .rsaSignatureRaw, block))
        #expect(Self.open(key, .rsaEncryptionRaw, block) == signature)
        #expect(Self.seal(half, .rsaEncryptionRaw, signature) == block)
        #expect(Self.sign(key, .rsaSignatureRaw, Self.message) == nil)
        #expect(Self.seal(half, .rsaEncryptionRaw, Self.message) == nil)
        let padded = SecKeyAlgorithm.rsaSignatureDigestPKCS1v15Raw
        let made = try #require(Self.sign(key, padded, Self.message))
        #expect(Self.isValid(made, half, padded, Self.message))
        #expect(!Self.isValid(made, half, padded, Data("pay 9 to jo".utf8)))
        #expect(Self.seal(half, .rsaEncryptionRaw, made)?.suffix(11) == Self.message)
        #expect(Self.sign(key, padded, Data(count: 246)) == nil)
    }

    @Test("Without OpenSSL its algorithms fail with a sentence")
    func missing() {
        #expect(OpenSSL("libcrypto.so.none") == nil)
        let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA224
        let failure = SoftwareKey.unsupported(algorithm, isOpenSSLInstalled: false)
        #expect(failure.status == errSecUnsupportedAlgorithm)
        #expect(failure.message.contains("OpenSSL 3 (libcrypto.so.3), which is not installed"))
        let other = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
        let plain = SoftwareKey.unsupported(other, isOpenSSLInstalled: false)
        #expect(!plain.message.contains("OpenSSL"))
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
