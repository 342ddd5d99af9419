import ClientTestSupport
import Foundation
import Security
import TestSupport
import Testing

/// Tests uses of keys that apps rely on.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct KeyShapeTests {
    private static let message = Data("pay 5 to jo".utf8)
    private static var curve: CFString { kSecAttrKeyTypeECSECPrimeRandom }

    private static func found(_ query: [CFString: Any]) -> CFTypeRef? {
        var value: CFTypeRef?
        let keys: [CFString: Any] = [kSecClass: kSecClassKey]
        let status = SecItemCopyMatching(keys.merging(query) { $1 } as CFDictionary, &value)
        return status == errSecSuccess ? value : nil
    }

    private static func make(_ type: CFString, _ more: [CFString: Any] = [:]) throws -> SecKey {
        let bits = type == kSecAttrKeyTypeRSA ? 2048 : 256
        let usual: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits]
        let parameters = usual.merging(more) { $1 } as CFDictionary
        return try #require(SecKeyCreateRandomKey(parameters, nil))
    }

    /// Returns a key of the service.
    private static func kept() throws -> SecKey {
        let half: [CFString: Any] = [kSecAttrIsPermanent: true]
        return try make(
            curve,
            [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs: half]
        )
    }

    @Test("Both halves of a pair are stored under their tags")
    func pair() async throws {
        try await ClientDesk.run { _ in
            for type in [kSecAttrKeyTypeRSA, Self.curve] {
                let tags = (Data("private".utf8), Data("public".utf8))
                let parameters: [CFString: Any] = [
                    kSecAttrKeyType: type, kSecAttrIsPermanent: true,
                    kSecAttrKeySizeInBits: type == kSecAttrKeyTypeRSA ? 2048 : 256,
                    kSecPrivateKeyAttrs: [kSecAttrApplicationTag: tags.0],
                    kSecPublicKeyAttrs: [kSecAttrApplicationTag: tags.1],
                ]
                var halves: (SecKey?, SecKey?)
                #expect(
                    SecKeyGeneratePair(parameters as CFDictionary, &halves.0, &halves.1) == 0
                )
                let half = Self.found([kSecAttrApplicationTag: tags.1, kSecReturnRef: true])
                #expect(halves.0 != nil && half as? SecKey == halves.0)
                let key = Self.found([kSecAttrApplicationTag: tags.0, kSecReturnRef: true])
                #expect(halves.1 != nil && key as? SecKey == halves.1)
                let keys = [kSecClass: kSecClassKey] as CFDictionary
                #expect(SecItemDelete(keys) == errSecSuccess)
            }
        }
    }

    @Test("A permanent public half is stored, also for a key of the service")
    func publicHalf() async throws {
        try await ClientDesk.run { _ in
            let label: [CFString: Any] = [kSecAttrLabel: "half"]
            let kept: [CFString: Any] = [kSecAttrIsPermanent: true]
            let permanent = kept.merging(label) { $1 }
            let parts: [CFString: Any] = [
                kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs: kept,
            ]
            _ = try Self.make(Self.curve, parts.merging([kSecPublicKeyAttrs: label]) { $1 })
            #expect(Self.found(label) == nil)
            #expect(Self.found([kSecAttrLabel: "half", kSecReturnRef: true]) == nil)
            let key = try Self.make(
                Self.curve,
                parts.merging([kSecPublicKeyAttrs: permanent]) { $1 }
            )
            let half = Self.found([kSecAttrLabel: "half", kSecReturnRef: true]) as? SecKey
            #expect(half != nil && half == SecKeyCopyPublicKey(key))
        }
    }

    @Test("A key without a class counts as public if its bytes are public")
    func unsaid() async throws {
        try await ClientDesk.run { _ in
            let half = try #require(SecKeyCopyPublicKey(try Self.make(kSecAttrKeyTypeRSA)))
            let bytes = try #require(SecKeyCopyExternalRepresentation(half, nil))
            var item: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecValueData: bytes,
            ]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            #expect(Self.found([kSecReturnRef: true]) as? SecKey == half)
            item[kSecAttrKeyClass] = kSecAttrKeyClassPublic
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecDuplicateItem)
        }
    }

    @Test("The older calls sign and verify SHA-2 digests, with RSA and every curve")
    func raw() throws {
        let rsa = try Self.make(kSecAttrKeyTypeRSA)
        let paddings: [(SecPadding, Int)] = [
            (.PKCS1SHA1, 20), (.PKCS1SHA256, 32), (.PKCS1SHA384, 48), (.PKCS1SHA512, 64),
        ]
        for (padding, size) in paddings { try Self.roundTrip(rsa, padding, size) }
        for bits in [256, 384, 521] {
            let key = try Self.make(Self.curve, [kSecAttrKeySizeInBits: bits])
            for size in [20, 32, 48, 64] {
                try Self.roundTrip(key, .PKCS1, size)
                try Self.roundTrip(key, .sigRaw, size)
            }
        }
    }

    private static func roundTrip(_ key: SecKey, _ padding: SecPadding, _ size: Int) throws {
        let half = try #require(SecKeyCopyPublicKey(key))
        var digest = [UInt8](repeating: 7, count: size)
        var signature = [UInt8](repeating: 0, count: 600)
        var (none, count) = (1, signature.count)
        let little = SecKeyRawSign(key, padding, digest, size, &signature, &none)
        #expect(little == errSecBufferTooSmall)
        let status = SecKeyRawSign(key, padding, digest, size, &signature, &count)
        #expect(status == errSecSuccess, "\(padding) \(size)")
        #expect(SecKeyRawVerify(half, padding, digest, size, signature, count) == errSecSuccess)
        digest[0] = 8
        let forged = SecKeyRawVerify(half, padding, digest, size, signature, count)
        #expect(forged == errSecVerifyFailed, "\(padding) \(size)")
    }

    @Test("The older calls encrypt and decrypt with RSA")
    func rawEncryption() throws {
        let key = try Self.make(kSecAttrKeyTypeRSA)
        let half = try #require(SecKeyCopyPublicKey(key))
        let plain = [UInt8](Self.message)
        for padding in [SecPadding.PKCS1, .OAEP] {
            var sealed = [UInt8](repeating: 0, count: SecKeyGetBlockSize(key))
            var size = sealed.count
            #expect(SecKeyEncrypt(half, padding, plain, plain.count, &sealed, &size) == 0)
            var opened = [UInt8](repeating: 0, count: 256)
            var count = opened.count
            #expect(SecKeyDecrypt(key, padding, sealed, size, &opened, &count) == errSecSuccess)
            #expect(Array(opened.prefix(count)) == plain)
        }
        var count = 0
        var bytes: [UInt8] = [0]
        #expect(SecKeyEncrypt(half, [], plain, plain.count, &bytes, &count) == errSecUnimplemented)
    }

    @Test("A key's attributes contain its uses")
    func attributes() throws {
        let key = try Self.make(Self.curve)
        let half = try #require(SecKeyCopyPublicKey(key))
        for (key, signs) in [(key, true), (half, false)] {
            let facts = SecKeyCopyAttributes(key) as? [String: Any]
            #expect(facts?[kSecAttrCanSign as String] as? Bool == signs)
            #expect(facts?[kSecAttrCanVerify as String] as? Bool == !signs)
            let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?
            #expect(facts?[kSecValueData as String] as? Data == bytes)
        }
    }
}

