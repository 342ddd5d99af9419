import ClientTestSupport
import Crypto
import CryptoExtras
import Foundation
import Security
import TestSupport
import Testing

/// Tests keys in this process.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct SoftwareKeyTests {
    private static func make(
        _ type: CFString,
        _ bits: Int,
        _ more: [CFString: Any] = [:]
    ) throws -> SecKey {
        let parameters: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits]
        let all = parameters.merging(more) { $1 } as CFDictionary
        return try #require(SecKeyCreateRandomKey(all, nil))
    }

    private static func curves() throws -> [SecKey] {
        try [256, 384, 521].map { try make(kSecAttrKeyTypeECSECPrimeRandom, $0) }
    }

    private static let message = Data("pay 5 to jo".utf8)
    private static let digests: [Int: Data] = [
        256: Data(SHA256.hash(data: message)), 384: Data(SHA384.hash(data: message)),
        512: Data(SHA512.hash(data: message)),
    ]

    private static func sign(_ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: Data) -> Data? {
        SecKeyCreateSignature(key, algorithm, data as CFData, nil) as Data?
    }

    @Test("A temporary key works without the service, and signs with every SHA-2 hash")
    func curveSignatures() throws {
        let algorithms: [(Int, SecKeyAlgorithm, SecKeyAlgorithm)] = [
            (256, .ecdsaSignatureMessageX962SHA256, .ecdsaSignatureDigestX962SHA256),
            (384, .ecdsaSignatureMessageX962SHA384, .ecdsaSignatureDigestX962SHA384),
            (512, .ecdsaSignatureMessageX962SHA512, .ecdsaSignatureDigestX962SHA512),
            (256, .ecdsaSignatureMessageRFC4754SHA256, .ecdsaSignatureDigestRFC4754SHA256),
            (384, .ecdsaSignatureMessageRFC4754SHA384, .ecdsaSignatureDigestRFC4754SHA384),
            (512, .ecdsaSignatureMessageRFC4754SHA512, .ecdsaSignatureDigestRFC4754SHA512),
        ]
        for key in try Self.curves() {
            let half = try #require(SecKeyCopyPublicKey(key))
            for (size, ofMessage, ofDigest) in algorithms {
                let digest = try #require(Self.digests[size])
                // A signature of the message verifies for the digest, and the reverse.
                let first = try #require(Self.sign(key, ofMessage, Self.message)) as CFData
                #expect(SecKeyVerifySignature(half, ofDigest, digest as CFData, first, nil))
                let second = try #require(Self.sign(key, ofDigest, digest)) as CFData
                let data = Self.message as CFData
                #expect(SecKeyVerifySignature(half, ofMessage, data, second, nil))
                let other = Data("pay 9 to jo".utf8) as CFData
                #expect(!SecKeyVerifySignature(half, ofMessage, other, second, nil))
                #expect(Self.sign(key, ofDigest, Data(count: 20)) == nil)
                #expect(Self.sign(half, ofMessage, Self.message) == nil)
            }
        }
    }

    @Test("CryptoKit verifies a P-256 key's signatures, and reads its bytes")
    func agreement() throws {
        let key = try Self.make(kSecAttrKeyTypeECSECPrimeRandom, 256)
        let bytes = try #require(SecKeyCopyExternalRepresentation(key, nil)) as Data
        let same = try P256.Signing.PrivateKey(x963Representation: bytes)
        let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
        let signature = try #require(Self.sign(key, algorithm, Self.message))
        let parsed = try P256.Signing.ECDSASignature(derRepresentation: signature)
        #expect(same.publicKey.isValidSignature(parsed, for: Self.message))
        let raw = SecKeyAlgorithm.ecdsaSignatureMessageRFC4754SHA256
        let numbers = try #require(Self.sign(key, raw, Self.message))
        #expect(numbers.count == 64)
        let parsedNumbers = try P256.Signing.ECDSASignature(rawRepresentation: numbers)
        #expect(same.publicKey.isValidSignature(parsedNumbers, for: Self.message))
    }

    @Test("RSA signs with every SHA-2 hash and both paddings, and swift-crypto verifies it")
    func rsaSignatures() throws {
        let key = try Self.make(kSecAttrKeyTypeRSA, 2048)
        let half = try #require(SecKeyCopyPublicKey(key))
        let bytes = try #require(SecKeyCopyExternalRepresentation(half, nil)) as Data
        let same = try _RSA.Signing.PublicKey(derRepresentation: bytes)
        func check(
            _ algorithm: SecKeyAlgorithm,
            _ data: Data,
            _ padding: _RSA.Signing.Padding,
            _ digest: some Digest
        ) throws {
            let signature = try #require(Self.sign(key, algorithm, data))
            let parsed = _RSA.Signing.RSASignature(rawRepresentation: signature)
            #expect(same.isValidSignature(parsed, for: digest, padding: padding))
            let (given, made) = (data as CFData, signature as CFData)
            #expect(SecKeyVerifySignature(half, algorithm, given, made, nil))
            #expect(!SecKeyVerifySignature(half, algorithm, given, Data([1]) as CFData, nil))
        }
        let (short, middle, long) = (
            SHA256.hash(data: Self.message), SHA384.hash(data: Self.message),
            SHA512.hash(data: Self.message)
        )
        let pkcs = _RSA.Signing.Padding.insecurePKCS1v1_5
        try check(.rsaSignatureMessagePKCS1v15SHA256, Self.message, pkcs, short)
        try check(.rsaSignatureMessagePKCS1v15SHA384, Self.message, pkcs, middle)
        try check(.rsaSignatureMessagePKCS1v15SHA512, Self.message, pkcs, long)
        try check(.rsaSignatureDigestPKCS1v15SHA256, Data(short), pkcs, short)
        try check(.rsaSignatureDigestPKCS1v15SHA384, Data(middle), pkcs, middle)
        try check(.rsaSignatureDigestPKCS1v15SHA512, Data(long), pkcs, long)
        try check(.rsaSignatureMessagePSSSHA256, Self.message, .PSS, short)
        try check(.rsaSignatureMessagePSSSHA384, Self.message, .PSS, middle)
        try check(.rsaSignatureMessagePSSSHA512, Self.message, .PSS, long)
        try check(.rsaSignatureDigestPSSSHA256, Data(short), .PSS, short)
        try check(.rsaSignatureDigestPSSSHA384, Data(middle), .PSS, middle)
        try check(.rsaSignatureDigestPSSSHA512, Data(long), .PSS, long)
    }

    @Test("ECIES and RSA decrypt their own output, and refuse modified data")
    func encryption() throws {
        let ecies: [SecKeyAlgorithm] = [
            .eciesEncryptionCofactorX963SHA256AESGCM, .eciesEncryptionStandardX963SHA512AESGCM,
            .eciesEncryptionCofactorVariableIVX963SHA256AESGCM,
            .eciesEncryptionStandardVariableIVX963SHA384AESGCM,
        ]
        let rsa: [SecKeyAlgorithm] = [
            .rsaEncryptionPKCS1, .rsaEncryptionOAEPSHA1, .rsaEncryptionOAEPSHA256,
        ]
        let cases =
            try Self.curves().map { ($0, ecies) } + [(Self.make(kSecAttrKeyTypeRSA, 2048), rsa)]
        for (key, algorithms) in cases {
            let half = try #require(SecKeyCopyPublicKey(key))
            for algorithm in algorithms {
                let data = Self.message as CFData
                let sealed = try #require(SecKeyCreateEncryptedData(half, algorithm, data, nil))
                let opened = SecKeyCreateDecryptedData(key, algorithm, sealed, nil)
                #expect(opened as Data? == Self.message, "\(algorithm.rawValue)")
                #expect(SecKeyCreateDecryptedData(half, algorithm, sealed, nil) == nil)
                var changed = sealed as Data
                changed[changed.count - 1] ^= 1
                var error: Unmanaged<CFError>?
                let forged = SecKeyCreateDecryptedData(key, algorithm, changed as CFData, &error)
                #expect(forged as Data? != Self.message)
                let code = error?.takeRetainedValue().code
                #expect(forged != nil || code == Int(errSecParam), "\(algorithm.rawValue)")
            }
        }
    }

    @Test("Two keys derive equal secrets, and so does CryptoKit")
    func exchange() throws {
        for (one, other) in zip(try Self.curves(), try Self.curves()) {
            let halves = [one, other].compactMap(SecKeyCopyPublicKey)
            let parameters: [String: Any] = [
                SecKeyKeyExchangeParameter.requestedSize.rawValue as String: 40,
                SecKeyKeyExchangeParameter.sharedInfo.rawValue as String: Data([1]),
            ]
            for algorithm in [
                SecKeyAlgorithm.ecdhKeyExchangeStandard, .ecdhKeyExchangeCofactorX963SHA512,
            ] {
                let given = parameters as CFDictionary
                let ours = SecKeyCopyKeyExchangeResult(one, algorithm, halves[1], given, nil)
                let theirs = SecKeyCopyKeyExchangeResult(other, algorithm, halves[0], given, nil)
                #expect(ours != nil)
                #expect(ours as Data? == theirs as Data?)
                let isDerived = algorithm == .ecdhKeyExchangeCofactorX963SHA512
                #expect(!isDerived || ours?.length == 40)
            }
        }
    }

    @Test("A key can be imported from its bytes; invalid bytes and algorithms are refused")
    func bytes() throws {
        let all: [(CFString, SecKey)] =
            try Self.curves().map { (kSecAttrKeyTypeECSECPrimeRandom, $0) }
            + [(kSecAttrKeyTypeRSA, Self.make(kSecAttrKeyTypeRSA, 2048))]
        for (type, key) in all {
            let half = try #require(SecKeyCopyPublicKey(key))
            for (part, word) in [(key, kSecAttrKeyClassPrivate), (half, kSecAttrKeyClassPublic)] {
                let out = try #require(SecKeyCopyExternalRepresentation(part, nil))
                let what: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeyClass: word]
                let back = SecKeyCreateWithData(out, what as CFDictionary, nil)
                #expect(back == part)
                let facts = back.flatMap(SecKeyCopyAttributes) as? [String: Any]
                #expect(facts?[kSecAttrKeyClass as String] as? String == word as String)
                let short = Data((out as Data).dropLast()) as CFData
                #expect(SecKeyCreateWithData(short, what as CFDictionary, nil) == nil)
            }
            #expect(key != half)
        }
        let key = all[0].1
        let unknown = SecKeyAlgorithm(
            rawValue: "algid:sign:ECDSA:message-X962:SHA3-256" as CFString
        )
        #expect(!SecKeyIsAlgorithmSupported(key, .sign, unknown))
        var error: Unmanaged<CFError>?
        #expect(SecKeyCreateSignature(key, unknown, Self.message as CFData, &error) == nil)
        #expect(error?.takeRetainedValue().code == Int(errSecParam))
    }

    @Test("Other attributes of an imported key have no effect")
    func otherAttributes() throws {
        let key = try Self.make(kSecAttrKeyTypeECSECPrimeRandom, 256)
        let bytes = try #require(SecKeyCopyExternalRepresentation(key, nil))
        let half: [CFString: Any] = [kSecAttrIsPermanent: true, kSecAttrApplicationTag: "tag"]
        let what: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecAttrKeySizeInBits: 256, kSecPrivateKeyAttrs: half, kSecPublicKeyAttrs: half,
            "unknown" as NSString: 1,
        ]
        #expect(SecKeyCreateWithData(bytes, what as CFDictionary, nil) == key)
    }

    @Test("A new key needs a type and a size, and the flag privateKeyUsage the Secure Enclave")
    func parameters() throws {
        let control = try #require(
            SecAccessControlCreateWithFlags(
                nil,
                kSecAttrAccessibleWhenUnlocked,
                .privateKeyUsage,
                nil
            )
        )
        let (type, size) = (kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits)
        let wrong: [[CFString: Any]] = [
            [size: 256], [kSecAttrKeyType: kSecAttrKeyTypeDSA, size: 256],
            [kSecAttrKeyType: type], [kSecAttrKeyType: type, size: 255],
            [
                kSecAttrKeyType: type, size: 256,
                kSecPrivateKeyAttrs: [kSecAttrAccessControl: control],
            ],
        ]
        for parameters in wrong {
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateRandomKey(parameters as CFDictionary, &error) == nil)
            #expect(error?.takeRetainedValue().code == Int(errSecParam), "\(parameters)")
        }
    }

    @Test("A key is stored by reference or by bytes, and found with its attributes")
    func items() async throws {
        try await ClientDesk.run { _ in
            let all: [(CFString, SecKey)] =
                try Self.curves().map { (kSecAttrKeyTypeECSECPrimeRandom, $0) }
                + [(kSecAttrKeyTypeRSA, Self.make(kSecAttrKeyTypeRSA, 2048))]
            for (type, key) in all {
                let tag = Data("tag".utf8)
                let added: [CFString: Any] = [kSecValueRef: key, kSecAttrApplicationTag: tag]
                let item = added.merging([kSecClass: kSecClassKey]) { $1 } as CFDictionary
                #expect(SecItemAdd(item, nil) == errSecSuccess)
                #expect(SecItemAdd(item, nil) == errSecDuplicateItem)
                let half = try #require(SecKeyCopyPublicKey(key))
                let bytes: [CFString: Any] = [
                    kSecClass: kSecClassKey, kSecAttrKeyType: type, kSecAttrApplicationTag: tag,
                    kSecAttrKeyClass: kSecAttrKeyClassPublic,
                    kSecValueData: try #require(SecKeyCopyExternalRepresentation(half, nil)),
                ]
                #expect(SecItemAdd(bytes as CFDictionary, nil) == errSecSuccess)
                let facts = try #require(SecKeyCopyAttributes(key) as? [CFString: Any])
                for (part, word) in [
                    (key, kSecAttrKeyClassPrivate), (half, kSecAttrKeyClassPublic),
                ] {
                    let query: [CFString: Any] = [
                        kSecClass: kSecClassKey, kSecReturnRef: true, kSecAttrKeyClass: word,
                        kSecAttrApplicationLabel: facts[kSecAttrApplicationLabel] ?? 0,
                    ]
                    var found: CFTypeRef?
                    #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
                    #expect(CFEqual(found, part))
                }
                let wrong: [CFString: Any] = [kSecValueData: Data([1, 2, 3])]
                let none = bytes.merging(wrong) { $1 } as CFDictionary
                #expect(SecItemAdd(none, nil) == errSecParam)
                #expect(SecItemDelete([kSecValueRef: key] as CFDictionary) == errSecSuccess)
                #expect(SecItemDelete([kSecValueRef: key] as CFDictionary) == errSecItemNotFound)
                #expect(SecItemDelete([kSecValueRef: half] as CFDictionary) == errSecSuccess)
            }
        }
    }

    @Test("A permanent key without access control is found with its bytes, a guarded key is not")
    func permanent() async throws {
        try await ClientDesk.run { _ in
            let tag = Data("com.example.key".utf8)
            let inner: [CFString: Any] = [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag]
            let key = try Self.make(
                kSecAttrKeyTypeECSECPrimeRandom,
                384,
                [kSecPrivateKeyAttrs: inner]
            )
            let query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecReturnRef: true,
            ]
            var found: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
            #expect(CFEqual(found, key))
            #expect(SecKeyCopyExternalRepresentation(key, nil) != nil)
            let kept = try Self.make(
                kSecAttrKeyTypeECSECPrimeRandom,
                256,
                [
                    kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
                    kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true],
                ]
            )
            #expect(SecKeyCopyExternalRepresentation(kept, nil) == nil)
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            let signature = try #require(Self.sign(kept, algorithm, Self.message)) as CFData
            let half = try #require(SecKeyCopyPublicKey(kept))
            #expect(SecKeyVerifySignature(half, algorithm, Self.message as CFData, signature, nil))
        }
    }

    @Test("A temporary guarded key prompts, is found by no query, and is in no item")
    func guarded() async throws {
        try await ClientDesk.run { desk in
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil,
                    kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
                    [.privateKeyUsage, .biometryAny],
                    nil
                )
            )
            let key = try Self.make(
                kSecAttrKeyTypeECSECPrimeRandom,
                256,
                [
                    kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecAttrIsPermanent: false,
                    kSecPrivateKeyAttrs: [kSecAttrAccessControl: control],
                ]
            )
            let keys = [kSecClass: kSecClassKey] as CFDictionary
            #expect(SecItemCopyMatching(keys, nil) == errSecItemNotFound)
            #expect(SecItemDelete(keys) == errSecItemNotFound)
            try await desk.queue("match")
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            let signature = try #require(Self.sign(key, algorithm, Self.message)) as CFData
            let half = try #require(SecKeyCopyPublicKey(key))
            #expect(SecKeyVerifySignature(half, algorithm, Self.message as CFData, signature, nil))
        }
    }
}
