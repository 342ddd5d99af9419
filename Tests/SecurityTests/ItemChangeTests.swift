import ClientTestSupport
import Foundation
import LocalAuthentication
import Security
import TestSupport
import Testing

/// Tests that a change of items is complete or has no effect.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct ItemChangeTests {
    private static let service = "com.example.changes"

    private static func query(_ more: [CFString: Any] = [:]) -> [CFString: Any] {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service,
        ]
        return query.merging(more) { $1 }
    }

    private static func add(_ more: [CFString: Any]) -> OSStatus {
        let secret: [CFString: Any] = [kSecValueData: Data("secret".utf8)]
        return SecItemAdd(query(secret.merging(more) { $1 }) as CFDictionary, nil)
    }

    private static func change(_ more: [CFString: Any], _ changes: [CFString: Any]) -> OSStatus {
        SecItemUpdate(query(more) as CFDictionary, changes as CFDictionary)
    }

    private static func found(_ more: [CFString: Any]) -> (status: OSStatus, value: CFTypeRef?) {
        var value: CFTypeRef?
        let status = SecItemCopyMatching(query(more) as CFDictionary, &value)
        return (status, value)
    }

    private static func locked() throws -> [CFString: Any] {
        let control = SecAccessControlCreateWithFlags(
            nil,
            kSecAttrAccessibleWhenUnlocked,
            .applicationPassword,
            nil
        )
        return [kSecAttrAccessControl: try #require(control)]
    }

    private static func context(_ password: String) -> [CFString: Any] {
        let context = LAContext()
        #expect(context.setCredential(Data(password.utf8), type: .applicationPassword))
        return [kSecUseAuthenticationContext: context]
    }

    @Test("R37: A change of an item with an application password prompts for it, and is complete")
    func applicationPassword() async throws {
        try await ClientDesk.run { desk in
            let changes: [CFString: Any] = [
                kSecAttrLabel: "new", kSecValueData: Data("new".utf8),
            ]
            let known = Self.context("sesame")
            let locked = try Self.locked().merging(known) { $1 }
            #expect(Self.add(locked) == errSecSuccess)
            let quiet: [CFString: Any] = [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]
            #expect(Self.change(quiet, changes) == errSecInteractionNotAllowed)
            #expect(await desk.agent.count == 0)
            #expect(Self.found([kSecAttrLabel: "new"]).status == errSecItemNotFound)
            await desk.agent.will(.type("wrong"))
            #expect(Self.change([:], changes) == errSecAuthFailed)
            #expect(Self.change(Self.context("wrong"), changes) == errSecAuthFailed)
            let context: [CFString: Any] = [kSecUseAuthenticationContext: LAContext()]
            #expect(Self.change(context, changes) == errSecAuthFailed)
            #expect(Self.found([kSecAttrLabel: "new"]).status == errSecItemNotFound)
            #expect(await desk.agent.count == 2)
            await desk.agent.will(.type("sesame"))
            // The first typed password was wrong, so the prompt asks again.
            #expect(Self.change(context, changes) == errSecSuccess)
            #expect(await desk.agent.count == 3)
            let data = Self.found(known.merging([kSecReturnData: true]) { $1 }).value
            #expect(data as? Data == Data("new".utf8))
            #expect(Self.found([kSecAttrLabel: "new"]).status == errSecSuccess)
            // A change of attributes alone needs no password.
            #expect(Self.change([:], [kSecAttrLabel: "newer"]) == errSecSuccess)
            #expect(await desk.agent.count == 3)
        }
    }

    @Test("A secret above the limit changes no attribute either")
    func tooLarge() async throws {
        try await ClientDesk.run { _ in
            #expect(Self.add([:]) == errSecSuccess)
            let changes: [CFString: Any] = [
                kSecAttrLabel: "new", kSecValueData: Data(count: 65_537),
            ]
            #expect(Self.change([:], changes) == errSecAllocate)
            #expect(Self.found([kSecAttrLabel: "new"]).status == errSecItemNotFound)
            let largest = changes.merging([kSecValueData: Data(count: 65_536)]) { $1 }
            #expect(Self.change([:], largest) == errSecSuccess)
            let data = Self.found([kSecAttrLabel: "new", kSecReturnData: true]).value
            #expect((data as? Data)?.count == 65_536)
        }
    }

    @Test("A change that would create a duplicate changes no item")
    func twins() async throws {
        try await ClientDesk.run { _ in
            for (account, label) in [("a", "one"), ("b", "two"), ("c", "two")] {
                #expect(Self.add([kSecAttrAccount: account, kSecAttrLabel: label]) == 0)
            }
            func accounts() -> Int {
                ["a", "b", "c"].filter { Self.found([kSecAttrAccount: $0]).status == 0 }.count
            }
            #expect(Self.change([:], [kSecAttrAccount: "x"]) == errSecDuplicateItem)
            #expect(accounts() == 3)
            #expect(Self.change([:], [kSecAttrAccount: "a"]) == errSecDuplicateItem)
            #expect(accounts() == 3)
            let moved: [CFString: Any] = [kSecAttrService: "com.example.other"]
            #expect(Self.add(moved.merging([kSecAttrAccount: "c"]) { $1 }) == errSecSuccess)
            // The third item would become a duplicate.
            #expect(Self.change([:], moved) == errSecDuplicateItem)
            #expect(accounts() == 3)
            #expect(Self.change([kSecAttrAccount: "a"], moved) == errSecSuccess)
            #expect(accounts() == 2)
            #expect(Self.change([:], [kSecAttrLabel: "three"]) == errSecSuccess)
        }
    }

    @Test("A change of access control or accessibility keeps the persistent reference")
    func persistentReference() async throws {
        try await ClientDesk.run { _ in
            #expect(Self.add([:]) == errSecSuccess)
            let first = Self.found([kSecReturnPersistentRef: true]).value as? Data
            let reference = try #require(first)
            let word = kSecAttrAccessibleAfterFirstUnlock
            #expect(Self.change([:], [kSecAttrAccessible: word, kSecAttrLabel: "new"]) == 0)
            #expect(Self.found([kSecReturnPersistentRef: true]).value as? Data == reference)
            let locked = try Self.locked().merging(Self.context("x")) { $1 }
            #expect(Self.change([:], locked) == errSecParam)
            let guarding: [CFString: Any] = [
                kSecAttrAccessControl: try #require(
                    SecAccessControlCreateWithFlags(nil, word, .biometryAny, nil)
                )
            ]
            #expect(Self.change([:], guarding) == errSecSuccess)
            var value: CFTypeRef?
            let query: [CFString: Any] = [
                kSecValuePersistentRef: reference, kSecReturnAttributes: true,
            ]
            #expect(SecItemCopyMatching(query as CFDictionary, &value) == errSecSuccess)
            #expect((value as? [String: Any])?[kSecAttrLabel as String] as? String == "new")
            #expect((value as? [String: Any])?[kSecAttrAccessible as String] as? String == "ck")
        }
    }

    @Test("R70: A query has an accessibility or an access control, which is not compared")
    func accessControlOfQuery() async throws {
        try await ClientDesk.run { _ in
            #expect(Self.add([:]) == errSecSuccess)
            func control(_ word: CFString) throws -> SecAccessControl {
                try #require(SecAccessControlCreateWithFlags(nil, word, .biometryAny, nil))
            }
            let later = kSecAttrAccessibleAfterFirstUnlock
            let both: [CFString: Any] = [
                kSecAttrAccessControl: try control(later), kSecAttrAccessible: later,
            ]
            #expect(Self.found(both).status == errSecParam)
            #expect(SecItemDelete(Self.query(both) as CFDictionary) == errSecParam)
            #expect(Self.found([kSecAttrAccessible: later]).status == errSecItemNotFound)
            #expect(Self.found([kSecAttrAccessible: "never"]).status == errSecParam)
            // Apps delete by the dictionary of the item that they add next.
            let new: [CFString: Any] = [
                kSecAttrAccessControl: try control(kSecAttrAccessibleWhenUnlocked),
                kSecValueData: Data("other".utf8),
            ]
            #expect(SecItemDelete(Self.query(new) as CFDictionary) == errSecSuccess)
        }
    }

    @Test("Many threads write at the same time, and every item is stored")
    func threads() async throws {
        try await ClientDesk.run { _ in
            let accounts = (0..<160).map { "jo \($0)" }
            func all(_ call: @escaping @Sendable (String) -> OSStatus) async -> Set<OSStatus> {
                await withTaskGroup { group in
                    for account in accounts {
                        group.addTask {
                            await withCheckedContinuation { continuation in
                                Thread.detachNewThread {
                                    continuation.resume(returning: call(account))
                                }
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.insert($1) }
                }
            }
            #expect(await all { Self.add([kSecAttrAccount: $0]) } == [errSecSuccess])
            let changed = await all {
                let changes: [CFString: Any] = [
                    kSecValueData: Data($0.utf8), kSecAttrLabel: "new",
                ]
                return Self.change([kSecAttrAccount: $0], changes)
            }
            #expect(changed == [errSecSuccess])
            let query: [CFString: Any] = [
                kSecAttrLabel: "new", kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            ]
            let stored = Self.found(query).value
            #expect((stored as? [Any])?.count == accounts.count)
            let deleted = await all {
                SecItemDelete(Self.query([kSecAttrAccount: $0]) as CFDictionary)
            }
            #expect(deleted == [errSecSuccess])
        }
    }
}