extension KeyShapeTests {
    @Test("The bytes of a private key that isn't extractable never leave the keychain")
    func notExtractable() async throws {
        try await ClientDesk.run { _ in
            for type in [Self.curve, kSecAttrKeyTypeRSA] {
                let tag: [CFString: Any] = [kSecAttrApplicationTag: Data("\(type)".utf8)]
                let half: [CFString: Any] = [
                    kSecAttrIsExtractable: false, kSecAttrIsPermanent: true,
                ]
                let made = try Self.make(
                    type,
                    [kSecPrivateKeyAttrs: half.merging(tag) { $1 }]
                )
                let found = Self.found(tag.merging([kSecReturnRef: true]) { $1 }) as? SecKey
                for key in [made, try #require(found)] {
                    var error: Unmanaged<CFError>?
                    #expect(SecKeyCopyExternalRepresentation(key, &error) == nil)
                    let reason = error?.takeRetainedValue()
                    #expect(reason?.domain == NSOSStatusErrorDomain)
                    #expect(reason?.code == Int(errSecUnimplemented))
                    let facts = SecKeyCopyAttributes(key) as? [String: Any]
                    #expect(facts?[kSecAttrIsExtractable as String] as? Bool == false)
                    #expect(facts?[kSecValueData as String] == nil)
                    // The public half can be exported.
                    let half = try #require(SecKeyCopyPublicKey(key))
                    #expect(SecKeyCopyExternalRepresentation(half, nil) != nil)
                }
            }
        }
    }

