// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import DBus
public import Foundation
internal import LocalAuthClient
internal import Synchronization

/// A key: in this process, or on P-256 with the private half in the keychain.
public final class SecKey: NSObject, Sendable {
    /// The item with the key; nil: it is in none.
    let id: String?
    /// The key that the service keeps, by its X9.63 point; nil: this one is in the process.
    let publicKey: [UInt8]?
    /// The key, or the public half of one that the service keeps; nil: the keychain doesn't say.
    let software: SoftwareKey?
    /// Whose prompts its use may cause.
    let use: RemoteKeychain.Use
    private let made: Mutex<ItemDictionary?>
    /// Whether its bytes may be had.
    let isExtractable: Bool

    package convenience init(
        id: String?,
        publicKey: [UInt8]?,
        use: RemoteKeychain.Use = RemoteKeychain.Use()
    ) {
        self.init(id: id, publicKey: publicKey, use: use, temporary: nil)
    }

    init(
        id: String?,
        publicKey: [UInt8]?,
        use: RemoteKeychain.Use,
        temporary: ItemDictionary?
    ) {
        self.id = id
        self.publicKey = id == nil ? nil : publicKey ?? []
        software = publicKey.flatMap {
            try? SoftwareKey(Data($0), isRSA: false, isPrivate: false)
        }
        self.use = use
        made = Mutex(temporary)
        isExtractable = id == nil
    }

    init(_ software: SoftwareKey, id: String? = nil, isExtractable: Bool = true) {
        self.id = id
        publicKey = nil
        self.software = software
        use = RemoteKeychain.Use()
        made = Mutex(nil)
        self.isExtractable = isExtractable
    }

    /// Whether the private half is with the service.
    var isKept: Bool { publicKey != nil }

    /// What the private half was made as, while it goes with this object; nil: it doesn't.
    var temporary: ItemDictionary? { made.withLock { $0 } }

    /// Leaves the private half where it is: an item has it now.
    func stay() { made.withLock { $0 = nil } }

    /// Whether it has a private half, wherever that is.
    var isPrivate: Bool { isKept || software?.isPrivate == true }

    deinit {
        guard temporary != nil, let id else { return }
        onLoop { try? await RemoteKeychain().delete([id]) }
    }

    /// What both halves are found by, as Apple makes it: the SHA-1 of the public one.
    var label: [UInt8]? { try? software?.label() }

    /// Keys are the same that have the same bytes, or are the same item's.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecKey else { return false }
        return isKept || other.isKept
            ? isKept && id == other.id : software != nil && software == other.software
    }

    /// A hash of its public half.
    public override var hash: Int { software?.publicBytes.hashValue ?? id.hashValue }

    /// An object prints as what it is, without its secrets.
    public override var description: String {
        if isKept { return "<SecKey P-256 private, in the keychain>" }
        let kind = software.map { "\($0.kind)" } ?? "unknown"
        return "<SecKey \(kind) \(isPrivate ? "private" : "public")>"
    }
}

/// Which way a key is used.
public enum SecKeyOperationType: Int, Sendable {
    /// Making a signature.
    case sign = 0
    /// Checking one.
    case verify = 1
    /// Encrypting.
    case encrypt = 2
    /// Decrypting.
    case decrypt = 3
    /// Agreeing on a secret.
    case keyExchange = 4
}

/// A parameter of a key exchange.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    let name: String

    /// Apple's name.
    public var rawValue: CFString { name as NSString }

    /// A parameter by its name.
    public init(rawValue: CFString) {
        name = "\(rawValue)"
    }

    private init(_ name: String) {
        self.name = name
    }

    /// How many bytes are wanted.
    public static let requestedSize = Self("requestedSize")
    /// Shared info of the key derivation.
    public static let sharedInfo = Self("sharedInfo")
}

/// Makes a key.
///
/// One on P-256 that is to be in the Secure Enclave, or has an access control, is made in the
/// service, and never leaves it; a temporary one goes with its reference, unless `SecItemAdd`
/// stores it. Any other one is made in this process; a permanent one is kept as an item beside
/// that, a temporary one never reaches the service. The public half is kept, too, if
/// `kSecPublicKeyAttrs` is there and says that it is permanent.
///
/// The error pointer is part of Apple's signature.
///
/// - Parameters:
///   - parameters: `kSecAttrKeyType`, `kSecAttrKeySizeInBits`, and `kSecPrivateKeyAttrs` with the
///     tag, the access control and whether it is permanent; what it doesn't say is taken from
///     beside it.
///   - error: Gets why there is none.
/// - Returns: The key.
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    let made = Result { () throws(KeychainFailure) in try NewKey(parameters) }
    return handOut(error) { () throws(KeychainFailure) in try made.get().key() }
}

