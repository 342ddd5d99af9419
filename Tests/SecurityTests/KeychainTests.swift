import ClientTestSupport
import DBus
import Foundation
import LocalAuthentication
import Security
import TestSupport
import Testing

/// Tests items and keys with the service's keychain.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct KeychainTests {
    private var query: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "com.example.tests",
            kSecAttrAccount as String: "jo",
        ]
    }

    private func adding(
        _ flags: SecAccessControlCreateFlags,
        _ more: [String: Any] = [:]
    ) -> OSStatus {
        let protection = kSecAttrAccessibleWhenUnlocked
        guard let control = SecAccessControlCreateWithFlags(nil, protection, flags, nil) else {
            return errSecParam
        }
        var item = query.merging(more) { $1 }
        item[kSecAttrAccessControl as String] = control
        item[kSecValueData as String] = Data("secret".utf8)
        return SecItemAdd(item as CFDictionary, nil)
    }

    private func reading(_ more: [String: Any] = [:]) -> (status: OSStatus, data: Data?) {
        var wanted = query.merging(more) { $1 }
        wanted[kSecReturnData as String] = true
        var found: CFTypeRef?
        let status = SecItemCopyMatching(wanted as CFDictionary, &found)
        return (status, found as? Data)
    }

    @Test("Adding an item twice fails, and a deleted item isn't found")
    func duplicate() async throws {
        try await ClientDesk.run { _ in
            #expect(adding([]) == errSecSuccess)
            #expect(adding([]) == errSecDuplicateItem)
            #expect(reading().data == Data("secret".utf8))
            #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
            #expect(SecItemDelete(query as CFDictionary) == errSecItemNotFound)
            #expect(reading().status == errSecItemNotFound)
        }
    }

    @Test("Certificates and identities are neither found nor stored")
    func foreignClasses() async throws {
        try await ClientDesk.run { _ in
            for name in [kSecClassCertificate, kSecClassIdentity] {
                let item = [kSecClass as String: name] as CFDictionary
                #expect(SecItemCopyMatching(item, nil) == errSecItemNotFound)
                #expect(SecItemAdd(item, nil) == errSecUnimplemented)
            }
        }
    }

    @Test("A failed change of the protection keeps the item, a valid change replaces it")
    func guardChange() async throws {
        try await ClientDesk.run { desk in
            #expect(adding([]) == errSecSuccess)
            let changes: [String: Any] = [
                kSecAttrAccessible as String: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
                kSecValueData as String: Data("new".utf8),
            ]
            await desk.setPasscode(false)
            let refused = SecItemUpdate(query as CFDictionary, changes as CFDictionary)
            #expect(refused == errSecNotAvailable)
            #expect(reading().data == Data("secret".utf8))
            await desk.setPasscode(true)
            #expect(SecItemUpdate(query as CFDictionary, changes as CFDictionary) == errSecSuccess)
            #expect(reading().data == Data("new".utf8))
            var all = query
            all[kSecMatchLimit as String] = kSecMatchLimitAll
            all[kSecReturnAttributes as String] = true
            var found: CFTypeRef?
            #expect(SecItemCopyMatching(all as CFDictionary, &found) == errSecSuccess)
            #expect((found as? [Any])?.count == 1)
        }
    }

    @Test("R66: A guarded item needs a prompt for reading, not for adding, changing or deleting")
    func guarded() async throws {
        try await ClientDesk.run { desk in
            #expect(adding(.biometryAny) == errSecSuccess)
            let new = Data("new".utf8)
            let change = [kSecValueData as String: new]
            #expect(SecItemUpdate(query as CFDictionary, change as CFDictionary) == errSecSuccess)
            #expect(await desk.agent.count == 0)
            try await desk.queue("match")
            #expect(reading([kSecUseOperationPrompt as String: "read the note"]).data == new)
            let prompt = try await desk.agent.prompt()
            #expect(prompt.details["reason"] == .string("read the note"))
            #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
            #expect(await desk.agent.count == 1)
        }
    }

    @Test("R35: An evaluated context reads without another prompt")
    func context() async throws {
        try await ClientDesk.run { desk in
            #expect(adding(.biometryAny) == errSecSuccess)
            try await desk.queue("match")
            let context = LAContext()
            try await context.evaluatePolicy(
                .deviceOwnerAuthenticationWithBiometrics,
                localizedReason: "read the notes"
            )
            #expect(reading([kSecUseAuthenticationContext as String: context]).data != nil)
            #expect(await desk.agent.count == 1)
            context.invalidate()
            let later = reading([kSecUseAuthenticationContext as String: context])
            #expect(later.status == errSecAuthFailed)
            // The service never created a context object for this context.
            let unused = LAContext()
            unused.invalidate()
            let never = reading([kSecUseAuthenticationContext as String: unused])
            #expect(never.status == errSecAuthFailed)
        }
    }

    @Test("R36, R68: Cancel, a forbidden prompt and skipping have distinct statuses")
    func statuses() async throws {
        try await ClientDesk.run { desk in
            #expect(adding(.userPresence) == errSecSuccess)
            await desk.agent.will(.cancel)
            #expect(reading().status == errSecUserCanceled)
            let fail = [kSecUseAuthenticationUI as String: kSecUseAuthenticationUIFail]
            #expect(reading(fail).status == errSecInteractionNotAllowed)
            let skip = [kSecUseAuthenticationUI as String: kSecUseAuthenticationUISkip]
            #expect(reading(skip).status == errSecItemNotFound)
            let context = LAContext()
            context.interactionNotAllowed = true
            let quiet = reading([kSecUseAuthenticationContext as String: context])
            #expect(quiet.status == errSecInteractionNotAllowed)
        }
    }

    @Test("R68: Checking the existence of an item needs no prompt, also for a guarded item")
    func existence() async throws {
        try await ClientDesk.run { desk in
            let forbidding: [[String: Any]] = [
                [kSecUseAuthenticationUI as String: kSecUseAuthenticationUIFail],
                [kSecUseNoAuthenticationUI as String: true],
            ]
            func statuses() -> [OSStatus] {
                forbidding.map { more in
                    SecItemCopyMatching(query.merging(more) { $1 } as CFDictionary, nil)
                }
            }
            #expect(statuses() == [errSecItemNotFound, errSecItemNotFound])
            for flags in [SecAccessControlCreateFlags.biometryAny, .userPresence, []] {
                #expect(adding(flags) == errSecSuccess)
                for status in statuses() {
                    #expect([errSecSuccess, errSecInteractionNotAllowed].contains(status))
                }
                #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
            }
            #expect(await desk.agent.count == 0)
        }
    }

    @Test("R70: An item has an access control or an accessibility; a query may have either")
    func exclusive() async throws {
        try await ClientDesk.run { desk in
            let accessible = [kSecAttrAccessible as String: kSecAttrAccessibleWhenUnlocked]
            let quiet = [kSecUseAuthenticationUI as String: kSecUseAuthenticationUIFail]
            #expect(adding(.biometryAny, accessible) == errSecParam)
            #expect(reading(quiet).status == errSecItemNotFound)
            #expect(SecItemDelete(query as CFDictionary) == errSecItemNotFound)
            #expect(adding([]) == errSecSuccess)
            #expect(reading(accessible).data == Data("secret".utf8))
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil,
                    kSecAttrAccessibleWhenUnlocked,
                    .biometryAny,
                    nil
                )
            )
            // The item's own access control counts.
            let guarded = reading([kSecAttrAccessControl as String: control])
            #expect(guarded.data == Data("secret".utf8))
            #expect(await desk.agent.count == 0)
        }
    }

    @Test("R71: After evaluateAccessControl a read needs no second prompt")
    func evaluated() async throws {
        try await ClientDesk.run { desk in
            #expect(adding(.biometryAny) == errSecSuccess)
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil,
                    kSecAttrAccessibleWhenUnlocked,
                    .biometryAny,
                    nil
                )
            )
            try await desk.queue("match")
            let context = LAContext()
            let isGranted = try await context.evaluateAccessControl(
                control,
                operation: .useItem,
                localizedReason: "read the notes"
            )
            #expect(isGranted)
            #expect(await desk.agent.count == 1)
            context.interactionNotAllowed = true
            let read = reading([kSecUseAuthenticationContext as String: context])
            #expect(read.data == Data("secret".utf8))
            #expect(await desk.agent.count == 1)
        }
    }

    @Test("R22, R36: Reset properties are defaults again, also after keychain calls")
    func defaultsAgain() async throws {
        try await ClientDesk.run { desk in
            #expect(adding(.biometryAny) == errSecSuccess)
            let context = LAContext()
            context.localizedReason = "read the notes"
            context.localizedFallbackTitle = ""
            context.localizedCancelTitle = "Later"
            context.interactionNotAllowed = true
            let quiet = reading([kSecUseAuthenticationContext as String: context])
            #expect(quiet.status == errSecInteractionNotAllowed)
            context.localizedFallbackTitle = nil
            context.localizedCancelTitle = nil
            context.interactionNotAllowed = false
            await desk.agent.will(.cancel)
            let refusal = await #expect(throws: LAError.self) {
                try await context.evaluatePolicy(
                    .deviceOwnerAuthenticationWithBiometrics,
                    localizedReason: "read the notes"
                )
            }
            #expect(refusal?.code == .userCancel)
            let prompt = try #require(await desk.agent.prompts.seen.first)
            #expect(prompt.details["fallback-title"] == nil)
            #expect(prompt.details["cancel-title"] == nil)
        }
    }

    @Test("R67: A change of the enrolment removes an item of the current enrolment")
    func currentSet() async throws {
        try await ClientDesk.run { desk in
            #expect(adding(.biometryCurrentSet) == errSecSuccess)
            try await desk.queue("match")
            #expect(reading().data != nil)
            try await desk.enrollAnother()
            try await desk.queue("match")
            #expect(reading().status == errSecItemNotFound)
        }
    }

    @Test("A key signs after a prompt, and its public half verifies")
    func key() async throws {
        try await ClientDesk.run { desk in
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil,
                    kSecAttrAccessibleWhenUnlocked,
                    [.privateKeyUsage, .biometryAny],
                    nil
                )
            )
            let parameters: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
                kSecAttrKeySizeInBits as String: 256,
                kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
                kSecPrivateKeyAttrs as String: [
                    kSecAttrIsPermanent as String: true,
                    kSecAttrApplicationTag as String: Data("com.example.key".utf8),
                    kSecAttrAccessControl as String: control,
                ] as [String: Any],
            ]
            var error: Unmanaged<CFError>?
            let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, &error))
            let half = try #require(SecKeyCopyPublicKey(key))
            try await desk.queue("match", "match")
            let data = Data("pay 5 to jo".utf8) as CFData
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            let signature = try #require(SecKeyCreateSignature(key, algorithm, data, &error))
            #expect(SecKeyVerifySignature(half, algorithm, data, signature, &error))
            let cipher = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM
            let sealed = try #require(SecKeyCreateEncryptedData(half, cipher, data, &error))
            let opened = try #require(SecKeyCreateDecryptedData(key, cipher, sealed, &error))
            #expect(opened as Data == data as Data)
        }
    }

    @Test("R80: A saved right has a key and a secret, which require its authorization")
    func right() async throws {
        try await ClientDesk.run { desk in
            let store = LARightStore.shared
            let saved = try await store.saveRight(
                LARight(requirement: .biometry),
                identifier: "vault",
                secret: Data("gold".utf8)
            )
            await #expect(throws: (any Error).self) { try await saved.secret.rawData }
            let right = try await store.right(forIdentifier: "vault")
            try await desk.queue("match")
            try await right.authorize(localizedReason: "open the vault")
            #expect(try await right.secret.rawData == Data("gold".utf8))
            let data = Data("pay".utf8)
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            let signature = try await right.key.sign(data, algorithm: algorithm)
            try await right.key.publicKey.verify(data, signature: signature, algorithm: algorithm)
            try await store.removeRight(forIdentifier: "vault")
            await #expect(throws: (any Error).self) {
                try await store.right(forIdentifier: "vault")
            }
        }
    }
}

