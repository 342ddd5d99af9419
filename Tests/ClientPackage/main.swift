// An app that uses the products from another package, built in Swift 5 mode and in Swift 6 mode.
// The program runs on a private bus with the service and an agent that types the password. Each
// check prints a line, and the first difference from Apple's systems ends the program.
import CryptoKit
import Foundation
import Glibc
import LocalAuthentication
import Security

/// Reports a check, and ends the program if it failed.
func shape(_ name: String, _ isRight: Bool, _ found: Any = "") {
    print(isRight ? "ok: \(name)" : "WRONG: \(name) \(found)")
    if !isRight { exit(1) }
}

// Functions, because globals of main.swift would belong to the main actor.
func reason() -> String { "look at what an app does" }
func password() -> [CFString: Any] {
    [kSecClass: kSecClassGenericPassword, kSecAttrService: "shapes"]
}
func nothing() -> CFData { Data() as CFData }

func with(_ query: [CFString: Any], _ more: [CFString: Any]) -> CFDictionary {
    query.merging(more) { $1 } as CFDictionary
}

func found(_ query: CFDictionary) -> (status: OSStatus, value: CFTypeRef?) {
    var value: CFTypeRef?
    let status = SecItemCopyMatching(query, &value)
    return (status, value)
}

// MARK: A fork

/// Whether all other threads sleep.
///
/// A lock that another thread holds during a fork, such as a lock of Swift's runtime, stays locked
/// in the child forever.
func areOthersAsleep() -> Bool {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return tasks.allSatisfy { task in
        guard task != "\(getpid())" else { return true }
        let path = "/proc/self/task/\(task)/stat"
        guard let stat = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
        return stat.contains(") S ")
    }
}

/// Runs first: the program has a context and has made no call.
func aFork() {
    let context = LAContext()
    while !areOthersAsleep() { sched_yield() }
    // Swift hides `fork`, because little works in a forked child.
    typealias Fork = @convention(c) () -> Int32
    guard let address = dlsym(nil, "fork") else { return shape("fork", false) }
    let pid = unsafeBitCast(address, to: Fork.self)()
    if pid == 0 {
        alarm(20)
        let answered = DispatchSemaphore(value: 0)
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason()) { _, error in
            if (error as? LAError)?.code == .biometryNotAvailable { answered.signal() }
        }
        _exit(answered.wait(timeout: .now()) == .success ? 7 : 8)
    }
    var status: Int32 = 0
    shape("a fork is refused at once", waitpid(pid, &status, 0) == pid && status == 7 << 8, status)
}

// MARK: Contexts

func contexts() async throws {
    var error: NSError?
    var refused = 0
    var kept: [LAContext] = []
    for _ in 0..<1000 {
        let context = LAContext()
        if !context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error) { refused += 1 }
        kept.append(context)
    }
    shape("a thousand contexts", refused == 0 && kept.count == 1000, error as Any)

    let context = LAContext()
    shape("a context says what the device has", context.biometryType == .touchID)
    let can = context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
    let code = error.map { LAError.Code(rawValue: $0.code) }
    shape("nobody is enrolled", !can && code == .biometryNotEnrolled, error as Any)
    _ = context.domainState
    shape("reading the domain state is no evaluation", context.evaluatedPolicyDomainState == nil)

    let isOwner = try await LAContext()
        .evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason())
    shape("evaluatePolicy with await", isOwner)
    let replied: Bool = await withCheckedContinuation { continuation in
        LAContext()
            .evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason()) {
                success,
                error in
                continuation.resume(returning: success && error == nil)
            }
    }
    shape("evaluatePolicy with a reply", replied)

    let ended = LAContext()
    ended.invalidate()
    do {
        _ = try await ended.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason())
        shape("an invalidated context refuses", false)
    } catch LAError.invalidContext {
        shape("an invalidated context refuses", true)
    }
}

// MARK: Items

