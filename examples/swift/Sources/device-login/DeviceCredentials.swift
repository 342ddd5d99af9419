import Foundation
import LocalAuthentication

/// The login data of a bound device, which the server stores at the binding.
struct DeviceCredentials: Codable {
    var account: String
    var password: String
    /// Identifies the device to the server.
    var token: String

    /// Generates credentials with long random values.
    static func make() -> DeviceCredentials {
        func random() -> String {
            (0..<2).map { _ in UUID().uuidString }.joined()
        }
        return DeviceCredentials(account: random(), password: random(), token: random())
    }

    // MARK: In the keychain, by the user's name

    private static func query(_ user: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "org.example.device-login",
            kSecAttrAccount as String: user,
        ]
    }

    func keep(for user: String) -> OSStatus {
        let control = SecAccessControlCreateWithFlags(
            nil,
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
            .biometryAny,
            nil
        )
        SecItemDelete(Self.query(user) as CFDictionary)
        var item = Self.query(user)
        item[kSecAttrAccessControl as String] = control
        item[kSecValueData as String] = try? JSONEncoder().encode(self)
        return SecItemAdd(item as CFDictionary, nil)
    }

    /// Reads the credentials; an evaluated context needs no second prompt.
    static func read(for user: String, _ context: LAContext) -> DeviceCredentials? {
        var wanted = query(user)
        wanted[kSecReturnData as String] = true
        wanted[kSecUseAuthenticationContext as String] = context
        var data: CFTypeRef?
        guard SecItemCopyMatching(wanted as CFDictionary, &data) == errSecSuccess,
            let data = data as? Data
        else { return nil }
        return try? JSONDecoder().decode(DeviceCredentials.self, from: data)
    }

    static func forget(for user: String) {
        SecItemDelete(query(user) as CFDictionary)
    }

    // MARK: For the server

    /// Encrypts the credentials for the server.
    func sealed(for publicKey: String) -> String? {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
        ]
        guard let point = Data(base64Encoded: publicKey),
            let key = SecKeyCreateWithData(point as CFData, attributes as CFDictionary, nil),
            let plain = try? JSONEncoder().encode(self),
            let sealed = SecKeyCreateEncryptedData(
                key,
                .eciesEncryptionCofactorVariableIVX963SHA256AESGCM,
                plain as CFData,
                nil
            )
        else { return nil }
        return (sealed as Data).base64EncodedString()
    }
}
