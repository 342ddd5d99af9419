import ClientTestSupport
import DBus
import Foundation
import LocalAuthentication
import Security
import TestSupport
import Testing

/// Tests the attributes of items, and their changes.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct ItemTests {
    private static func query(_ more: [CFString: Any] = [:]) -> [CFString: Any] {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.items",
        ]
        return query.merging(more) { $1 }
    }

    private static func add(_ more: [CFString: Any]) -> OSStatus {
        let secret: [CFString: Any] = [kSecValueData: Data("secret".utf8)]
        return SecItemAdd(query(secret.merging(more) { $1 }) as CFDictionary, nil)
    }

    private static func found(_ more: [CFString: Any] = [:]) -> (OSStatus, [CFString: Any]) {
        var found: CFTypeRef?
        let wanted: [CFString: Any] = [
            kSecReturnAttributes: true, kSecReturnData: true, kSecReturnPersistentRef: true,
        ]
        let status = SecItemCopyMatching(query(wanted.merging(more) { $1 }) as CFDictionary, &found)
        let items = found as? [String: Any] ?? [:]
        return (status, items.reduce(into: [:]) { $0[$1.key as NSString] = $1.value })
    }

    private static func control(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
        try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil)
        )
    }

    @Test("A change of the accessibility keeps all other attributes")
    func accessibility() async throws {
        try await ClientDesk.run { _ in
            let old = Date(timeIntervalSince1970: 1_000_000_000.5)
            let account = Data("jo".utf8)
            let given: [CFString: Any] = [kSecAttrCreationDate: old, kSecAttrAccount: account]
            #expect(Self.add(given) == errSecSuccess)
            let word = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            let changes = [kSecAttrAccessible: word] as CFDictionary
            #expect(SecItemUpdate(Self.query() as CFDictionary, changes) == errSecSuccess)
            let (status, item) = Self.found()
            #expect(status == errSecSuccess)
            #expect(item[kSecValueData] as? Data == Data("secret".utf8))
            #expect(item[kSecAttrAccessible] as? String == word as String)
            #expect(item[kSecAttrCreationDate] as? Date == old)
            #expect(item[kSecAttrAccount] as? Data == account)
            #expect(item[kSecAttrSynchronizable] as? Bool == false)
        }
    }

    @Test("A new access control takes effect at once, and its removal needs a prompt")
    func guarding() async throws {
        try await ClientDesk.run { desk in
            #expect(Self.add([:]) == errSecSuccess)
            let guarding = [kSecAttrAccessControl: try Self.control(.biometryAny)]
            let all = Self.query() as CFDictionary
            #expect(SecItemUpdate(all, guarding as CFDictionary) == errSecSuccess)
            #expect(await desk.agent.count == 0)
            await desk.agent.will(.cancel)
            #expect(Self.found().0 == errSecUserCanceled)
            await desk.agent.will(.cancel)
            let free = [kSecAttrAccessControl: try Self.control([])] as CFDictionary
            #expect(SecItemUpdate(all, free) == errSecUserCanceled)
            await desk.agent.will(.wait)
            try await desk.queue("match")
            #expect(SecItemUpdate(all, free) == errSecSuccess)
            let asked = await desk.agent.count
            #expect(Self.found().1[kSecValueData] as? Data == Data("secret".utf8))
            #expect(await desk.agent.count == asked)
        }
    }

    @Test("A change of the accessibility keeps the access control")
    func guardStays() async throws {
        try await ClientDesk.run { desk in
            #expect(Self.add([kSecAttrAccessControl: try Self.control(.biometryAny)]) == 0)
            try await desk.queue("match")
            let changes = [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock] as CFDictionary
            #expect(SecItemUpdate(Self.query() as CFDictionary, changes) == errSecSuccess)
            let quiet: [CFString: Any] = [
                kSecUseAuthenticationUI: kSecUseAuthenticationUIFail,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
            ]
            #expect(Self.found(quiet).0 == errSecInteractionNotAllowed)
        }
    }

    @Test("A search result can be stored again, and is a valid update without effect")
    func again() async throws {
        try await ClientDesk.run { _ in
            let given: [CFString: Any] = [
                kSecAttrAccount: "jo", kSecAttrLabel: Data("label".utf8), kSecAttrGeneric: "gen",
                kSecAttrAccessible: kSecAttrAccessibleAlways,
            ]
            #expect(Self.add(given) == errSecSuccess)
            var item = Self.found().1
            item[kSecValuePersistentRef] = nil
            let changes = item.filter { $0.key != kSecClass }
            #expect(SecItemUpdate(Self.query() as CFDictionary, changes as CFDictionary) == 0)
            #expect(SecItemDelete(Self.query() as CFDictionary) == errSecSuccess)
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            let back = Self.found().1
            for name in [
                kSecAttrAccount, kSecAttrLabel, kSecAttrGeneric, kSecAttrAccessible,
                kSecAttrCreationDate, kSecValueData,
            ] {
                #expect(
                    [0: back[name] ?? 0] as NSDictionary == [0: item[name] ?? 1] as NSDictionary
                )
            }
            #expect(back[kSecAttrAccessControl] is SecAccessControl)
        }
    }

    @Test("A query with a list finds only items of the list; an empty list finds nothing")
    func list() async throws {
        try await ClientDesk.run { _ in
            for account in ["a", "b", "c"] {
                #expect(Self.add([kSecAttrAccount: account]) == errSecSuccess)
            }
            let references = ["a", "c"]
                .compactMap {
                    Self.found([kSecAttrAccount: $0]).1[kSecValuePersistentRef] as? Data
                }
            #expect(references.count == 2)
            let some: [CFString: Any] = [kSecMatchItemList: references]
            #expect(Self.found(some).1[kSecAttrAccount] as? String == "a")
            #expect(Self.found(some.merging([kSecAttrAccount: "b"]) { $1 }).0 == -25300)
            #expect(Self.found([kSecMatchItemList: [Data]()]).0 == errSecItemNotFound)
            #expect(Self.found([kSecMatchItemList: ["x"]]).0 == errSecParam)
            #expect(SecItemDelete(Self.query(some) as CFDictionary) == errSecSuccess)
            #expect(Self.found().1[kSecAttrAccount] as? String == "b")
        }
    }

    @Test("L27: A synchronised item and a local item are distinct for queries")
    func synchronised() async throws {
        try await ClientDesk.run { _ in
            let both: [CFString: Any] = [kSecAttrSynchronizable: kSecAttrSynchronizableAny]
            let synchronised: [CFString: Any] = [kSecAttrSynchronizable: true]
            #expect(Self.add(both) == errSecParam)
            #expect(Self.add(synchronised) == errSecSuccess)
            #expect(Self.found().0 == errSecItemNotFound)
            #expect(SecItemDelete(Self.query() as CFDictionary) == errSecItemNotFound)
            #expect(Self.found(synchronised).1[kSecAttrSynchronizable] as? Bool == true)
            #expect(Self.add([:]) == errSecSuccess)
            #expect(Self.found().1[kSecAttrSynchronizable] as? Bool == false)
            #expect(SecItemDelete(Self.query(both) as CFDictionary) == errSecSuccess)
            #expect(Self.found(both).0 == errSecItemNotFound)
        }
    }

    @Test("A deletion with a limit of one deletes one item")
    func limit() async throws {
        try await ClientDesk.run { _ in
            for account in ["a", "b", "c"] {
                #expect(Self.add([kSecAttrAccount: account]) == errSecSuccess)
            }
            let one = Self.query([kSecMatchLimit: kSecMatchLimitOne]) as CFDictionary
            #expect(SecItemDelete(one) == errSecSuccess)
            #expect(Self.found([kSecAttrAccount: "a"]).0 == errSecItemNotFound)
            #expect(Self.found([kSecAttrAccount: "b"]).0 == errSecSuccess)
            #expect(SecItemDelete(Self.query() as CFDictionary) == errSecSuccess)
            #expect(Self.found().0 == errSecItemNotFound)
        }
    }

    @Test("R37: Without a context a prompt asks for the application password of a new item")
    func applicationPassword() async throws {
        try await ClientDesk.run { desk in
            let control = try Self.control(.applicationPassword)
            let quiet: [CFString: Any] = [
                kSecAttrAccessControl: control,
                kSecUseAuthenticationUI: kSecUseAuthenticationUIFail,
            ]
            #expect(Self.add(quiet) == errSecInteractionNotAllowed)
            #expect(await desk.agent.count == 0)
            await desk.agent.will(.type("sesame"))
            #expect(Self.add([kSecAttrAccessControl: control]) == errSecSuccess)
            let prompt = try await desk.agent.prompt()
            #expect(prompt.details["stage"] == .string("application-password"))
            let context = LAContext()
            #expect(context.setCredential(Data("sesame".utf8), type: .applicationPassword))
            let item = Self.found([kSecUseAuthenticationContext: context]).1
            #expect(item[kSecValueData] as? Data == Data("secret".utf8))
            let wrong = LAContext()
            #expect(wrong.setCredential(Data("other".utf8), type: .applicationPassword))
            #expect(Self.found([kSecUseAuthenticationContext: wrong]).0 == errSecAuthFailed)
        }
    }
}
