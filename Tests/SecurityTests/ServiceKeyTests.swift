import ClientTestSupport
import DBus
import Foundation
import LocalAuthBus
import LocalAuthClient
import LocalAuthentication
import Security
import TestSupport
import Testing

/// Tests temporary keys of the service, and storing them.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct ServiceKeyTests {
    private static let tag = Data("com.example.kept".utf8)
    private static let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256

    private static func control(
        _ word: CFString = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    ) throws -> SecAccessControl {
        let flags: SecAccessControlCreateFlags = [.privateKeyUsage, .biometryAny]
        return try #require(SecAccessControlCreateWithFlags(nil, word, flags, nil))
    }

    /// Generates a temporary key of the service, unless `more` says otherwise.
    private static func temporary(_ more: [CFString: Any]) -> (key: SecKey?, code: Int?) {
        let common: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecAttrIsPermanent: false,
        ]
        var error: Unmanaged<CFError>?
        let key = SecKeyCreateRandomKey(common.merging(more) { $1 } as CFDictionary, &error)
        return (key, error?.takeRetainedValue().code)
    }

    private static func add(_ key: SecKey, _ more: [CFString: Any] = [:]) -> OSStatus {
        let item: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecValueRef: key, kSecAttrApplicationTag: tag,
        ]
        return SecItemAdd(item.merging(more) { $1 } as CFDictionary, nil)
    }

    private static func found(_ more: [CFString: Any] = [:]) -> (OSStatus, CFTypeRef?) {
        var found: CFTypeRef?
        let query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecReturnRef: true,
        ]
        let all = query.merging(more) { $1 } as CFDictionary
        return (SecItemCopyMatching(all, &found), found)
    }

    /// Generates a key, stores it and returns its public half.
    private static func makeAndStore(_ parameters: [CFString: Any]) throws -> SecKey {
        let key = try #require(temporary(parameters).key)
        #expect(add(key, [kSecAttrLabel: "mine"]) == errSecSuccess)
        #expect(add(key) == errSecDuplicateItem)
        let (status, stored) = found([kSecAttrLabel: "mine"])
        #expect(status == errSecSuccess && CFEqual(stored, key))
        return try #require(SecKeyCopyPublicKey(key))
    }

    @Test("A temporary guarded key stays after it is stored, can be found, and prompts")
    func stored() async throws {
        try await ClientDesk.run { desk in
            let guarded = try [kSecPrivateKeyAttrs: [kSecAttrAccessControl: Self.control()]]
            // Releasing the reference and closing the connection must not delete the key.
            let half = try Self.makeAndStore(guarded)
            #expect(Self.found().0 == errSecSuccess)
            await ServiceConnection.shared.use(.address(desk.bus.address))
            _ = try await desk.manager.canEvaluate(policy: 1)
            let again = try #require(Self.found().1 as? SecKey)
            try await desk.queue("match")
            let message = Data("pay 5 to jo".utf8) as CFData
            let made = SecKeyCreateSignature(again, Self.algorithm, message, nil)
            let signature = try #require(made)
            #expect(await desk.agent.count == 1)
            #expect(SecKeyVerifySignature(half, Self.algorithm, message, signature, nil))
            #expect(SecItemDelete([kSecValueRef: again] as CFDictionary) == errSecSuccess)
            #expect(Self.found().0 == errSecItemNotFound)
        }
    }

    @Test("A key is stored with its original access control only")
    func otherGuard() async throws {
        try await ClientDesk.run { _ in
            let control = try Self.control()
            let guarded = [kSecPrivateKeyAttrs: [kSecAttrAccessControl: control]]
            let key = try #require(Self.temporary(guarded).key)
            let other = try Self.control(kSecAttrAccessibleWhenUnlocked)
            #expect(Self.add(key, [kSecAttrAccessControl: other]) == errSecUnimplemented)
            let word = kSecAttrAccessibleAfterFirstUnlock
            #expect(Self.add(key, [kSecAttrAccessible: word]) == errSecUnimplemented)
            #expect(Self.found().0 == errSecItemNotFound)
            #expect(Self.add(key, [kSecAttrAccessControl: control]) == errSecSuccess)
            // The stored key has this label, so a second key can't have it.
            let second = try #require(Self.temporary(guarded).key)
            let label = try #require(
                (SecKeyCopyAttributes(key) as? [String: Any])?[kSecAttrApplicationLabel as String]
            )
            #expect(Self.add(second, [kSecAttrApplicationLabel: label]) == errSecDuplicateItem)
            #expect(Self.add(second) == errSecSuccess)
        }
    }

    @Test("A temporary Secure Enclave key is in the service; other types than P-256 fail")
    func enclave() async throws {
        try await ClientDesk.run { _ in
            let key = try #require(Self.temporary([:]).key)
            #expect(SecKeyCopyExternalRepresentation(key, nil) == nil)
            let facts = SecKeyCopyAttributes(key) as? [CFString: Any]
            #expect(facts?[kSecAttrTokenID] as? String == kSecAttrTokenIDSecureEnclave as String)
            let keys = [kSecClass: kSecClassKey] as CFDictionary
            #expect(SecItemCopyMatching(keys, nil) == errSecItemNotFound)
            let message = Data("pay 5 to jo".utf8) as CFData
            let signature = SecKeyCreateSignature(key, Self.algorithm, message, nil)
            let half = try #require(SecKeyCopyPublicKey(key))
            let made = try #require(signature)
            #expect(SecKeyVerifySignature(half, Self.algorithm, message, made, nil))
            let others: [[CFString: Any]] = [
                [kSecAttrKeySizeInBits: 384], [kSecAttrKeySizeInBits: 521],
                [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048],
            ]
            for other in others {
                let (key, code) = Self.temporary(other)
                #expect(key == nil && code == Int(errSecUnimplemented), "\(other)")
            }
        }
    }

    @Test("A Secure Enclave key stays by default, and is idle without the flag privateKeyUsage")
    func idle() async throws {
        try await ClientDesk.run { desk in
            let word = kSecAttrAccessibleWhenUnlocked
            let made = SecAccessControlCreateWithFlags(nil, word, .biometryAny, nil)
            let control = try #require(made)
            let parameters: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
                kSecPrivateKeyAttrs: [
                    kSecAttrApplicationTag: Self.tag, kSecAttrAccessControl: control,
                ],
            ]
            let new = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
            let half = try #require(SecKeyCopyPublicKey(new))
            let message = Data("pay 5 to jo".utf8) as CFData
            let cipher = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
            let sealed = try #require(SecKeyCreateEncryptedData(half, cipher, message, nil))
            // An unexpected prompt would be canceled at once, which is another error.
            await desk.agent.will(.cancel)
            for key in [new, try #require(Self.found().1 as? SecKey)] {
                var error: Unmanaged<CFError>?
                #expect(SecKeyCreateSignature(key, Self.algorithm, message, &error) == nil)
                let unsigned = error?.takeRetainedValue()
                #expect(unsigned?.domain == LAErrorDomain && unsigned?.code == -1009)
                #expect(unsigned?.localizedDescription == "ACL operation is not allowed: 'osgn'")
                #expect(SecKeyCreateDecryptedData(key, cipher, sealed, &error) == nil)
                #expect(error?.takeRetainedValue().code == -1009)
            }
            #expect(await desk.agent.count == 0)
        }
    }

    @Test("A list of process keys finds the listed halves in the program's group only")
    func list() async throws {
        try await ClientDesk.run { _ in
            let parameters: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            ]
            let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
            let half = try #require(SecKeyCopyPublicKey(key))
            #expect(Self.add(key, [kSecAttrAccessGroup: "com.example.other"]) == errSecSuccess)
            #expect(Self.add(key, [kSecAttrSynchronizable: true]) == errSecSuccess)
            let list: [CFString: Any] = [kSecClass: kSecClassKey, kSecMatchItemList: [key]]
            #expect(SecItemDelete(list as CFDictionary) == errSecItemNotFound)
            #expect(Self.add(key) == errSecSuccess)
            #expect(Self.add(half) == errSecSuccess)
            #expect(SecItemDelete(list as CFDictionary) == errSecSuccess)
            #expect(Self.found([kSecAttrKeyClass: kSecAttrKeyClassPublic]).0 == errSecSuccess)
            #expect(Self.found([kSecAttrKeyClass: kSecAttrKeyClassPrivate]).0 == -25300)
            let theirs: [CFString: Any] = [kSecAttrAccessGroup: "com.example.other"]
            let (status, other) = Self.found(theirs)
            #expect(status == errSecSuccess)
            // The reference of an item refers to that item, in any group.
            let itself: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecMatchItemList: [try #require(other)],
            ]
            #expect(SecItemDelete(itself as CFDictionary) == errSecSuccess)
            #expect(Self.found(theirs).0 == errSecItemNotFound)
            #expect(Self.found([kSecAttrSynchronizable: true]).0 == errSecSuccess)
        }
    }
}