    @Test("If the public half can't be stored, the private half isn't stored either")
    func halfOfPair() async throws {
        try await ClientDesk.run { desk in
            let tag: [CFString: Any] = [kSecAttrApplicationTag: Data("private".utf8)]
            let kept: [CFString: Any] = [kSecAttrIsPermanent: true]
            // This protection needs a password.
            let publicHalf = kept.merging([
                kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            ]) { $1 }
            let pair: [CFString: Any] = [
                kSecAttrKeyType: Self.curve, kSecAttrKeySizeInBits: 256,
                kSecPrivateKeyAttrs: kept.merging(tag) { $1 }, kSecPublicKeyAttrs: publicHalf,
            ]
            let token = [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]
            let wanted = tag.merging([kSecReturnRef: true]) { $1 }
            for parameters in [pair, pair.merging(token) { $1 }] {
                await desk.setPasscode(false)
                var error: Unmanaged<CFError>?
                #expect(SecKeyCreateRandomKey(parameters as CFDictionary, &error) == nil)
                #expect(error?.takeRetainedValue().code == Int(errSecNotAvailable))
                #expect(Self.found(wanted) == nil)
                await desk.setPasscode(true)
                let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
                #expect(Self.found(wanted) as? SecKey == key)
                let keys = [kSecClass: kSecClassKey] as CFDictionary
                #expect(SecItemDelete(keys) == errSecSuccess)
            }
        }
    }

    @Test("The public half verifies every signature of a service key")
    func keptSignatures() async throws {
        try await ClientDesk.run { _ in
            let key = try Self.kept()
            let half = try #require(SecKeyCopyPublicKey(key))
            let algorithms: [(SecKeyAlgorithm, Int?)] = [
                (.ecdsaSignatureMessageX962SHA1, nil), (.ecdsaSignatureMessageX962SHA256, nil),
                (.ecdsaSignatureMessageX962SHA384, nil), (.ecdsaSignatureMessageX962SHA512, nil),
                (.ecdsaSignatureDigestX962SHA1, 20), (.ecdsaSignatureDigestX962SHA384, 48),
                (.ecdsaSignatureDigestX962SHA512, 64), (.ecdsaSignatureDigestX962, 20),
                (.ecdsaSignatureMessageRFC4754SHA256, nil), (.ecdsaSignatureRFC4754, 32),
                (.ecdsaSignatureMessageRFC4754SHA512, nil), (.ecdsaSignatureDigestRFC4754, 64),
            ]
            for (algorithm, size) in algorithms {
                let data = (size.map { Data(repeating: 9, count: $0) } ?? Self.message) as CFData
                #expect(SecKeyIsAlgorithmSupported(key, .sign, algorithm))
                let signature = try #require(SecKeyCreateSignature(key, algorithm, data, nil))
                #expect(SecKeyVerifySignature(half, algorithm, data, signature, nil))
            }
            #expect(!SecKeyIsAlgorithmSupported(key, .sign, .rsaSignatureMessagePSSSHA256))
            #expect(!SecKeyIsAlgorithmSupported(key, .sign, .ecdsaSignatureMessageX962SHA224))
            let short = Data(count: 31) as CFData
            let digest = SecKeyAlgorithm.ecdsaSignatureDigestX962SHA384
            #expect(SecKeyCreateSignature(key, digest, short, nil) == nil)
        }
    }

