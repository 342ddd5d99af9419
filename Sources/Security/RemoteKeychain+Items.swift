internal import DBus
internal import Foundation
internal import LocalAuthClient

extension RemoteKeychain {
    /// Stores an item, replacing another one if that is named, and returns what it asks for.
    func add(
        _ item: ItemDictionary,
        replacing replaced: String? = nil
    ) async throws(KeychainFailure) -> ItemResult {
        guard item.accessControl == nil || item.accessible == nil else {
            throw KeychainFailure(
                errSecParam,
                "An item has kSecAttrAccessControl or kSecAttrAccessible, not both."
            )
        }
        guard item.key == nil, !item.isOfForeignClass else {
            throw KeychainFailure(errSecUnimplemented, "Only passwords and own keys are kept here.")
        }
        var item = item
        // The id of an item is assigned by the keychain.
        item.attributes["id"] = nil
        let id = try await add(
            item.attributes,
            secret: item.secret ?? [],
            try item.guarding(),
            item.use,
            replacing: replaced
        )
        guard !item.returns.isEmpty else { return .nothing }
        guard let stored = try await search(["id": .string(id)]).first else { return .nothing }
        return item.result(stored, secret: item.secret ?? [])
    }

    /// Finds items.
    func matches(_ query: ItemDictionary) async throws(KeychainFailure) -> ItemResult {
        let found = try await find(query)
        let limit = query.limit ?? 1
        var results: [ItemResult] = []
        for attributes in found {
            guard results.count < limit else { break }
            guard let id = attributes["id"]?.asString else { continue }
            guard query.returns.contains(.data) else {
                results.append(query.result(attributes, secret: nil))
                continue
            }
            let secret: [UInt8]
            do throws(KeychainFailure) {
                secret = try await read(id, query.use)
            } catch {
                guard query.interaction == .skipped, error.status == errSecInteractionNotAllowed
                else { throw error }
                continue
            }
            results.append(query.result(attributes, secret: secret))
        }
        guard !results.isEmpty else { throw Self.notFound }
        if query.returns.isEmpty { return .nothing }
        return query.limit == nil ? results[0] : .list(results)
    }

    /// Changes items.
    func change(
        _ query: ItemDictionary,
        _ changes: ItemDictionary
    ) async throws(KeychainFailure) {
        let isGuardChanged = changes.accessControl != nil || changes.accessible != nil
        for attributes in try await find(query) {
            guard let id = attributes["id"]?.asString else { continue }
            let isSame =
                changes.accessControl == nil
                && changes.accessible == attributes["pdmn"]?.asString
            if isGuardChanged, !isSame {
                try await replace(id, attributes, changes)
                continue
            }
            if !changes.attributes.isEmpty { try await update(id, changes.attributes) }
            if let secret = changes.secret { try await setSecret(id, secret, query.use) }
        }
    }

    /// An item's access control is fixed when it is created, so a new item replaces it.
    private func replace(
        _ id: String,
        _ attributes: [String: Variant],
        _ changes: ItemDictionary
    ) async throws(KeychainFailure) {
        guard changes.secret != nil else {
            throw KeychainFailure(
                errSecParam,
                "What guards an item changes only together with kSecValueData."
            )
        }
        var item = changes
        item.attributes = attributes.merging(changes.attributes) { _, new in new }
        for name in ["id", "cdat", "mdat", "pdmn"] { item.attributes[name] = nil }
        _ = try await add(item, replacing: id)
    }

    /// Deletes items.
    func remove(_ query: ItemDictionary) async throws(KeychainFailure) {
        try await delete(try await find(query).compactMap { $0["id"]?.asString })
    }

    private static let notFound = KeychainFailure(errSecItemNotFound, "There is no such item.")

    /// Items with their attributes; never an empty list.
    private func find(
        _ query: ItemDictionary
    ) async throws(KeychainFailure) -> [[String: Variant]] {
        guard query.attributes["class"] != nil || query.attributes["id"] != nil else {
            throw KeychainFailure(errSecParam, "A query has kSecClass.")
        }
        guard !query.isOfForeignClass else { throw Self.notFound }
        var attributes = query.attributes
        if query.accessControl == nil, let accessible = query.accessible {
            attributes["pdmn"] = .string(accessible)
        }
        let found = try await search(attributes, skippingGuarded: query.interaction == .skipped)
        guard !found.isEmpty else { throw Self.notFound }
        return found
    }
}

extension ItemDictionary {
    /// Whether this is a certificate or an identity: there are none here.
    var isOfForeignClass: Bool {
        attributes["class"] == .string("cert") || attributes["class"] == .string("idnt")
    }

    /// Whose prompts.
    var use: RemoteKeychain.Use {
        RemoteKeychain.Use(
            context: context,
            forbidsInteraction: interaction != .allowed,
            reason: prompt
        )
    }

    /// What guards a new item.
    func guarding() throws(KeychainFailure) -> [String: Variant] {
        if let accessControl { return accessControl.wire }
        guard let accessible else { return [:] }
        guard SecAccessControlCreateWithFlags(nil, accessible as NSString, [], nil) != nil else {
            throw KeychainFailure(errSecParam, "There is no such kSecAttrAccessible.")
        }
        return ["flags": .uint64(0), "accessible": .string(accessible)]
    }

    /// What the `kSecReturn…` keys ask for.
    func result(_ attributes: [String: Variant], secret: [UInt8]?) -> ItemResult {
        let id = attributes["id"]?.asString ?? ""
        let key =
            attributes["class"] == .string("keys")
            ? SecKey(id: id, publicKey: attributes["public-key"]?.asBytes, use: use) : nil
        if returns == .data { return .data(secret ?? []) }
        if returns == .reference, let key { return .key(key) }
        if returns == .persistentReference { return .reference(id) }
        if returns.isEmpty { return .nothing }
        return .attributes(
            attributes,
            secret: returns.contains(.data) ? secret : nil,
            key: returns.contains(.reference) ? key : nil
        )
    }
}