func items() {
    let secret = [kSecValueData: Data("secret".utf8)] as [CFString: Any]
    let ours = with(password(), secret.merging([kSecAttrAccount: "jo"]) { $1 })
    let theirs = with(password(), secret.merging([kSecAttrAccessGroup: "com.example.other"]) { $1 })
    shape("SecItemAdd", SecItemAdd(ours, nil) == errSecSuccess)
    shape("SecItemAdd of what is there", SecItemAdd(ours, nil) == errSecDuplicateItem)
    shape("SecItemAdd to another group", SecItemAdd(theirs, nil) == errSecSuccess)

    let read = found(with(password(), [kSecReturnData: true]))
    shape("SecItemCopyMatching", read.value as? Data == Data("secret".utf8), read.status)
    for (name, more) in [
        ("another account", [kSecAttrAccount: "al"]),
        ("synchronizable", [kSecAttrSynchronizable: true]),
        ("another label", [kSecAttrLabel: "x"]),
    ] as [(String, [CFString: Any])] {
        let query = with(password(), more)
        shape("\(name) isn't found", found(query).status == errSecItemNotFound)
        shape("\(name) isn't deleted", SecItemDelete(query) == errSecItemNotFound)
    }
    let accessible = [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock] as CFDictionary
    shape(
        "an update of the accessibility alone",
        SecItemUpdate(password() as CFDictionary, accessible) == 0
    )

    let numbers: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: Data([1, 2]),
    ]
    shape("an account of bytes", SecItemAdd(with(numbers, secret), nil) == errSecSuccess)
    let facts = found(with(numbers, [kSecReturnAttributes: true, kSecReturnPersistentRef: true]))
        .value
    let back = (facts as? [String: Any]) ?? [:]
    shape("it comes back as bytes", back[kSecAttrAccount as String] as? Data == Data([1, 2]), back)
    let reference = back[kSecValuePersistentRef as String] as? Data ?? Data()
    let list: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecMatchItemList: [reference],
        kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
    ]
    shape("kSecMatchItemList", (found(list as CFDictionary).value as? [Any])?.count == 1)

    let everything = [kSecClass: kSecClassGenericPassword] as CFDictionary
    shape("a wipe", SecItemDelete(everything) == errSecSuccess)
    shape("a wipe leaves nothing", SecItemDelete(everything) == errSecItemNotFound)
    let other = with(password(), [kSecAttrAccessGroup: "com.example.other"])
    shape("another program's item stays", SecItemDelete(other) == errSecSuccess)
}

func guardedItem() {
    var failure: Unmanaged<CFError>?
    let flags: SecAccessControlCreateFlags = .userPresence
    let accessible = kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
    let control = SecAccessControlCreateWithFlags(kCFAllocatorDefault, accessible, flags, &failure)
    let item: [CFString: Any] = [
        kSecAttrAccessControl: control as Any, kSecValueData: Data("guarded".utf8),
    ]
    shape("a guarded item", SecItemAdd(with(password(), item), nil) == errSecSuccess)
    let silent = LAContext()
    silent.interactionNotAllowed = true
    let quiet: [CFString: Any] = [kSecReturnData: true, kSecUseAuthenticationContext: silent]
    let refused = found(with(password(), quiet)).status
    shape("it isn't read in silence", refused == errSecInteractionNotAllowed, refused)
    let asking = LAContext()
    asking.localizedReason = reason()
    let query = with(password(), [kSecReturnData: true, kSecUseAuthenticationContext: asking])
    let read = found(query)
    shape("it is read by a prompt", read.value as? Data == Data("guarded".utf8), read.status)
    shape("it is deleted without one", SecItemDelete(password() as CFDictionary) == errSecSuccess)
}

// MARK: Keys