    @Test("A service key decrypts every format that its public half encrypts")
    func keptDecryption() async throws {
        try await ClientDesk.run { _ in
            let key = try Self.kept()
            let half = try #require(SecKeyCopyPublicKey(key))
            let algorithms: [SecKeyAlgorithm] = [
                .eciesEncryptionStandardX963SHA1AESGCM, .eciesEncryptionStandardX963SHA256AESGCM,
                .eciesEncryptionCofactorX963SHA256AESGCM, .eciesEncryptionCofactorX963SHA384AESGCM,
                .eciesEncryptionCofactorX963SHA512AESGCM,
                .eciesEncryptionStandardVariableIVX963SHA256AESGCM,
                .eciesEncryptionCofactorVariableIVX963SHA384AESGCM,
                .eciesEncryptionCofactorVariableIVX963SHA512AESGCM,
            ]
            for algorithm in algorithms {
                #expect(SecKeyIsAlgorithmSupported(key, .decrypt, algorithm))
                for plain in [Self.message, Data()] {
                    let data = plain as CFData
                    let sealed = SecKeyCreateEncryptedData(half, algorithm, data, nil)
                    let bytes = try #require(sealed as Data?)
                    let opened = SecKeyCreateDecryptedData(key, algorithm, bytes as CFData, nil)
                    #expect(opened as Data? == plain, "\(algorithm.rawValue)")
                    var other = bytes
                    other[other.count - 1] ^= 1
                    var error: Unmanaged<CFError>?
                    #expect(
                        SecKeyCreateDecryptedData(key, algorithm, other as CFData, &error) == nil
                    )
                    #expect(error?.takeRetainedValue().code == Int(errSecParam))
                }
                let short = Data(count: 80) as CFData
                #expect(SecKeyCreateDecryptedData(key, algorithm, short, nil) == nil)
            }
        }
    }

    @Test("A service key and a process key derive equal secrets, with every key derivation")
    func keptAgreement() async throws {
        try await ClientDesk.run { _ in
            let (key, other) = (try Self.kept(), try Self.make(Self.curve))
            let half = try #require(SecKeyCopyPublicKey(key))
            let otherHalf = try #require(SecKeyCopyPublicKey(other))
            let parameters: [CFString: Any] = [
                SecKeyKeyExchangeParameter.requestedSize.rawValue: 100,
                SecKeyKeyExchangeParameter.sharedInfo.rawValue: Self.message,
            ]
            let algorithms: [SecKeyAlgorithm] = [
                .ecdhKeyExchangeStandard, .ecdhKeyExchangeStandardX963SHA1,
                .ecdhKeyExchangeCofactorX963SHA256, .ecdhKeyExchangeCofactorX963SHA384,
                .ecdhKeyExchangeStandardX963SHA512,
            ]
            for algorithm in algorithms {
                let all = parameters as CFDictionary
                let one = SecKeyCopyKeyExchangeResult(key, algorithm, otherHalf, all, nil)
                let two = SecKeyCopyKeyExchangeResult(other, algorithm, half, all, nil)
                #expect(one != nil && one == two, "\(algorithm.rawValue)")
            }
            // A derived secret needs a size, and its info is data.
            let wrong: [CFString: Any] = [
                SecKeyKeyExchangeParameter.requestedSize.rawValue: 32,
                SecKeyKeyExchangeParameter.sharedInfo.rawValue: "text",
            ]
            for parameters in [[:], wrong] {
                let given = parameters as CFDictionary
                for algorithm in algorithms.dropFirst() {
                    let secret = SecKeyCopyKeyExchangeResult(key, algorithm, otherHalf, given, nil)
                    #expect(secret == nil)
                }
            }
        }
    }
}
