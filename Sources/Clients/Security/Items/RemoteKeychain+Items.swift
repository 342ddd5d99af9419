internal import DBus
internal import Foundation
internal import LocalAuthClient

extension RemoteKeychain {
    /// Stores an item, and returns what it asks for.
    func add(_ item: ItemDictionary) async throws(KeychainFailure) -> ItemResult {
        guard !item.isOfForeignClass else {
            throw KeychainFailure(errSecUnimplemented, "Only passwords and keys are kept here.")
        }
        guard item.list == nil else {
            throw KeychainFailure(errSecParam, "A new item has no kSecMatchItemList.")
        }
        var item = item
        let id: String
        if let key = item.key, let made = key.temporary {
            id = try await keep(key, madeAs: made, item)
        } else {
            try item.takeKey()
            id = try await add(
                try item.stored(),
                secret: item.secret ?? [],
                try item.guarding(),
                item.use,
                item.placement
            )
        }
        guard !item.returns.isEmpty else { return .nothing }
        guard let stored = try await search(["id": .string(id)]).first else { return .nothing }
        return try item.result(stored, secret: item.secret ?? [])
    }

    /// Finds items.
    ///
    /// Nothing changes by a search, so the service that answered last is asked for them while the
    /// bus is asked whether it still is the one.
    static func matches(
        _ query: ItemDictionary,
        at connection: ServiceConnection = .shared
    ) async throws(KeychainFailure) -> ItemResult {
        if let (service, isStill) = connection.presumed() {
            let keychain = RemoteKeychain(service, connection)
            var found: [[String: Variant]] = []
            var failure: KeychainFailure?
            do throws(KeychainFailure) {
                found = try await keychain.find(query)
            } catch {
                failure = error
            }
            if await isStill.value {
                if let failure { throw failure }
                return try await keychain.results(found, of: query)
            }
        }
        let keychain = try await RemoteKeychain(connection)
        return try await keychain.results(try await keychain.find(query), of: query)
    }

    /// What a query asks for of the items that it found.
    private func results(
        _ found: [[String: Variant]],
        of query: ItemDictionary
    ) async throws(KeychainFailure) -> ItemResult {
        let limit = query.limit ?? 1
        var results: [ItemResult] = []
        for attributes in found {
            guard results.count < limit else { break }
            guard let id = attributes["id"]?.asString else { continue }
            guard query.needsSecret(of: attributes) else {
                results.append(try query.result(attributes, secret: nil))
                continue
            }
            let secret: [UInt8]
            let use = query.use(of: attributes)
            do throws(KeychainFailure) {
                secret = try await read(id, use)
            } catch {
                // What would ask somebody is left out.
                guard query.interaction == .skipped, !use.isFree,
                    [errSecInteractionNotAllowed, errSecAuthFailed].contains(error.status)
                else { throw error }
                continue
            }
            results.append(try query.result(attributes, secret: secret))
        }
        guard !results.isEmpty else { throw Self.notFound }
        if query.returns.isEmpty { return .nothing }
        return query.limit == nil ? results[0] : .list(results)
    }

    /// Deletes items.
    func remove(_ query: ItemDictionary) async throws(KeychainFailure) {
        let found = try await find(query, limit: query.isLimited ? query.limit ?? 1 : .max)
        try await delete(found.compactMap { $0["id"]?.asString })
    }

    private static let notFound = KeychainFailure(errSecItemNotFound, "The item does not exist.")

    /// Items with their attributes; never an empty list.
    func find(
        _ query: ItemDictionary,
        limit: Int = .max
    ) async throws(KeychainFailure) -> [[String: Variant]] {
        guard !query.isOfForeignClass else { throw Self.notFound }
        let words = Set([query.accessible, query.accessControl?.accessible].compactMap(\.self))
        guard words.count < 2 else {
            throw KeychainFailure(
                errSecParam,
                "The kSecAttrAccessControl and the kSecAttrAccessible contradict each other."
            )
        }
        let found = try await search(
            query.wanted(),
            // A context may open what is guarded.
            skippingGuarded: query.interaction == .skipped && !query.mayOpenGuarded
        )
        .filter(query.isMet)
        guard !found.isEmpty else { throw Self.notFound }
        return Array(found.prefix(limit))
    }
}