/// The public half of a key; nil when the keychain doesn't say.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.software.map { SecKey($0.publicHalf) }
}

/// The bytes of a key in this process: X9.63 of a curve's, PKCS#1 of RSA.
///
/// A private key of the service is never exported. The error pointer is part of Apple's signature.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    handOut(error) { () throws(KeychainFailure) in
        guard !key.isKept, key.isExtractable, let software = key.software else {
            throw KeychainFailure(errSecUnimplemented, "This private key is never exported.")
        }
        return software.bytes as NSData
    }
}

/// A key from its bytes, in this process.
///
/// The error pointer is part of Apple's signature.
///
/// - Parameters:
///   - keyData: X9.63 of a curve's key, PKCS#1 of RSA.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`.
///   - error: Gets why there is none.
/// - Returns: The key.
public func SecKeyCreateWithData(
    _ keyData: CFData,
    _ attributes: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    let bytes = Data(referencing: keyData)
    let read = Result { () throws(KeychainFailure) in try ItemDictionary(attributes) }
    return handOut(error) { () throws(KeychainFailure) in
        let given = try read.get().attributes
        let isRSA = given["type"] == .uint32(42)
        guard isRSA || given["type"] == .uint32(73) else {
            throw KeychainFailure(errSecParam, "A key has kSecAttrKeyType.")
        }
        guard given["kcls"] == .uint32(0) || given["kcls"] == .uint32(1) else {
            throw KeychainFailure(errSecParam, "A key has kSecAttrKeyClass.")
        }
        guard given["tkid"] == nil else {
            throw KeychainFailure(errSecUnimplemented, "A key of the service is made there.")
        }
        let isPrivate = given["kcls"] == .uint32(1)
        return SecKey(try SoftwareKey(bytes, isRSA: isRSA, isPrivate: isPrivate))
    }
}

/// What a key is, by Apple's names.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    let isRSA = key.software?.kind == .rsa
    var attributes: [String: Any] = [
        kSecClass as String: kSecClassKey,
        kSecAttrKeyType as String: isRSA ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeECSECPrimeRandom,
        kSecAttrKeySizeInBits as String: NSNumber(value: key.software?.bits ?? 256),
        kSecAttrEffectiveKeySize as String: NSNumber(value: key.software?.bits ?? 256),
        kSecAttrKeyClass as String: key.isPrivate
            ? kSecAttrKeyClassPrivate : kSecAttrKeyClassPublic,
        kSecAttrIsExtractable as String: NSNumber(value: key.isExtractable),
        kSecAttrIsPermanent as String: NSNumber(value: key.id != nil && key.temporary == nil),
    ]
    if let label = key.label { attributes[kSecAttrApplicationLabel as String] = Data(label) }
    for (name, isAble) in ItemDictionary.abilities(isPrivate: key.isPrivate) {
        attributes[name] = NSNumber(value: isAble)
    }
    if key.isKept { attributes[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave }
    if !key.isKept, key.isExtractable { attributes[kSecValueData as String] = key.software?.bytes }
    return attributes as NSDictionary
}

/// The size of a key's numbers, in bytes.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { ((key.software?.bits ?? 256) + 7) / 8 }

/// Hands a result or an error out in Apple's way.
///
/// The error pointer is part of Apple's signature.
func handOut<Value>(
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?,
    _ body: () throws(KeychainFailure) -> Value
) -> Value? {
    do throws(KeychainFailure) {
        return try body()
    } catch let failure {
        error?.pointee = .passRetained(failure.keyError)
        return nil
    }
}

/// Runs a body on the loop and waits for it here.
func waiting<Value: Sendable>(
    _ body: @escaping @BusActor @Sendable () async throws(KeychainFailure) -> Value
) throws(KeychainFailure) -> Value {
    try blocking(orElse: { Result<Value, KeychainFailure>.failure(KeychainFailure($0)) }) {
        do throws(KeychainFailure) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
    .get()
}
