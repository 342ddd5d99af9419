// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import Crypto
internal import DBus
public import Foundation
internal import LocalAuthClient

/// A key on P-256: the public half here, the private half in the keychain.
public final class SecKey: NSObject, Sendable {
    /// The item with the private half; nil: there is only the public one.
    let id: String?
    /// X9.63, uncompressed; nil: the keychain doesn't say.
    let publicKey: [UInt8]?
    /// Whose prompts its use may cause.
    let use: RemoteKeychain.Use
    /// Whether the private half goes with this object.
    private let isTemporary: Bool

    package init(
        id: String?,
        publicKey: [UInt8]?,
        use: RemoteKeychain.Use = RemoteKeychain.Use(),
        isTemporary: Bool = false
    ) {
        self.id = id
        self.publicKey = publicKey
        self.use = use
        self.isTemporary = isTemporary
    }

    deinit {
        guard isTemporary, let id else { return }
        onLoop { try? await RemoteKeychain().delete([id]) }
    }

    /// What both halves are found by, as Apple makes it: the SHA-1 of the public one.
    var label: [UInt8]? { publicKey.map { Array(Insecure.SHA1.hash(data: $0)) } }

    /// An object prints as what it is, without its secrets.
    public override var description: String {
        id == nil ? "<SecKey P-256 public>" : "<SecKey P-256 private, in the keychain>"
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

/// Makes a P-256 key whose private half never leaves the service.
///
/// The error pointer is part of Apple's signature.
///
/// - Parameters:
///   - parameters: `kSecAttrKeyType` EC, `kSecAttrKeySizeInBits` 256, and `kSecPrivateKeyAttrs`
///     with the tag, the access control and whether it is permanent.
///   - error: Gets why there is none.
/// - Returns: The key.
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    let made = Result { () throws(KeychainFailure) in try keyParameters(parameters) }
    return handOut(error) { () throws(KeychainFailure) in
        let item = try made.get()
        let key = try waiting { () async throws(KeychainFailure) in
            try await RemoteKeychain()
                .createKey(
                    try item.stored(),
                    try item.guarding(),
                    item.use
                )
        }
        return SecKey(
            id: key.id,
            publicKey: key.publicKey,
            use: item.use,
            isTemporary: item.attributes["perm"] != .bool(true)
        )
    }
}

/// What a new key is given: the attributes of the pair, and those of its private half.
///
/// - Throws: as ``ItemDictionary``; `errSecUnimplemented` for other keys than P-256.
private func keyParameters(_ parameters: CFDictionary) throws(KeychainFailure) -> ItemDictionary {
    var merged: [String: Any] = [:]
    for (key, value) in parameters {
        guard let key = key as? String else {
            throw ItemDictionary.wrong("a key of a dictionary")
        }
        merged[key] = value
    }
    // The public half is not kept.
    merged["public"] = nil
    if let inner = merged.removeValue(forKey: "private") {
        guard let inner = inner as? [String: Any] else { throw ItemDictionary.wrong("private") }
        merged.merge(inner) { $1 }
    }
    merged[kSecClass as String] = kSecClassKey
    var item = try ItemDictionary(merged as NSDictionary)
    guard item.attributes["type"] == .uint32(73),
        [nil, .uint32(256)].contains(item.attributes["bsiz"])
    else {
        throw KeychainFailure(errSecUnimplemented, "Only keys on P-256 are made here.")
    }
    item.setDefaults(ofKeyWith: 256, isPrivate: true)
    // The keychain puts the hash of the public half in its place.
    item.attributes["klbl"] = item.attributes["klbl"] ?? .bytes([])
    return item
}

/// The public half of a key; nil when the keychain doesn't say.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.publicKey.map { SecKey(id: nil, publicKey: $0) }
}

/// A public key as an X9.63 point; a private key is never exported.
///
/// The error pointer is part of Apple's signature.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    handOut(error) { () throws(KeychainFailure) in
        guard key.id == nil, let point = key.publicKey else {
            throw KeychainFailure(errSecUnimplemented, "A private key never leaves the keychain.")
        }
        return Data(point) as NSData
    }
}

/// A public key from an X9.63 point.
///
/// The error pointer is part of Apple's signature.
public func SecKeyCreateWithData(
    _ keyData: CFData,
    _ attributes: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    let point = [UInt8](Data(referencing: keyData))
    let isPublic = attributes[kSecAttrKeyClass as String] as? String == "0"
    return handOut(error) { () throws(KeychainFailure) in
        guard isPublic else {
            throw KeychainFailure(errSecUnimplemented, "A private key is made in the keychain.")
        }
        try PublicKey.check(point)
        return SecKey(id: nil, publicKey: point)
    }
}

/// What a key is, by Apple's names.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    let attributes: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
        kSecAttrKeySizeInBits as String: NSNumber(value: 256),
        kSecAttrKeyClass as String: key.id == nil
            ? kSecAttrKeyClassPublic : kSecAttrKeyClassPrivate,
    ]
    return attributes as NSDictionary
}

/// The size of a key's numbers, in bytes.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { 32 }

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