func softwareKeys() throws {
    let message = Data("pay 5 to jo".utf8)
    for (type, bits) in [(kSecAttrKeyTypeECSECPrimeRandom, 384), (kSecAttrKeyTypeRSA, 2048)] {
        let wanted: [CFString: Any] = [kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits]
        let isRSA = type == kSecAttrKeyTypeRSA
        guard let key = SecKeyCreateRandomKey(wanted as CFDictionary, nil),
            let half = SecKeyCopyPublicKey(key)
        else { return shape("SecKeyCreateRandomKey of \(bits) bits", false) }
        let signing: SecKeyAlgorithm =
            isRSA ? .rsaSignatureMessagePSSSHA512 : .ecdsaSignatureMessageX962SHA384
        let data = message as CFData
        let signature = SecKeyCreateSignature(key, signing, data, nil) ?? nothing()
        let isValid = SecKeyVerifySignature(half, signing, data, signature, nil)
        shape("a signature of \(bits) bits", isValid)
        var failure: Unmanaged<CFError>?
        let other = Data("pay 9 to jo".utf8) as CFData
        let isForged = SecKeyVerifySignature(half, signing, other, signature, &failure)
        let code = failure.map { CFErrorGetCode($0.takeRetainedValue()) }
        shape("a forged one", !isForged && code == Int(errSecVerifyFailed), code as Any)
        let encrypting: SecKeyAlgorithm =
            isRSA ? .rsaEncryptionOAEPSHA256 : .eciesEncryptionCofactorVariableIVX963SHA384AESGCM
        let sealed = SecKeyCreateEncryptedData(half, encrypting, data, nil) ?? nothing()
        let opened = SecKeyCreateDecryptedData(key, encrypting, sealed, nil) as Data?
        shape("an encryption of \(bits) bits", opened == message)

        let what: [CFString: Any] = [
            kSecAttrKeyType: type, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        ]
        let bytes = SecKeyCopyExternalRepresentation(half, nil) ?? nothing()
        let same = SecKeyCreateWithData(bytes, what as CFDictionary, nil)
        shape("a key from its bytes", CFEqual(same, half) && CFHash(same) == CFHash(half))
        shape("what it is", CFGetTypeID(half) == SecKeyGetTypeID())
    }
}

func serviceKeys() throws {
    let key = try SecureEnclave.P256.Signing.PrivateKey()
    let message = Data("pay 5 to jo".utf8)
    let signature = try key.signature(for: message)
    shape("SecureEnclave.P256", key.publicKey.isValidSignature(signature, for: message))
    let keys: [CFString: Any] = [kSecClass: kSecClassKey]
    for (name, more) in [
        ("public keys", [kSecAttrKeyClass: kSecAttrKeyClassPublic]),
        ("keys of 384 bits", [kSecAttrKeySizeInBits: 384]),
        ("keys of a foreign label", [kSecAttrApplicationLabel: Data([9])]),
    ] as [(String, [CFString: Any])] {
        shape("\(name) aren't found", found(with(keys, more)).status == errSecItemNotFound)
        shape("\(name) aren't deleted", SecItemDelete(with(keys, more)) == errSecItemNotFound)
    }
    let tagged: [CFString: Any] = [kSecAttrApplicationTag: SecureEnclave.tag]
    shape("its key is deleted", SecItemDelete(with(keys, tagged)) == errSecSuccess)
    shape("and gone", (try? key.signature(for: message)) == nil)
}

// MARK: Names

func names() {
    var bytes = [UInt8](repeating: 0, count: 32)
    let status = SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes)
    shape("SecRandomCopyBytes", status == errSecSuccess && bytes.contains { $0 != 0 })
    for code in [errSecItemNotFound, errSecAuthFailed, errSecInteractionNotAllowed, errSecParam] {
        let text = SecCopyErrorMessageString(code, nil).map { "\($0)" } ?? ""
        shape("the text of \(code)", !text.isEmpty)
    }
    shape("no certificate", SecCertificateCreateWithData(nil, Data([0x30]) as CFData) == nil)
    shape("CFBooleanGetValue", CFBooleanGetValue(kCFBooleanTrue))
    shape("CFDataGetLength", CFDataGetLength(Data([1, 2]) as CFData) == 2)
}

// MARK: Rights

func rights() async throws {
    let store = LARightStore.shared
    let first = try await store.saveRight(LARight(), identifier: "shapes", secret: Data([1]))
    let second = try await store.saveRight(LARight(), identifier: "shapes", secret: Data([2]))
    shape("a right has its key", !(try await first.key.publicKey.bytes).isEmpty)
    try await second.authorize(localizedReason: reason())
    let secret = try await second.secret.rawData
    shape("a right that is saved again", secret == Data([2]), secret)
    try await store.removeRight(forIdentifier: "shapes")
}

aFork()
names()
olderNames()
items()
attributes()
passwordOfAnApp()
keysAsItems()
try guardedKey()
try softwareKeys()
try serviceKeys()
try await contexts()
guardedItem()
try await rights()
print("every shape is as on Apple's systems")
