import ClientTestSupport
import DBus
import Foundation
import LocalAuthBus
import LocalAuthClient
import LocalAuthentication
import Synchronization
import TestSupport
import Testing

@testable import Security

/// Tests uses of items that apps rely on.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct AppShapeTests {
    private static var passwords: [CFString: Any] { [kSecClass: kSecClassGenericPassword] }

    private static func add(_ more: [CFString: Any]) -> OSStatus {
        let secret: [CFString: Any] = [kSecValueData: Data("secret".utf8)]
        let item = passwords.merging(secret) { $1 }.merging(more) { $1 }
        return SecItemAdd(item as CFDictionary, nil)
    }

    private static func found(_ more: [CFString: Any]) -> (status: OSStatus, value: CFTypeRef?) {
        var value: CFTypeRef?
        let query = passwords.merging(more) { $1 } as CFDictionary
        let status = SecItemCopyMatching(query, &value)
        return (status, value)
    }

    @Test("Missing names equal empty names when adding, finding, changing and deleting")
    func emptyNames() async throws {
        try await ClientDesk.run { _ in
            let empty: [CFString: Any] = [kSecAttrService: "", kSecAttrAccount: Data()]
            #expect(Self.add([:]) == errSecSuccess)
            #expect(Self.add([kSecAttrAccount: "jo"]) == errSecSuccess)
            #expect(Self.add(empty) == errSecDuplicateItem)
            #expect(Self.found(empty).status == errSecSuccess)
            let item = Self.found(empty.merging([kSecReturnAttributes: true]) { $1 }).value
            #expect((item as? [String: Any])?[kSecAttrAccount as String] as? String == "")
            #expect((item as? [String: Any])?[kSecAttrService as String] as? String == "")
            let query = Self.passwords.merging(empty) { $1 } as CFDictionary
            let changes = [kSecAttrLabel: "changed"] as CFDictionary
            #expect(SecItemUpdate(query, changes) == errSecSuccess)
            #expect(Self.found([kSecAttrLabel: ""]).status == errSecItemNotFound)
            #expect(Self.found([kSecAttrAccount: "jo", kSecAttrLabel: "changed"]).status != 0)
            #expect(SecItemDelete(query) == errSecSuccess)
            #expect(Self.found([kSecAttrAccount: "jo"]).status == errSecSuccess)
            let server: [CFString: Any] = [
                kSecClass: kSecClassInternetPassword, kSecAttrServer: "example.com",
            ]
            #expect(SecItemAdd(server as CFDictionary, nil) == errSecSuccess)
            let port: [CFString: Any] = [kSecAttrPort: 0, kSecAttrPath: ""]
            let whole = server.merging(port) { $1 } as CFDictionary
            #expect(SecItemAdd(whole, nil) == errSecDuplicateItem)
            #expect(SecItemDelete(whole) == errSecSuccess)
        }
    }

    @Test("An item from before groups stays, has no group, and can be moved into a group")
    func withoutGroup() async throws {
        try await ClientDesk.run { _ in
            let old: [String: Variant] = ["class": .string("genp"), "acct": .string("old")]
            let service = try await ServiceConnection.shared.current()
            _ = try await service.keychain.add(
                attributes: old,
                secret: Array("kept".utf8),
                accessControl: [:],
                options: [:]
            )
            #expect(Self.add([kSecAttrAccount: "new"]) == errSecSuccess)
            // Queries for the program's own items neither find nor delete it.
            #expect(SecItemDelete(Self.passwords as CFDictionary) == errSecSuccess)
            #expect(Self.found([kSecAttrAccount: "old"]).status == errSecItemNotFound)
            let none = Self.passwords.merging([kSecAttrAccessGroup: ""]) { $1 }
            let change = [kSecAttrAccessGroup: AccessGroup.ofProgram] as CFDictionary
            #expect(SecItemUpdate(none as CFDictionary, change) == errSecSuccess)
            let data = Self.found([kSecAttrAccount: "old", kSecReturnData: true]).value
            #expect(data as? Data == Data("kept".utf8))
            #expect(SecItemDelete(none as CFDictionary) == errSecItemNotFound)
        }
    }

    @Test("Numbers are accepted as texts, and returned as numbers")
    func numbers() async throws {
        try await ClientDesk.run { _ in
            let item: [CFString: Any] = [
                kSecClass: kSecClassInternetPassword, kSecAttrServer: "example.com",
                kSecAttrPort: "443",
            ]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            var value: CFTypeRef?
            let query: [CFString: Any] = [
                kSecClass: kSecClassInternetPassword, kSecAttrPort: 443, kSecReturnAttributes: true,
            ]
            #expect(SecItemCopyMatching(query as CFDictionary, &value) == errSecSuccess)
            #expect((value as? [String: Any])?[kSecAttrPort as String] as? Int == 443)
            #expect(Self.add([kSecAttrCreator: -1]) == errSecParam)
        }
    }

    @Test("A result can be read as every type of dictionary, by constants and by texts")
    func dictionaries() async throws {
        try await ClientDesk.run { _ in
            #expect(Self.add([kSecAttrAccount: "jo"]) == errSecSuccess)
            let value = Self.found([kSecReturnAttributes: true]).value
            let hashable = value as? [AnyHashable: Any]
            #expect(hashable?[kSecAttrAccount] as? String == "jo")
            #expect(hashable?["acct"] as? String == "jo")
            #expect((value as? [CFString: Any])?[kSecAttrAccount] as? String == "jo")
            #expect((value as? NSDictionary)?[kSecAttrAccount] as? String == "jo")
            // A query may have this type, too.
            let query: [AnyHashable: Any] = [
                kSecClass: kSecClassGenericPassword, "acct": "jo", kSecReturnData: true,
            ]
            var found: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
            #expect(found as? Data == Data("secret".utf8))
        }
    }

    @Test("What Apple's keychain refuses is refused, and changes nothing")
    func refusals() async throws {
        try await ClientDesk.run { _ in
            #expect(Self.add([:]) == errSecSuccess)
            let persistent = Self.found([kSecReturnPersistentRef: true]).value as? Data
            let word = kSecAttrAccessibleWhenUnlocked
            let ofKey = SecAccessControlCreateWithFlags(nil, word, .privateKeyUsage, nil)
            let ofItem = SecAccessControlCreateWithFlags(nil, word, .userPresence, nil)
            let wrong: [[CFString: Any?]] = [
                [kSecAttrAccessControl: ofKey],
                [kSecAttrAccessControl: ofItem, kSecAttrSynchronizable: true],
            ]
            for item in wrong.map({ $0.compactMapValues(\.self) }) {
                #expect(Self.add(item.merging([kSecAttrAccount: "jo"]) { $1 }) == errSecParam)
                let change = item as CFDictionary
                #expect(SecItemUpdate(Self.passwords as CFDictionary, change) == errSecParam)
            }
            let changes = [kSecAttrLabel: "new"] as CFDictionary
            let queries: [[CFString: Any]] = [
                [kSecReturnData: true], [kSecReturnAttributes: true],
                [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip],
                [kSecValuePersistentRef: try #require(persistent), kSecAttrLabel: "x"],
            ]
            for more in queries {
                let query = Self.passwords.merging(more) { $1 } as CFDictionary
                #expect(SecItemUpdate(query, changes) == errSecParam, "\(more)")
            }
            for more in queries.suffix(2) {
                let query = Self.passwords.merging(more) { $1 } as CFDictionary
                #expect(SecItemDelete(query) == errSecParam, "\(more)")
            }
            #expect(Self.found(queries[3]).status == errSecParam)
            let ofClass = Self.passwords as CFDictionary
            #expect(SecItemUpdate(ofClass, ofClass) == errSecNoSuchAttr)
            let item = Self.found([kSecReturnAttributes: true]).value as? [CFString: Any]
            #expect(item?[kSecAttrLabel] == nil && item?[kSecAttrAccount] as? String == "")
        }
    }

    @Test("A query for a password's reference returns nothing, not an empty dictionary")
    func reference() async throws {
        try await ClientDesk.run { _ in
            #expect(Self.add([:]) == errSecSuccess)
            let one = Self.found([kSecReturnRef: true])
            #expect(one.status == errSecSuccess)
            #expect(one.value == nil)
            let all = Self.found([kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll])
            #expect((all.value as? [Any])?.isEmpty == true)
            let both = Self.found([kSecReturnRef: true, kSecReturnData: true]).value
            #expect((both as? [String: Any])?.keys.sorted() == [kSecValueData as String])
        }
    }

    @Test("L27: Search keys in a change are refused and change nothing")
    func changes() async throws {
        try await ClientDesk.run { _ in
            #expect(Self.add([:]) == errSecSuccess)
            let persistent = Self.found([kSecReturnPersistentRef: true]).value as? Data
            let reference = try #require(persistent)
            let wrong: [(CFString, Any)] = [
                (kSecMatchLimit, kSecMatchLimitOne), (kSecReturnData, true),
                (kSecUseAuthenticationContext, LAContext()), (kSecUseOperationPrompt, "look"),
                (kSecUseAuthenticationUI, kSecUseAuthenticationUISkip),
                (kSecMatchItemList, [reference]), (kSecValuePersistentRef, reference),
            ]
            for (name, value) in wrong {
                let changes = [kSecAttrLabel: "changed", name: value] as CFDictionary
                #expect(SecItemUpdate(Self.passwords as CFDictionary, changes) == errSecParam)
            }
            #expect(Self.found([kSecAttrLabel: "changed"]).status == errSecItemNotFound)
            // A password can't have the reference of a key.
            let keys: [CFString: Any] = [kSecClass: kSecClassKey]
            let parameters: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            ]
            let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
            let item = keys.merging([kSecValueRef: key]) { $1 } as CFDictionary
            #expect(SecItemAdd(item, nil) == errSecSuccess)
            let changes: [CFString: Any] = [kSecAttrLabel: "changed", kSecValueRef: key]
            #expect(SecItemUpdate(keys as CFDictionary, changes as CFDictionary) == errSecParam)
            let changed = keys.merging([kSecAttrLabel: "changed"]) { $1 } as CFDictionary
            #expect(SecItemCopyMatching(changed, nil) == errSecItemNotFound)
        }
    }

    @Test("Many threads read at the same time without a refusal")
    func threads() async throws {
        try await ClientDesk.run { _ in
            let accounts = (0..<48).map { "jo \($0)" }
            for account in accounts { #expect(Self.add([kSecAttrAccount: account]) == 0) }
            let statuses = await withTaskGroup { group in
                for account in accounts {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            Thread.detachNewThread {
                                let one: [CFString: Any] = [
                                    kSecAttrAccount: account, kSecReturnData: true,
                                ]
                                continuation.resume(returning: Self.found(one).status)
                            }
                        }
                    }
                }
                return await group.reduce(into: Set<OSStatus>()) { $0.insert($1) }
            }
            #expect(statuses == [errSecSuccess])
        }
    }

    private static func addGuarded(_ account: String) throws {
        let accessible = kSecAttrAccessibleWhenUnlocked
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, accessible, .biometryAny, nil)
        )
        let item: [CFString: Any] = [kSecAttrAccount: account, kSecAttrAccessControl: control]
        #expect(add(item) == errSecSuccess)
    }

    private final class Count: Sendable {
        let value = Mutex(0)
    }

    @Test("Threads that read guarded items get one prompt after another, without a refusal")
    func guardedThreads() async throws {
        try await ClientDesk.run { desk in
            let accounts = (0..<5).map { "jo \($0)" }
            for account in accounts { try Self.addGuarded(account) }
            let begun = Count()
            let statuses = try await withThrowingTaskGroup(
                of: OSStatus.self,
                returning: Set<OSStatus>.self
            ) { group in
                for account in accounts {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            Thread.detachNewThread {
                                begun.value.withLock { $0 += 1 }
                                let one: [CFString: Any] = [
                                    kSecAttrAccount: account, kSecReturnData: true,
                                ]
                                continuation.resume(returning: Self.found(one).status)
                            }
                        }
                    }
                }
                try await eventually("the threads to read") {
                    begun.value.withLock { $0 } == accounts.count
                }
                // Earlier calls of other threads precede these calls on the connection.
                for _ in 0..<20 {
                    let none: [CFString: Any] = [kSecAttrAccount: "nobody"]
                    #expect(Self.found(none).status == errSecItemNotFound)
                }
                for count in 1...accounts.count {
                    try await eventually("a prompt") { desk.agent.count == count }
                    try await desk.queue("match")
                }
                return try await group.reduce(into: Set<OSStatus>()) { $0.insert($1) }
            }
            #expect(statuses == [errSecSuccess])
        }
    }

    @Test("R35: One call prompts once for several guarded items, and a deletion never prompts")
    func oneCall() async throws {
        try await ClientDesk.run { desk in
            for account in ["a", "b", "c"] { try Self.addGuarded(account) }
            let all: [CFString: Any] = [
                kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
            ]
            try await desk.queue("match")
            #expect((Self.found(all).value as? [Data])?.count == 3)
            #expect(await desk.agent.count == 1)
            // The proof does not outlive its call.
            await desk.agent.will(.cancel)
            #expect(Self.found(all).status == errSecUserCanceled)
            #expect(await desk.agent.count == 2)
            await desk.agent.will(.wait)
            try await desk.queue("match")
            let word = [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock] as CFDictionary
            #expect(SecItemUpdate(Self.passwords as CFDictionary, word) == errSecSuccess)
            #expect(await desk.agent.count == 3)
            let changed = all.merging([
                kSecReturnAttributes: true, kSecReturnData: false,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
            ]) { $1 }
            #expect((Self.found(changed).value as? [Any])?.count == 3)
            #expect(SecItemDelete(Self.passwords as CFDictionary) == errSecSuccess)
            #expect(await desk.agent.count == 3)
        }
    }

    @Test("R35: On request a list omits items that need a prompt, unless the context was evaluated")
    func skipping() async throws {
        try await ClientDesk.run { desk in
            #expect(Self.add([kSecAttrAccount: "free"]) == errSecSuccess)
            try Self.addGuarded("guarded")
            let context = LAContext()
            let list: [CFString: Any] = [
                kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
                kSecUseAuthenticationUI: kSecUseAuthenticationUISkip,
            ]
            let onContext = list.merging([kSecUseAuthenticationContext: context]) { $1 }
            #expect((Self.found(list).value as? [Data])?.count == 1)
            #expect((Self.found(onContext).value as? [Data])?.count == 1)
            try await desk.queue("match")
            let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics
            try await context.evaluatePolicy(biometry, localizedReason: "read")
            #expect((Self.found(onContext).value as? [Data])?.count == 2)
            #expect((Self.found(list).value as? [Data])?.count == 1)
            #expect(await desk.agent.count == 1)
        }
    }
}
