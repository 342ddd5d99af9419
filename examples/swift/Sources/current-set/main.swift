// Detects a changed enrolment with the keychain alone: any change deletes an item of the current
// enrolment.
//
//   current-set on                        stores the item; no prompt
//   current-set verify [--password WORD]  authenticates, and reads the item
//   current-set off
import Foundation
import LocalAuthentication

let appPassword = "swordfish"
let query: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword,
    kSecAttrService as String: "org.example.current-set",
    kSecAttrAccount as String: "enrolment",
]

@MainActor func accessControl() -> SecAccessControl? {
    var error: Unmanaged<CFError>?
    let control = SecAccessControlCreateWithFlags(
        kCFAllocatorDefault,
        kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
        .touchIDCurrentSet,
        &error
    )
    if control == nil, let error { print("\(error.takeRetainedValue().localizedDescription)") }
    return control
}

@MainActor func text(_ status: OSStatus) -> String {
    SecCopyErrorMessageString(status, nil).map { "\($0)" } ?? "\(status)"
}

@MainActor func switchOn(_ control: SecAccessControl) -> Int32 {
    SecItemDelete(query as CFDictionary)
    var item = query
    item[kSecAttrAccessControl as String] = control
    item[kSecValueData as String] = Data("whoever reads this is enrolled".utf8)
    let status = SecItemAdd(item as CFDictionary, nil)
    print(status == errSecSuccess ? "The switch is on." : "Not stored: \(text(status))")
    return status == errSecSuccess ? 0 : 1
}

@MainActor func verify(_ control: SecAccessControl, _ password: String?) async -> Int32 {
    let context = LAContext()
    do {
        try await context.evaluateAccessControl(
            control,
            operation: .useItem,
            localizedReason: "log in"
        )
    } catch {
        print("Refused: \(error.localizedDescription)")
        return 1
    }
    var wanted = query
    wanted[kSecReturnData as String] = true
    wanted[kSecUseAuthenticationContext as String] = context
    var data: CFTypeRef?
    switch SecItemCopyMatching(wanted as CFDictionary, &data) {
    case errSecSuccess:
        print("Logged in.")
        return 0
    case errSecItemNotFound:
        print("The enrolment has changed: the password of the app is needed.")
        guard password == appPassword else { return 1 }
        return switchOn(control)
    case let status:
        print("Not logged in: \(text(status))")
        return 1
    }
}

guard let control = accessControl() else { exit(1) }
let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "on": exit(switchOn(control))
case "verify": exit(await verify(control, words.count == 3 ? words[2] : nil))
case "off":
    print("The switch is off: \(text(SecItemDelete(query as CFDictionary)))")
    exit(0)
default:
    print("usage: current-set on | verify [--password WORD] | off")
    exit(64)
}
