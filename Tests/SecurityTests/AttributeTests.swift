import ClientTestSupport
import Foundation
import Security
import TestSupport
import Testing

/// Tests that every documented attribute is either stored, returned and compared, or refused.
///
/// If a query ignored an attribute, it could find and delete items that the caller did not mean.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct AttributeTests {
    // SAFETY: the values are constants of Foundation types, which are not marked Sendable.
    private struct Case: @unchecked Sendable {
        let name: CFString
        let value: Any
        let other: Any

        init(_ name: CFString, _ value: Any, _ other: Any) {
            (self.name, self.value, self.other) = (name, value, other)
        }
    }

    private static let day = Date(timeIntervalSince1970: 1_700_000_000.25)
    private static let common = [
        Case(kSecAttrAccessGroup, "com.example.group", "com.example.other"),
        Case(kSecAttrSynchronizable, true, false),
        Case(
            kSecAttrAccessible,
            kSecAttrAccessibleAfterFirstUnlock,
            kSecAttrAccessibleWhenUnlocked
        ),
        Case(kSecAttrAccessible, kSecAttrAccessibleAlways, kSecAttrAccessibleWhenUnlocked),
        Case(
            kSecAttrAccessible,
            kSecAttrAccessibleAlwaysThisDeviceOnly,
            kSecAttrAccessibleAlways
        ),
        Case(kSecAttrCreationDate, day, Date(timeIntervalSince1970: 1_700_000_000.5)),
        Case(kSecAttrModificationDate, day, Date(timeIntervalSince1970: 1_700_000_000)),
        Case(kSecAttrLabel, "Label", "label"),
        Case(kSecAttrLabel, "caf\u{e9}", "cafe\u{301}"),
        Case(kSecAttrCreator, 0x4c41_7574, 0x4c41_7575),
        // A text and the number of its four characters are distinct.
        Case(kSecAttrCreator, "abcd", 0x6162_6364),
        Case(kSecAttrCreator, "abcd e=", "abcd"),
        Case(kSecAttrSyncViewHint, "View", "Other"),
    ]
    private static let passwords =
        common + [
            Case(kSecAttrDescription, "a description", "another"),
            Case(kSecAttrComment, "a comment", ""),
            Case(kSecAttrType, 7, 8),
            Case(kSecAttrIsInvisible, true, false),
            Case(kSecAttrIsNegative, false, true),
            Case(kSecAttrAccount, "jo", "jo "),
            Case(kSecAttrAccount, Data("jo".utf8), Data("jo\u{0}".utf8)),
            Case(kSecAttrAccount, Data([0xff, 0xfe]), Data([0xff])),
            Case(kSecAttrAccount, "a\u{0}b", "a"),
            Case(kSecAttrAccount, 42, "42"),
            Case(kSecAttrLabel, -1.5, -1),
        ]
    private static let generic =
        passwords + [
            Case(kSecAttrService, "mail", "files"),
            Case(kSecAttrService, Data("mail".utf8), Data("files".utf8)),
            Case(kSecAttrGeneric, Data([1, 2]), Data([1])),
            Case(kSecAttrGeneric, "text", "texts"),
        ]
    private static let internet =
        passwords + [
            Case(kSecAttrServer, "example.com", "example.org"),
            Case(kSecAttrSecurityDomain, "realm", "Realm"),
            Case(kSecAttrProtocol, kSecAttrProtocolHTTPS, kSecAttrProtocolHTTP),
            Case(
                kSecAttrAuthenticationType,
                kSecAttrAuthenticationTypeHTMLForm,
                kSecAttrAuthenticationTypeDPA
            ),
            Case(kSecAttrPort, 443, 80),
            Case(kSecAttrPath, "/a", "/a/"),
        ]
    private static let keys =
        common + [
            Case(kSecAttrKeyType, 2_147_483_649, kSecAttrKeyTypeRSA),
            Case(kSecAttrKeyClass, 2, kSecAttrKeyClassPrivate),
            Case(kSecAttrApplicationLabel, Data([1, 2, 3]), Data([1, 2])),
            Case(kSecAttrIsPermanent, true, false),
            Case(kSecAttrApplicationTag, Data("tag".utf8), Data("tags".utf8)),
            Case(kSecAttrApplicationTag, "tag", "tags"),
            Case(kSecAttrKeySizeInBits, 24, 384),
            Case(kSecAttrEffectiveKeySize, 20, 24),
            Case(kSecAttrTokenID, "com.example.token", kSecAttrTokenIDSecureEnclave),
        ]
        + [
            kSecAttrIsSensitive, kSecAttrIsExtractable, kSecAttrCanEncrypt, kSecAttrCanDecrypt,
            kSecAttrCanDerive, kSecAttrCanSign, kSecAttrCanVerify, kSecAttrCanWrap,
            kSecAttrCanUnwrap,
        ]
        .map { Case($0, true, false) }

    @Test("L27: Every attribute of a generic password is returned, and identifies it in a query")
    func genericPassword() async throws {
        try await Self.goThrough(Self.generic, kSecClassGenericPassword)
    }

    @Test("L27: Every attribute of an internet password is returned, and identifies it in a query")
    func internetPassword() async throws {
        try await Self.goThrough(Self.internet, kSecClassInternetPassword)
    }

    @Test("L27: Every attribute of a key is returned, and identifies it in a query")
    func key() async throws {
        try await Self.goThrough(Self.keys, kSecClassKey)
    }

    private static func goThrough(_ cases: [Case], _ itemClass: CFString) async throws {
        let name = itemClass as String
        try await ClientDesk.run { _ in
            for item in cases { check(item, name) }
        }
    }

    private static func check(_ item: Case, _ itemClass: String) {
        let name = item.name as String
        func query(_ value: Any) -> [String: Any] { [kSecClass as String: itemClass, name: value] }
        var added = query(item.value)
        added[kSecValueData as String] = Data("abc".utf8)
        if itemClass == kSecClassKey as String, added[kSecAttrKeyClass as String] == nil {
            added[kSecAttrKeyClass as String] = kSecAttrKeyClassSymmetric
        }
        #expect(SecItemAdd(added as CFDictionary, nil) == errSecSuccess, "add \(item)")
        #expect(SecItemAdd(added as CFDictionary, nil) == errSecDuplicateItem, "again \(item)")
        var found: CFTypeRef?
        var wanted = query(item.value)
        wanted[kSecReturnAttributes as String] = true
        wanted[kSecMatchLimit as String] = kSecMatchLimitAll
        let status = SecItemCopyMatching(wanted as CFDictionary, &found)
        #expect(status == errSecSuccess, "find \(item)")
        let items = found as? [[String: Any]] ?? []
        #expect(items.count == 1, "\(item)")
        let back = items.first?[name] ?? "nothing"
        let isSame = [name: back] as NSDictionary == [name: item.value] as NSDictionary
        #expect(isSame, "\(item) came back as \(back)")
        let wrong = query(item.other) as CFDictionary
        #expect(SecItemCopyMatching(wrong, nil) == errSecItemNotFound, "other \(item)")
        #expect(SecItemUpdate(wrong, [:] as NSDictionary) == errSecItemNotFound, "\(item)")
        #expect(SecItemDelete(wrong) == errSecItemNotFound, "\(item)")
        #expect(SecItemDelete(query(item.value) as CFDictionary) == errSecSuccess, "\(item)")
    }

    @Test("L27: Attributes of other classes and of certificates are refused")
    func refused() {
        let foreign: [(CFString, [CFString])] = [
            (
                kSecClassGenericPassword,
                [kSecAttrServer, kSecAttrPath, kSecAttrProtocol, kSecAttrApplicationTag]
            ),
            (kSecClassInternetPassword, [kSecAttrService, kSecAttrGeneric, kSecAttrKeyClass]),
            (kSecClassKey, [kSecAttrAccount, kSecAttrService, kSecAttrComment]),
        ]
        for (itemClass, names) in foreign {
            for name in names {
                let query = [kSecClass as String: itemClass, name as String: "1"] as CFDictionary
                #expect(SecItemAdd(query, nil) == errSecNoSuchAttr, "\(name)")
                #expect(SecItemCopyMatching(query, nil) == errSecNoSuchAttr, "\(name)")
                #expect(SecItemDelete(query) == errSecNoSuchAttr, "\(name)")
            }
        }
        let certificates = [
            kSecAttrCertificateType, kSecAttrCertificateEncoding, kSecAttrSubject, kSecAttrIssuer,
            kSecAttrSerialNumber, kSecAttrSubjectKeyID, kSecAttrPublicKeyHash, kSecMatchPolicy,
            kSecMatchIssuers, kSecMatchEmailAddressIfPresent, kSecMatchSubjectContains,
            kSecMatchValidOnDate, kSecMatchSearchList, kSecUseItemList,
        ]
        for name in certificates {
            let query =
                [kSecClass as String: kSecClassGenericPassword, name as String: "1"] as CFDictionary
            #expect(SecItemAdd(query, nil) == errSecUnimplemented, "\(name)")
            #expect(SecItemCopyMatching(query, nil) == errSecUnimplemented, "\(name)")
            #expect(SecItemDelete(query) == errSecUnimplemented, "\(name)")
        }
        let matches = [kSecMatchCaseInsensitive as String, kSecMatchTrustedOnly as String]
        for name in matches + ["m_DiacriticInsensitive", "m_WidthInsensitive"] {
            let plain = [kSecClass as String: kSecClassGenericPassword] as CFDictionary
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, name: true,
            ]
            let loose = query as CFDictionary
            #expect(SecItemCopyMatching(loose, nil) == errSecUnimplemented, "\(name)")
            #expect(SecItemUpdate(loose, [:] as NSDictionary) == errSecUnimplemented, "\(name)")
            #expect(SecItemUpdate(plain, [name: true] as NSDictionary) == errSecUnimplemented)
            #expect(SecItemDelete(loose) == errSecUnimplemented, "\(name)")
        }
    }
}
