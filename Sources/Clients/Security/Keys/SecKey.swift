// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import DBus
public import Foundation
internal import LocalAuthClient
internal import Synchronization

/// A key in this process, or a P-256 key whose private half is in the service.
public final class SecKey: NSObject, Sendable {
    /// The reference of the key's item; nil without an item.
    let id: String?
    /// The X9.63 point of a service key; nil for a key in the process.
    let publicKey: [UInt8]?
    /// The key, or the public half of a service key; nil if the public half is unknown.
    let software: SoftwareKey?
    /// The context for prompts.
    let promptOptions: RemoteKeychain.PromptOptions
    private let made: Mutex<ItemDictionary?>
    /// Whether the bytes can be exported.
    let isExtractable: Bool
    /// Whether the access control allows a use of the private half.
    let isUsable: Bool

    package convenience init(id: String?, publicKey: [UInt8]?) {
        self.init(id: id, publicKey: publicKey, promptOptions: RemoteKeychain.PromptOptions())
    }

    init(
        id: String?,
        publicKey: [UInt8]?,
        promptOptions: RemoteKeychain.PromptOptions,
        temporary: ItemDictionary? = nil,
        isUsable: Bool = true
    ) {
        self.id = id
        self.publicKey = id == nil ? nil : publicKey ?? []
        software = publicKey.flatMap {
            try? SoftwareKey(Data($0), isRSA: false, isPrivate: false)
        }
        self.promptOptions = promptOptions
        made = Mutex(temporary)
        isExtractable = id == nil
        self.isUsable = isUsable
    }

    init(_ software: SoftwareKey, id: String? = nil, isExtractable: Bool = true) {
        self.id = id
        publicKey = nil
        self.software = software
        promptOptions = RemoteKeychain.PromptOptions()
        made = Mutex(nil)
        self.isExtractable = isExtractable
        isUsable = true
    }

    /// Whether the private half is in the service.
    var isInService: Bool { publicKey != nil }

    /// The parameters of a temporary service key, which is deleted with this object; else nil.
    var temporary: ItemDictionary? { made.withLock { $0 } }

    /// Prevents the deletion of the private half, because it has an item.
    func makePermanent() { made.withLock { $0 = nil } }

    /// Whether the key has a private half, in the process or in the service.
    var isPrivate: Bool { isInService || software?.isPrivate == true }

    deinit {
        guard temporary != nil, let id else { return }
        onLoop { try? await RemoteKeychain().delete([id]) }
    }

    /// The label of both halves, as Apple computes it: the SHA-1 hash of the public half.
    var label: [UInt8]? { try? software?.label() }

    /// Compares keys in the process by their bytes, and service keys by their items.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecKey else { return false }
        return isInService || other.isInService
            ? isInService && id == other.id : software != nil && software == other.software
    }

    public override var hash: Int { software?.publicBytes.hashValue ?? id.hashValue }

    /// The kind of the key, without secrets.
    public override var description: String {
        if isInService { return "<SecKey P-256 private, in the keychain>" }
        let kind = software.map { "\($0.kind)" } ?? "unknown"
        return "<SecKey \(kind) \(isPrivate ? "private" : "public")>"
    }
}

/// An operation of a key.
public enum SecKeyOperationType: Int, Sendable {
    case sign = 0
    case verify = 1
    case encrypt = 2
    case decrypt = 3
    case keyExchange = 4
}

public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    let name: String

    public var rawValue: CFString { name as NSString }

    public init(rawValue: CFString) {
        name = "\(rawValue)"
    }

    private init(_ name: String) {
        self.name = name
    }

    /// The requested size in bytes.
    public static let requestedSize = Self("requestedSize")
    /// The shared info of the key derivation.
    public static let sharedInfo = Self("sharedInfo")
}

/// Generates a key.
///
/// The service generates P-256 keys for the Secure Enclave or with an access control, and never
/// exports them. A key of the Secure Enclave is permanent unless `kSecAttrIsPermanent` is false. The
/// service deletes a temporary key with its reference, unless `SecItemAdd` stores it. This process
/// generates all other keys. A permanent key is also stored as an item; a temporary key never reaches
/// the service. The public half is stored if `kSecPublicKeyAttrs` marks it permanent.
///
/// The error pointer is part of Apple's signature.
///
/// - Parameters:
///   - parameters: `kSecAttrKeyType`, `kSecAttrKeySizeInBits`, and `kSecPrivateKeyAttrs` with tag,
///     access control and permanence. The outer dictionary supplies missing values.
///   - error: Receives the error.
/// - Returns: The key.
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    let made = Result { () throws(KeychainFailure) in try NewKey(parameters) }
    return handOut(error) { () throws(KeychainFailure) in try made.get().key() }
}

/// The public half of a key; nil if unknown.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.software.map { SecKey($0.publicHalf) }
}

/// Exports a key of this process: X9.63 for elliptic curves, PKCS#1 for RSA.
///
/// A private key of the service can't be exported. The error pointer is part of Apple's signature.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    handOut(error) { () throws(KeychainFailure) in
        guard !key.isInService, key.isExtractable, let software = key.software else {
            throw KeychainFailure(errSecUnimplemented, "This private key is never exported.")
        }
        return software.bytes as NSData
    }
}

/// Imports a key into this process.
///
/// The error pointer is part of Apple's signature.
///
/// - Parameters:
///   - keyData: X9.63 for elliptic curves, PKCS#1 for RSA.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`; other keys have no effect, as on
///     Apple's systems.
///   - error: Receives the error.
/// - Returns: The key.
public func SecKeyCreateWithData(
    _ keyData: CFData,
    _ attributes: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    let bytes = Data(referencing: keyData)
    let names = [kSecAttrKeyType, kSecAttrKeyClass, kSecAttrTokenID].map { $0 as String }
    let facts = names.reduce(into: [String: Any]()) { $0[$1] = attributes[$1] }
    let read = Result { () throws(KeychainFailure) in try ItemDictionary(facts as NSDictionary) }
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
            throw KeychainFailure(errSecUnimplemented, "The service generates its keys itself.")
        }
        let isPrivate = given["kcls"] == .uint32(1)
        return SecKey(try SoftwareKey(bytes, isRSA: isRSA, isPrivate: isPrivate))
    }
}

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
    if key.isInService { attributes[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave }
    if !key.isInService, key.isExtractable {
        attributes[kSecValueData as String] = key.software?.bytes
    }
    return attributes as NSDictionary
}

/// The size of a key in bytes.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { ((key.software?.bits ?? 256) + 7) / 8 }

/// Returns a result, or stores an error in Apple's error pointer.
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

/// Runs `body` on the loop, and blocks until its result is there.
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
