// An item with an application password: no program can read the item without it, even after a
// match.
//
//   application-password store PASSWORD SECRET
//   application-password read [PASSWORD]        without PASSWORD the prompt asks for it
//   application-password delete
import Foundation
import LocalAuthentication

let query: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword,
    kSecAttrService as String: "org.example.application-password",
    kSecAttrAccount as String: "diary",
]

func finish(_ status: OSStatus, _ success: String) -> Never {
    let text = SecCopyErrorMessageString(status, nil).map { "\($0)" } ?? "\(status)"
    print(status == errSecSuccess ? success : "Not done: \(text) (\(status))")
    exit(status == errSecSuccess ? 0 : 1)
}

func context(_ password: String?) -> LAContext {
    let context = LAContext()
    context.localizedReason = "read the diary"
    if let password {
        context.setCredential(Data(password.utf8), type: .applicationPassword)
    }
    return context
}

@MainActor func store(_ password: String, _ secret: String) -> Never {
    let control = SecAccessControlCreateWithFlags(
        nil,
        kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
        .applicationPassword,
        nil
    )
    SecItemDelete(query as CFDictionary)
    var item = query
    item[kSecAttrAccessControl as String] = control
    item[kSecUseAuthenticationContext as String] = context(password)
    item[kSecValueData as String] = Data(secret.utf8)
    finish(SecItemAdd(item as CFDictionary, nil), "Stored.")
}

@MainActor func read(_ password: String?) -> Never {
    var wanted = query
    wanted[kSecUseAuthenticationContext as String] = context(password)
    wanted[kSecReturnData as String] = true
    var data: CFTypeRef?
    let status = SecItemCopyMatching(wanted as CFDictionary, &data)
    let secret = (data as? Data).map { String(decoding: $0, as: UTF8.self) } ?? ""
    finish(status, "The secret is: \(secret)")
}

let words = Array(CommandLine.arguments.dropFirst())
switch (words.first, words.count) {
case ("store", 3): store(words[1], words[2])
case ("read", 1): read(nil)
case ("read", 2): read(words[1])
case ("delete", 1): finish(SecItemDelete(query as CFDictionary), "Deleted.")
default:
    print("usage: application-password store PASSWORD SECRET | read [PASSWORD] | delete")
    exit(64)
}
