import CryptoKit
import Foundation
import LocalAuthentication
import Security

// More uses in apps: attributes, application passwords, keys of every kind, and older names.

func attributes() {
    let ours = password()
    let secret: [CFString: Any] = [kSecValueData: Data("kept".utf8)]
    shape("an item to be changed", SecItemAdd(with(ours, secret), nil) == errSecSuccess)
    func facts() -> [String: Any] {
        found(with(ours, [kSecReturnAttributes: true])).value as? [String: Any] ?? [:]
    }
    for accessible in [kSecAttrAccessibleAlways, kSecAttrAccessibleAlwaysThisDeviceOnly] {
        let change = [kSecAttrAccessible: accessible] as CFDictionary
        shape("an update of the accessibility", SecItemUpdate(ours as CFDictionary, change) == 0)
        let now = facts()[kSecAttrAccessible as String] as? String
        shape("\(accessible) comes back", now == "\(accessible)", now as Any)
    }
    let protection = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    let control = SecAccessControlCreateWithFlags(nil, protection, .userPresence, nil)
    let guarding = [kSecAttrAccessControl: control as Any] as CFDictionary
    shape("an update of the access control", SecItemUpdate(ours as CFDictionary, guarding) == 0)
    let names = Set(facts().keys)
    shape("the attributes of an item", names.isSuperset(of: ["accc", "agrp", "sync"]), names)
    let read = found(with(ours, [kSecReturnData: true]))
    shape("its secret is the same", read.value as? Data == Data("kept".utf8), read.status)
    shape("a changed item is deleted", SecItemDelete(ours as CFDictionary) == errSecSuccess)
}

/// The agent types a fixed password into every prompt.
func passwordOfAnApp() {
    let protection = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    let control = SecAccessControlCreateWithFlags(nil, protection, .applicationPassword, nil)
    let item: [CFString: Any] = [
        kSecAttrAccessControl: control as Any, kSecValueData: Data("locked".utf8),
    ]
    shape("a password is asked for", SecItemAdd(with(password(), item), nil) == errSecSuccess)
    let read = found(with(password(), [kSecReturnData: true]))
    shape("and opens the item", read.value as? Data == Data("locked".utf8), read.status)
    let wrong = LAContext()
    wrong.setCredential(Data("another".utf8), type: .applicationPassword)
    let query: [CFString: Any] = [kSecReturnData: true, kSecUseAuthenticationContext: wrong]
    let refused = found(with(password(), query)).status
    shape("another one doesn't", refused == errSecAuthFailed, refused)
    shape("it is deleted", SecItemDelete(password() as CFDictionary) == errSecSuccess)
}

func keysAsItems() {
    let keys: [CFString: Any] = [kSecClass: kSecClassKey]
    for (type, bits) in [(kSecAttrKeyTypeRSA, 2048), (kSecAttrKeyTypeECSECPrimeRandom, 521)] {
        let wanted: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits]
        var half: SecKey?
        var key: SecKey?
        let made = SecKeyGeneratePair(wanted as CFDictionary, &half, &key)
        guard made == errSecSuccess, let key, let half else { return shape("a pair", false, made) }
        shape("a temporary pair is in no item", found(keys as CFDictionary).status != 0)
        shape("a key is added", SecItemAdd(with(keys, [kSecValueRef: key]), nil) == errSecSuccess)
        let same = found(with(keys, [kSecReturnRef: true])).value
        shape("and is found as itself", CFEqual(same, key))
        let facts = found(with(keys, [kSecReturnAttributes: true])).value as? [String: Any]
        let label = facts?[kSecAttrApplicationLabel as String] as? Data
        shape("a key has a label", label?.count == 20)
        shape("it is added once", SecItemAdd(with(keys, [kSecValueRef: key]), nil) != 0)
        shape("it is deleted by it", SecItemDelete(with(keys, [kSecValueRef: key])) == 0)
        let isRSA = type == kSecAttrKeyTypeRSA
        var signature = [UInt8](repeating: 0, count: 512)
        var size = signature.count
        let digest = [UInt8](repeating: 7, count: 32)
        let padding: SecPadding = isRSA ? .PKCS1SHA256 : .PKCS1
        let signed = SecKeyRawSign(key, padding, digest, 32, &signature, &size)
        shape("SecKeyRawSign of SHA-256", signed == errSecSuccess, signed)
        shape("SecKeyRawVerify", SecKeyRawVerify(half, padding, digest, 32, signature, size) == 0)
    }
}

func guardedKey() throws {
    let protection = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    let flags: SecAccessControlCreateFlags = [.privateKeyUsage, .userPresence]
    let control = SecAccessControlCreateWithFlags(nil, protection, flags, nil)
    let wanted: [CFString: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
        kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecAttrIsPermanent: false,
        kSecPrivateKeyAttrs: [kSecAttrAccessControl: control as Any] as [CFString: Any],
    ]
    guard let key = SecKeyCreateRandomKey(wanted as CFDictionary, nil),
        let half = SecKeyCopyPublicKey(key)
    else { return shape("a guarded temporary key", false) }
    let keys = [kSecClass: kSecClassKey] as CFDictionary
    shape("no query finds a temporary key", found(keys).status == errSecItemNotFound)
    let message = Data("pay 5 to jo".utf8) as CFData
    let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA384
    let signature = SecKeyCreateSignature(key, algorithm, message, nil) ?? nothing()
    shape("it signs by a prompt", SecKeyVerifySignature(half, algorithm, message, signature, nil))
    let compact = try SecureEnclave.P256.Signing.PrivateKey(compactRepresentable: true)
    shape("compactRepresentable", compact.publicKey.compactRepresentation != nil)
    let tagged =
        [kSecClass: kSecClassKey, kSecAttrApplicationTag: SecureEnclave.tag] as [CFString: Any]
    shape("its key goes", SecItemDelete(tagged as CFDictionary) == errSecSuccess)
}

func olderNames() {
    let reason = [NSLocalizedFailureReasonErrorKey: "because"]
    let error: CFError = NSError(domain: "shapes", code: 1, userInfo: reason)
    let text = CFErrorCopyFailureReason(error) as String?
    shape("CFErrorCopyFailureReason", text == "because", text as Any)
    shape("kCFBundleIdentifierKey", kCFBundleIdentifierKey as String? == "CFBundleIdentifier")
    var trust: SecTrust?
    let made = SecTrustCreateWithCertificates(nothing(), nil, &trust)
    shape("no SecTrust", made == errSecUnimplemented && trust == nil, made)
    shape("types differ", SecKeyGetTypeID() != SecAccessControlGetTypeID())
}