// MARK: - New items

extension ItemDictionary {
    /// The attributes of a new item on the bus.
    ///
    /// - Throws: `errSecParam` for what a new item can't be.
    func stored() throws(KeychainFailure) -> [String: Variant] {
        guard let itemClass else { throw KeychainFailure(errSecParam, "An item has kSecClass.") }
        guard id == nil else {
            throw KeychainFailure(errSecParam, "A new item gets its reference from the keychain.")
        }
        var stored = attributes
        stored["class"] = .string(itemClass)
        stored["agrp"] = attributes["agrp"] ?? .string(AccessGroup.ofProgram)
        if let synchronisation { stored["sync"] = .bool(try synchronisation.value()) }
        (stored["cdat"], stored["mdat"]) = (nil, nil)
        var form = form
        if let word = accessControl?.accessible ?? accessible, Self.isOldWord(word) {
            form["pdmn"] = .word(word)
        }
        if !form.text.isEmpty { stored["form"] = .string(form.text) }
        return stored
    }

    /// Where and how a new item is stored, beside what it says.
    var placement: [String: Variant] {
        var placement: [String: Variant] = [:]
        placement["created"] = attributes["cdat"]
        if itemClass == "keys" { placement["key-material"] = .bool(true) }
        return placement
    }

    /// What guards a new item.
    func guarding() throws(KeychainFailure) -> [String: Variant] {
        guard let control = try control() else { return [:] }
        return control.wire
    }

    /// Apple's words for items that are always readable, which are not made any more.
    static func isOldWord(_ word: String) -> Bool { word == "dk" || word == "dku" }

    func control() throws(KeychainFailure) -> SecAccessControl? {
        guard let accessible else { return accessControl }
        guard let plain = SecAccessControlCreateWithFlags(nil, accessible as NSString, [], nil)
        else { throw KeychainFailure(errSecParam, "There is no such kSecAttrAccessible.") }
        // What a search returns has both; they say the same unless somebody is to be asked.
        guard let accessControl else { return plain }
        guard accessControl.flags.isEmpty, accessControl.accessible == accessible else {
            throw KeychainFailure(
                errSecParam,
                "An item has kSecAttrAccessControl or kSecAttrAccessible, not both."
            )
        }
        return accessControl
    }
}

extension ItemDictionary.Synchronisation {
    /// - Throws: `errSecParam` for `kSecAttrSynchronizableAny`, which is for queries.
    func value() throws(KeychainFailure) -> Bool {
        guard case .isSet(let value) = self else {
            throw KeychainFailure(errSecParam, "An item is synchronised or it isn't.")
        }
        return value
    }
}

// MARK: - Queries

extension ItemDictionary {
    /// What the service is asked for.
    ///
    /// A query that names no group stays in that of the program, and one that doesn't say otherwise
    /// finds local items. A reference is to one item, wherever that is. As in Apple's keychain an
    /// access control is not compared: apps delete by the dictionary that they are about to add.
    func wanted() -> [String: Variant] {
        var wanted = attributes
        wanted["class"] = itemClass.map(Variant.string)
        wanted["id"] = id.map(Variant.string)
        let isReferring = id != nil || list?.allSatisfy(\.isToOne) == true
        if !isReferring, wanted["agrp"] == nil { wanted["agrp"] = .string(AccessGroup.ofProgram) }
        switch synchronisation {
        case .isSet(let value): wanted["sync"] = .bool(value)
        case nil where !isReferring: wanted["sync"] = .bool(false)
        case .any, nil: break
        }
        wanted["pdmn"] = accessible.map(Variant.string)
        // An item's own word for it counts.
        wanted["mdat"] = nil
        return wanted.filter { name, value in !ItemAttribute.isEmpty(value, name) }
    }

    /// Whether an item that the service found is what was meant.
    func isMet(by item: [String: Variant]) -> Bool {
        let form = ItemForm(item["form"]?.asString ?? "")
        if let list, !list.contains(where: { $0.isOf(item) }) { return false }
        if let accessible, Self.accessible(item, form) != accessible { return false }
        for (name, value) in attributes {
            if ItemAttribute.isEmpty(value, name), !ItemAttribute.isEmpty(item[name], name) {
                return false
            }
            guard case .int64 = value, case .instant(let date) = self.form[name] else { continue }
            guard item[name]?.asInt64.map({ form.instant(name, $0) }) == date else { return false }
        }
        return true
    }