extension KeychainTests {
    @Test("Saving a right again creates a new secret and a new key")
    func savedAgain() async throws {
        try await ClientDesk.run { desk in
            let store = LARightStore.shared
            let first = try await store.saveRight(LARight(), identifier: "vault", secret: Data([1]))
            let second = try await store.saveRight(
                LARight(),
                identifier: "vault",
                secret: Data([2])
            )
            #expect(try await first.key.publicKey.bytes != second.key.publicKey.bytes)
            let right = try await store.right(forIdentifier: "vault")
            #expect(try await right.key.publicKey.bytes == second.key.publicKey.bytes)
            var found: CFTypeRef?
            let keys: [String: Any] = [
                kSecClass as String: kSecClassKey, kSecMatchLimit as String: kSecMatchLimitAll,
                kSecReturnAttributes as String: true,
            ]
            #expect(SecItemCopyMatching(keys as CFDictionary, &found) == errSecSuccess)
            #expect((found as? [Any])?.count == 1)
            await desk.agent.will(.type("passcode"))
            try await desk.queue("match")
            try await right.authorize(localizedReason: "open the vault")
            #expect(try await right.secret.rawData == Data([2]))
        }
    }

    @Test("A canceled signature is LAError -2")
    func canceledSignature() async throws {
        try await ClientDesk.run { desk in
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil,
                    kSecAttrAccessibleWhenUnlocked,
                    [.privateKeyUsage, .biometryAny],
                    nil
                )
            )
            let parameters: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
                kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
                kSecPrivateKeyAttrs as String: [
                    kSecAttrIsPermanent as String: true,
                    kSecAttrAccessControl as String: control,
                ] as [String: Any],
            ]
            var error: Unmanaged<CFError>?
            let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, &error))
            await desk.agent.will(.cancel)
            let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
            #expect(SecKeyCreateSignature(key, algorithm, Data() as CFData, &error) == nil)
            let reason = try #require(error?.takeRetainedValue())
            #expect(reason.domain == LAErrorDomain)
            #expect(reason.code == LAError.userCancel.rawValue)
        }
    }
}
