// swift-format-ignore-file
import Foundation
import Security

/// Typical keychain code, with each type of dictionary that programs use.
public enum KeychainExpressions {
    public static func queries() -> [CFDictionary] {
        let first: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "com.example.app",
            kSecReturnData as String: true,
            kSecMatchLimit as String: kSecMatchLimitOne,
        ]
        let second: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "jo",
            kSecReturnData: kCFBooleanTrue!,
        ]
        let third: [String: AnyObject] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecReturnAttributes as String: kCFBooleanTrue as AnyObject,
        ]
        let fourth: [NSString: AnyObject] = [kSecClass: kSecClassInternetPassword]
        let fifth = NSMutableDictionary()
        fifth.setValue("com.example.app", forKey: kSecAttrService as String)
        fifth[kSecClass as String] = kSecClassGenericPassword
        let sixth: [String: AnyHashable] = [kSecClass as String: kSecClassGenericPassword as String]
        return [
            first as CFDictionary, second as CFDictionary, third as CFDictionary,
            fourth as CFDictionary, fifth, sixth as CFDictionary,
            [kSecClass as String: kSecClassGenericPassword] as CFDictionary,
        ]
    }

    /// Access controls, and the error of an invalid access control.
    public static func accessControls() -> [Finding] {
        var error: Unmanaged<CFError>?
        let good = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault,
            kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
            [.biometryCurrentSet, .privateKeyUsage],
            &error
        )
        let bad = SecAccessControlCreateWithFlags(
            nil,
            kSecAttrAccessibleWhenUnlocked,
            [.or, .and],
            &error
        )
        let reason = error.map { $0.takeRetainedValue() as Error }
        return [
            Finding("good", good != nil),
            Finding("bad", bad == nil),
            Finding("reason", (reason as NSError?).map { CFErrorGetCode($0) } == Int(errSecParam)),
        ]
    }

    /// Adds an item, reads it in three ways, updates and deletes it; returns each status.
    public static func life(_ account: String) -> [OSStatus] {
        let password = Data("secret".utf8)
        var item: CFTypeRef?
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "com.example.compatibility",
            kSecAttrAccount as String: account,
        ]
        var added = query
        added[kSecValueData as String] = password
        added[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        var statuses = [SecItemAdd(added as CFDictionary, nil)]

        var wanted = query
        wanted[kSecReturnData as String] = kCFBooleanTrue
        statuses.append(SecItemCopyMatching(wanted as CFDictionary, &item))
        if let data = item as? Data, data != password { statuses.append(errSecDecode) }

        wanted[kSecReturnAttributes as String] = true
        statuses.append(SecItemCopyMatching(wanted as CFDictionary, &item))
        if let found = item as? [String: Any] {
            let data = found[kSecValueData as String] as? Data
            let name = found[kSecAttrAccount as String] as? String
            if data != password || name != account { statuses.append(errSecDecode) }
        } else {
            statuses.append(errSecDecode)
        }

        wanted[kSecMatchLimit as String] = kSecMatchLimitAll
        wanted[kSecReturnData as String] = nil
        var result: AnyObject?
        statuses.append(
            withUnsafeMutablePointer(to: &result) {
                SecItemCopyMatching(wanted as CFDictionary, UnsafeMutablePointer($0))
            }
        )
        if (result as? [[String: Any]])?.count != 1 { statuses.append(errSecDecode) }

        let changes: [String: Any] = [kSecValueData as String: Data("other".utf8)]
        statuses.append(SecItemUpdate(query as CFDictionary, changes as CFDictionary))
        statuses.append(SecItemDelete(query as CFDictionary))
        statuses.append(SecItemCopyMatching(query as CFDictionary, nil))
        return statuses
    }
}
