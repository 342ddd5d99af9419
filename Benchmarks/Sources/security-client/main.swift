import Foundation
import LocalAuthentication
import Security

// Uses the keychain as an app does, by SecItem. The program takes commands from standard input,
// like libsecret-client, and answers each with a line of the nanoseconds of every operation. The
// system bus is DBUS_SYSTEM_BUS_ADDRESS.
//
//   add, read, delete SIZE FIRST COUNT   items without an access control
//   search SIZE FIRST COUNT              their attributes alone
//   key 0 0                              makes a key that the service keeps
//   sign 0 FIRST COUNT                   signs with it
//   guard SIZE FIRST COUNT               adds items that biometry releases
//   unlock SIZE NUMBER                   reads an item on a new context
//   warm SIZE NUMBER                     reads an item on a context that was evaluated before

/// The cause of the program's end.
struct Refusal: Error {
    let what: String
    let status: OSStatus
}

func query(_ size: Int, _ number: Int) -> [String: Any] {
    [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: "bench",
        kSecAttrAccount as String: "\(size)-\(number)",
    ]
}

func guarded() throws -> SecAccessControl {
    let protection = kSecAttrAccessibleWhenUnlocked
    guard let control = SecAccessControlCreateWithFlags(nil, protection, .biometryAny, nil) else {
        throw Refusal(what: "access control", status: errSecParam)
    }
    return control
}

func add(_ size: Int, _ number: Int, _ control: SecAccessControl? = nil) throws {
    var item = query(size, number)
    item[kSecValueData as String] = Data(repeating: UInt8(ascii: "s"), count: size)
    item[kSecAttrAccessControl as String] = control
    try check("add", SecItemAdd(item as CFDictionary, nil))
}

func read(_ size: Int, _ number: Int, on context: LAContext? = nil) throws {
    var wanted = query(size, number)
    wanted[kSecReturnData as String] = true
    wanted[kSecUseAuthenticationContext as String] = context
    var found: CFTypeRef?
    try check("read", SecItemCopyMatching(wanted as CFDictionary, &found))
    guard (found as? Data)?.count == size else {
        throw Refusal(what: "a secret of another length", status: errSecDecode)
    }
}

func search(_ size: Int, _ number: Int) throws {
    var wanted = query(size, number)
    wanted[kSecReturnAttributes as String] = true
    var found: CFTypeRef?
    try check("search", SecItemCopyMatching(wanted as CFDictionary, &found))
}

/// Makes a key for `sign`, which stays with the service.
func makeKey() throws -> SecKey? {
    let attributes: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
        kSecAttrKeySizeInBits as String: 256,
        kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
        kSecPrivateKeyAttrs as String: [kSecAttrIsPermanent as String: true],
    ]
    var error: Unmanaged<CFError>?
    let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error)
    if let error { throw error.takeRetainedValue() }
    return key
}

func sign(_ key: SecKey?) throws {
    guard let key else { throw Refusal(what: "no key", status: errSecParam) }
    let digest = Data(repeating: 1, count: 32) as CFData
    let algorithm = SecKeyAlgorithm.ecdsaSignatureDigestX962SHA256
    guard SecKeyCreateSignature(key, algorithm, digest, nil) != nil else {
        throw Refusal(what: "sign", status: errSecParam)
    }
}

func check(_ what: String, _ status: OSStatus) throws {
    guard status == errSecSuccess else { throw Refusal(what: what, status: status) }
}

func nanoseconds(_ body: () throws -> Void) rethrows -> Int64 {
    let start = ContinuousClock.now
    try body()
    return Int64((ContinuousClock.now - start) / .nanoseconds(1))
}

func perform(
    _ verb: Substring,
    _ size: Int,
    _ number: Int,
    key: inout SecKey?
) async throws -> Int64 {
    switch verb {
    case "add": return try nanoseconds { try add(size, number) }
    case "guard": return try nanoseconds { try add(size, number, try guarded()) }
    case "read": return try nanoseconds { try read(size, number) }
    case "search": return try nanoseconds { try search(size, number) }
    case "key": return try nanoseconds { key = try makeKey() }
    case "sign": return try nanoseconds { try sign(key) }
    case "delete":
        return try nanoseconds {
            try check("delete", SecItemDelete(query(size, number) as CFDictionary))
        }
    case "unlock": return try nanoseconds { try read(size, number, on: LAContext()) }
    case "warm":
        let context = LAContext()
        try await context.evaluateAccessControl(
            try guarded(),
            operation: .useItem,
            localizedReason: "be measured"
        )
        return try nanoseconds { try read(size, number, on: context) }
    default: throw Refusal(what: String(verb), status: errSecUnimplemented)
    }
}

do {
    // Connects first, because a process's first call is not to be measured.
    _ = SecItemCopyMatching(query(0, 0) as CFDictionary, nil)
    print("ready")
    fflush(nil)
    var key: SecKey?
    while let line = readLine() {
        let words = line.split(separator: " ")
        guard words.count >= 3, let size = Int(words[1]), let first = Int(words[2]) else {
            exit(64)
        }
        let count = words.count > 3 ? Int(words[3]) ?? 1 : 1
        var times: [String] = []
        for number in first..<(first + count) {
            times.append("\(try await perform(words[0], size, number, key: &key))")
        }
        print(times.joined(separator: " "))
        fflush(nil)
    }
} catch {
    FileHandle.standardError.write(Data("security-client: \(error)\n".utf8))
    exit(1)
}