    /// Whose prompts.
    var use: RemoteKeychain.Use {
        RemoteKeychain.Use(
            context: context,
            forbidsInteraction: interaction != .allowed,
            reason: prompt
        )
    }

    /// Whether secrets are to be returned, and a context was given that may have been evaluated.
    fileprivate var mayOpenGuarded: Bool { context != nil && returns.contains(.data) }

    /// Whose prompts, if this item asks anybody.
    fileprivate func use(of item: [String: Variant]) -> RemoteKeychain.Use {
        var use = use
        use.isFree = (item["flags"]?.asUInt64 ?? 0) == 0
        return use
    }

    /// Whether what is to be returned is made of an item's secret.
    func needsSecret(of item: [String: Variant]) -> Bool {
        let isMaterial = item["class"] == .string("keys") && item["public-key"] == nil
        return returns.contains(.data) || (returns.contains(.reference) && isMaterial)
    }

    private func reference(
        to item: [String: Variant],
        _ id: String,
        _ secret: [UInt8]?
    ) throws(KeychainFailure) -> SecKey {
        if let point = item["public-key"]?.asBytes {
            return SecKey(id: id, publicKey: point, use: use)
        }
        let (type, half) = (item["type"]?.asUInt32, item["kcls"]?.asUInt32)
        guard type == 42 || type == 73, half == 0 || half == 1 else {
            throw KeychainFailure(errSecUnimplemented, "There are no references to such keys.")
        }
        let key = try SoftwareKey(Data(secret ?? []), isRSA: type == 42, isPrivate: half == 1)
        return SecKey(key, id: id, isExtractable: item["extr"] != .bool(false))
    }

    /// Takes the bytes of the key that is added by its reference, or says what its bytes are.
    ///
    /// - Throws: `errSecParam` for bytes that are no key.
    mutating func takeKey() throws(KeychainFailure) {
        guard itemClass == "keys" else { return }
        if let key {
            guard !key.isKept, let software = key.software, id == nil || id == key.id else {
                throw KeychainFailure(errSecDuplicateItem, "The key is in the keychain already.")
            }
            id = nil
            return try take(software)
        }
        guard let secret else {
            throw KeychainFailure(errSecParam, "A key has kSecValueData or kSecValueRef.")
        }
        let (type, half) = (attributes["type"], attributes["kcls"])
        guard type == .uint32(42) || type == .uint32(73) else { return }
        // One that isn't said to be private is public, as in Apple's keychain, if its bytes are.
        if half == nil {
            let bytes = Data(secret)
            let isRSA = type == .uint32(42)
            guard let half = try? SoftwareKey(bytes, isRSA: isRSA, isPrivate: false) else { return }
            return try take(half)
        }
        guard half == .uint32(0) || half == .uint32(1) else { return }
        try take(
            SoftwareKey(
                Data(secret),
                isRSA: type == .uint32(42),
                isPrivate: half == .uint32(1)
            )
        )
    }

    /// What the `kSecReturn…` keys ask for.
    ///
    /// - Throws: `errSecUnimplemented` for a reference to key material of another kind.
    func result(
        _ attributes: [String: Variant],
        secret: [UInt8]?
    ) throws(KeychainFailure) -> ItemResult {
        let id = attributes["id"]?.asString ?? ""
        var key: SecKey?
        if returns.contains(.reference), attributes["class"] == .string("keys") {
            key = try reference(to: attributes, id, secret)
        }
        if returns == .data { return .data(secret ?? []) }
        // There are no references to passwords.
        if returns == .reference { return key.map(ItemResult.key) ?? .nothing }
        if returns == .persistentReference { return .reference(id) }
        if returns.isEmpty { return .nothing }
        return .attributes(
            attributes,
            returns,
            secret: returns.contains(.data) ? secret : nil,
            key: returns.contains(.reference) ? key : nil
        )
    }
}
