import ClientTestSupport
import DBus
import Foundation
import LocalAuthentication
import Security
import TestSupport
import Testing

/// Tests saving, finding and removing rights.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct RightStoreTests {
    @Test("A right is saved even if its old key can't be deleted")
    func oldKeyStays() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            let keychain = try await StandInKeychain(on: desk.bus.connect())
            let store = LARightStore.shared
            _ = try await store.saveRight(LARight(), identifier: "safe")
            #expect(await keychain.deleted == [["old key"]])
            let added = await keychain.added
            #expect(added?["desc"] == .string("new key"))
        }
    }

    @Test("A right's requirement protects its secret and each use of its key")
    func flags() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            let keychain = try await StandInKeychain(on: desk.bus.connect())
            // Apple's bit numbers.
            let wanted: [(LAAuthenticationRequirement, UInt64)] = [
                (.default, 1 << 0), (.biometry, 1 << 1), (.biometryCurrentSet, 1 << 3),
            ]
            for (requirement, bit) in wanted {
                let right = LARight(requirement: requirement)
                _ = try await LARightStore.shared.saveRight(right, identifier: "safe")
                #expect(await keychain.keyFlags == .uint64(bit | 1 << 30))
                #expect(await keychain.secretFlags == .uint64(bit))
            }
        }
    }

    @Test("A failed save keeps the existing right and deletes its own new key")
    func notStored() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            let keychain = try await StandInKeychain(on: desk.bus.connect())
            await keychain.refuse()
            await #expect(throws: (any Error).self) {
                _ = try await LARightStore.shared.saveRight(LARight(), identifier: "safe")
            }
            #expect(await keychain.deleted == [["new key"]])
        }
    }

    private static func isGone(_ identifier: String) async -> Bool {
        do {
            _ = try await LARightStore.shared.right(forIdentifier: identifier)
            return false
        } catch {
            return (error as NSError).code == Int(errSecItemNotFound)
        }
    }

    @Test("A right is found, replaced and removed by its identifier; other rights stay")
    func identifiers() async throws {
        try await ClientDesk.run { desk in
            let (store, biometry) = (LARightStore.shared, LARight(requirement: .biometry))
            for (identifier, secret) in [("a", "old"), ("b", "silver"), ("a", "gold")] {
                let secret = Data(secret.utf8)
                _ = try await store.saveRight(biometry, identifier: identifier, secret: secret)
            }
            for (identifier, secret) in [("a", "gold"), ("b", "silver")] {
                let right = try await store.right(forIdentifier: identifier)
                try await desk.queue("match")
                try await right.authorize(localizedReason: "open the vault")
                #expect(try await right.secret.rawData == Data(secret.utf8))
                #expect(right.state == .authorized)
            }
            try await store.removeRight(forIdentifier: "a")
            #expect(await Self.isGone("a"))
            let other = try await store.right(forIdentifier: "b")
            try await desk.queue("match")
            try await other.authorize(localizedReason: "open the vault")
            #expect(try await other.secret.rawData == Data("silver".utf8))
            #expect(other.state == .authorized)
        }
    }

    @Test("L27: Only rights of the program are found and removed")
    func otherPrograms() async throws {
        try await ClientDesk.run { _ in
            let theirs: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrAccessGroup: "com.example.other",
                kSecAttrService: "org.localauth.right", kSecAttrAccount: "a",
            ]
            let item = theirs.merging([kSecValueData: Data("secret".utf8)]) { $1 }
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let store = LARightStore.shared
            for identifier in ["a", "b"] {
                _ = try await store.saveRight(LARight(), identifier: identifier)
            }
            #expect(SecItemCopyMatching(theirs as CFDictionary, nil) == errSecSuccess)
            try await store.removeAllRights()
            #expect(await Self.isGone("a"))
            #expect(await Self.isGone("b"))
            #expect(SecItemCopyMatching(theirs as CFDictionary, nil) == errSecSuccess)
        }
    }
}
