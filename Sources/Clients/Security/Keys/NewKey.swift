internal import DBus
internal import Foundation

/// The parameters of a new key pair, and the storage of its halves.
struct NewKey {
    private var item: ItemDictionary
    /// The item of the public half; nil: not stored.
    private let publicItem: ItemDictionary?

    /// Parses the attributes of the pair and of its halves.
    ///
    /// - Throws: The errors of ``ItemDictionary``; `errSecParam` for other key types.
    init(_ parameters: NSDictionary) throws(KeychainFailure) {
        var common: [String: Any] = [:]
        for (key, value) in parameters {
            guard let key = key as? String else {
                throw ItemDictionary.wrong("a key of a dictionary")
            }
            common[key] = value
        }
        common[kSecClass as String] = kSecClassKey
        let privatePart = try Self.part("private", of: &common) ?? [:]
        let publicPart = try Self.part("public", of: &common)
        item = try ItemDictionary(common.merging(privatePart) { $1 } as NSDictionary)
        guard [.uint32(73), .uint32(42)].contains(item.attributes["type"]) else {
            throw KeychainFailure(errSecParam, "Keys of this type are not made here.")
        }
        let isOfToken = item.attributes["tkid"] != nil
        guard isOfToken || item.accessControl?.flags.contains(.privateKeyUsage) != true else {
            throw KeychainFailure(
                errSecParam,
                "The flag privateKeyUsage is for keys of the Secure Enclave."
            )
        }
        if isOfToken { item.attributes["perm"] = item.attributes["perm"] ?? .bool(true) }
        guard let publicPart else {
            publicItem = nil
            return
        }
        // Access control and token protect the private half only.
        common[kSecAttrAccessControl as String] = nil
        common[kSecAttrTokenID as String] = nil
        let other = try ItemDictionary(common.merging(publicPart) { $1 } as NSDictionary)
        publicItem = other.isPermanent ? other : nil
    }

    private static func part(
        _ name: String,
        of parameters: inout [String: Any]
    ) throws(KeychainFailure) -> [String: Any]? {
        guard let part = parameters.removeValue(forKey: name) else { return nil }
        guard let part = part as? [String: Any] else { throw ItemDictionary.wrong(name) }
        return part
    }

    /// Generates the key.
    ///
    /// - Throws: An error of the keychain.
    func key() throws(KeychainFailure) -> SecKey {
        let key = try privateKey()
        guard let publicItem else { return key }
        do throws(KeychainFailure) {
            guard let half = key.software?.publicHalf else { return key }
            _ = try Self.keep(publicItem, half)
            return key
        } catch {
            // Both halves are stored, or neither.
            if let id = key.id {
                _ = try? waiting { () async throws(KeychainFailure) in
                    try await RemoteKeychain().delete([id])
                }
            }
            throw error
        }
    }

    private func privateKey() throws(KeychainFailure) -> SecKey {
        let isRSA = item.attributes["type"] == .uint32(42)
        let isOfToken = item.attributes["tkid"] != nil
        guard let bits = item.bits ?? (isOfToken ? 256 : nil) else {
            throw KeychainFailure(errSecParam, "A key has kSecAttrKeySizeInBits.")
        }
        let isPermanent = item.isPermanent
        if !isRSA, bits == 256, item.isForService {
            return try keptKey(isPermanent: isPermanent)
        }
        guard !isOfToken else {
            throw KeychainFailure(errSecUnimplemented, "The Secure Enclave has keys on P-256 only.")
        }
        let software = try SoftwareKey.random(isRSA: isRSA, bits: bits)
        let isExtractable = item.attributes["extr"] != .bool(false)
        let id = isPermanent ? try Self.keep(item, software) : nil
        return SecKey(software, id: id, isExtractable: isExtractable)
    }

    /// Stores a key of this process as an item.
    private static func keep(
        _ item: ItemDictionary,
        _ software: SoftwareKey
    ) throws(KeychainFailure) -> String {
        var item = item
        try item.take(software)
        let new = item
        return try waiting { () async throws(KeychainFailure) in
            try await RemoteKeychain()
                .add(
                    try new.stored(),
                    secret: new.secret ?? [],
                    try new.guarding(),
                    new.promptOptions,
                    new.placement
                )
        }
    }

    /// Generates a key in the service.
    private func keptKey(isPermanent: Bool) throws(KeychainFailure) -> SecKey {
        var item = item
        item.setDefaults(ofKeyWith: 256, isPrivate: true)
        // The keychain replaces the empty label by the hash of the public half.
        item.attributes["klbl"] = item.attributes["klbl"] ?? .bytes([])
        let new = item
        let key = try waiting { () async throws(KeychainFailure) in
            try await RemoteKeychain()
                .createKey(
                    try new.stored(),
                    try new.guarding(),
                    new.promptOptions,
                    isTemporary: !isPermanent
                )
        }
        return SecKey(
            id: key.id,
            publicKey: key.publicKey,
            promptOptions: new.promptOptions,
            temporary: isPermanent ? nil : new,
            isUsable: ItemDictionary.isUsable(
                ofToken: new.attributes["tkid"] != nil,
                new.accessControl?.flags ?? []
            )
        )
    }
}

extension ItemDictionary {
    fileprivate var isPermanent: Bool { attributes["perm"] == .bool(true) }
}
