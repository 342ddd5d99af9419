internal import DBus
internal import Foundation

/// A key that is to be made, and where its halves go.
struct NewKey {
    private var item: ItemDictionary
    /// What the public half is kept as; nil: it isn't.
    private let publicItem: ItemDictionary?

    /// What a new key is given: the attributes of the pair, and those of its halves.
    ///
    /// - Throws: as ``ItemDictionary``; `errSecUnimplemented` for types that are not made here.
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
            throw KeychainFailure(errSecUnimplemented, "Keys of this type are not made here.")
        }
        guard let publicPart else {
            publicItem = nil
            return
        }
        // Who is asked before the private half is used is not asked for the public one.
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

    /// Makes it.
    ///
    /// - Throws: an error of the keychain.
    func key() throws(KeychainFailure) -> SecKey {
        let key = try privateKey()
        guard let publicItem else { return key }
        do throws(KeychainFailure) {
            guard let half = key.software?.publicHalf else { return key }
            _ = try Self.keep(publicItem, half)
            return key
        } catch {
            // Both halves are kept, or none.
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
        let bits = item.bits ?? (isRSA ? 2048 : 256)
        let isPermanent = item.isPermanent
        if !isRSA, bits == 256, item.isForService {
            return try keptKey(isPermanent: isPermanent)
        }
        guard item.accessControl?.flags.contains(.privateKeyUsage) != true,
            item.attributes["tkid"] == nil
        else {
            throw KeychainFailure(errSecUnimplemented, "The service keeps keys on P-256 alone.")
        }
        let software = try SoftwareKey.random(isRSA: isRSA, bits: bits)
        let isExtractable = item.attributes["extr"] != .bool(false)
        let id = isPermanent ? try Self.keep(item, software) : nil
        return SecKey(software, id: id, isExtractable: isExtractable)
    }

    /// Keeps a key in this process as an item beside that.
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
                    new.use,
                    new.placement
                )
        }
    }

    /// Makes a key in the service.
    private func keptKey(isPermanent: Bool) throws(KeychainFailure) -> SecKey {
        var item = item
        item.setDefaults(ofKeyWith: 256, isPrivate: true)
        // The keychain puts the hash of the public half in its place.
        item.attributes["klbl"] = item.attributes["klbl"] ?? .bytes([])
        let new = item
        let key = try waiting { () async throws(KeychainFailure) in
            try await RemoteKeychain()
                .createKey(
                    try new.stored(),
                    try new.guarding(),
                    new.use,
                    isTemporary: !isPermanent
                )
        }
        return SecKey(
            id: key.id,
            publicKey: key.publicKey,
            use: new.use,
            temporary: isPermanent ? nil : new
        )
    }
}

extension ItemDictionary {
    /// Whether a new key is to be kept.
    fileprivate var isPermanent: Bool { attributes["perm"] == .bool(true) }
}
