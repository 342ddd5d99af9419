internal import DBus
internal import Foundation
internal import LocalAuthClient

extension RemoteKeychain {
    /// Stores an item, and returns the requested parts.
    func add(_ item: ItemDictionary) async throws(KeychainFailure) -> ItemResult {
        guard !item.isOfForeignClass else {
            throw KeychainFailure(errSecUnimplemented, "Only passwords and keys are kept here.")
        }
        guard item.list == nil else {
            throw KeychainFailure(errSecParam, "A new item has no kSecMatchItemList.")
        }
        try item.checkWriting()
        try item.checkGuarding()
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
                item.promptOptions,
                item.placement
            )
        }
        guard !item.returns.isEmpty else { return .nothing }
        guard let stored = try await search(["id": .string(id)]).first else { return .nothing }
        return try item.result(stored, secret: item.secret ?? [])
    }

    /// Finds items.
    ///
    /// A search has no effects. The last known service runs it while a check whether that
    /// service still owns the name runs in parallel.
    static func matches(
        _ query: ItemDictionary,
        at connection: ServiceConnection = .shared
    ) async throws(KeychainFailure) -> ItemResult {
        if let (service, isStill) = connection.lastServiceUnverified() {
            let keychain = RemoteKeychain(service, connection)
            var found: [[String: Variant]] = []
            var failure: KeychainFailure?
            do throws(KeychainFailure) {
                found = try await keychain.find(query, reads: true)
            } catch {
                failure = error
            }
            if await isStill.value {
                if let failure { throw failure }
                return try await keychain.results(found, of: query)
            }
        }
        let keychain = try await RemoteKeychain(connection)
        return try await keychain.results(try await keychain.find(query, reads: true), of: query)
    }

    /// Returns the requested parts of found items.
    private func results(
        _ found: [[String: Variant]],
        of query: ItemDictionary
    ) async throws(KeychainFailure) -> ItemResult {
        let limit = query.limit ?? 1
        let guarded = found.prefix(limit)
            .filter {
                $0["secret"] == nil && query.needsSecret(of: $0) && !ItemDictionary.isFree($0)
            }
        let shared = shared(by: guarded.map { $0["flags"]?.asUInt64 ?? 0 }, query)
        defer { withExtendedLifetime(shared) {} }
        var results: [ItemResult] = []
        for var attributes in found {
            guard results.count < limit else { break }
            let sealed = attributes.removeValue(forKey: "secret")?.asBytes
            guard let id = attributes["id"]?.asString else { continue }
            guard query.needsSecret(of: attributes) else {
                results.append(try query.result(attributes, secret: nil))
                continue
            }
            let secret: [UInt8]
            var use = query.promptOptions
            use.needsNoPrompt = ItemDictionary.isFree(attributes)
            use.shared = use.needsNoPrompt ? nil : shared
            do throws(KeychainFailure) {
                if let sealed {
                    secret = try open(sealed)
                } else {
                    secret = try await read(id, use)
                }
            } catch {
                // `kSecUseAuthenticationUISkip`: omit items that need a prompt.
                guard query.interaction == .skipped, !use.needsNoPrompt,
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

    /// Returns a context for the prompts of a call that uses several guarded items.
    ///
    /// Apple's keychain also uses a context for each call: a proof for the first item counts for
    /// the others. Returns nil if the caller has a context or forbids prompts, and for items with
    /// an application password: a context keeps a single password.
    func shared(by flags: [UInt64], _ query: ItemDictionary) -> RemoteContext? {
        let password = UInt64(SecAccessControlCreateFlags.applicationPassword.rawValue)
        guard flags.count > 1, flags.allSatisfy({ $0 & password == 0 }), query.context == nil,
            query.interaction == .allowed
        else { return nil }
        return RemoteContext(connection)
    }

    func remove(_ query: ItemDictionary) async throws(KeychainFailure) {
        try query.checkWriting()
        let found = try await find(query, limit: query.isLimited ? query.limit ?? 1 : .max)
        try await delete(found.compactMap { $0["id"]?.asString })
    }

    private static let notFound = KeychainFailure(errSecItemNotFound, "The item does not exist.")

    /// Finds items with their attributes; throws `errSecItemNotFound` instead of an empty list.
    ///
    /// With `reads`, the attribute `secret` of the first items is their sealed secret, if the query
    /// wants it and no prompt is needed.
    func find(
        _ query: ItemDictionary,
        limit: Int = .max,
        reads: Bool = false
    ) async throws(KeychainFailure) -> [[String: Variant]] {
        guard !query.isOfForeignClass else { throw Self.notFound }
        _ = try query.control()
        guard !query.isOfReference || !query.hasAttributes else {
            throw KeychainFailure(errSecParam, "Beside kSecValuePersistentRef is no attribute.")
        }
        // An evaluated context can open a guarded item without a prompt.
        let skips = query.interaction == .skipped && !query.mayOpenGuarded
        let all =
            reads && query.mayNeedSecrets && query.context?.isInvalidated != true
            ? try await readMatching(
                query.wanted(),
                secrets: query.limit ?? 1,
                skippingGuarded: skips,
                on: preparedContext(of: query)
            ) : try await search(query.wanted(), skippingGuarded: skips)
        let found = all.filter(query.isMet)
        guard !found.isEmpty else { throw Self.notFound }
        return Array(found.prefix(limit))
    }
}

// MARK: - New items

extension ItemDictionary {
    /// Returns the wire attributes of a new item.
    ///
    /// - Throws: `errSecParam` for an invalid new item.
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

    /// Options for storing a new item.
    var placement: [String: Variant] {
        var placement: [String: Variant] = [:]
        placement["created"] = attributes["cdat"]
        if itemClass == "keys" { placement["key-material"] = .bool(true) }
        return placement
    }

    /// Returns the access control of a new item.
    func guarding() throws(KeychainFailure) -> [String: Variant] {
        guard let control = try control() else { return [:] }
        return control.wire
    }

    /// - Throws: `errSecParam` if the dictionary has keys that only a search understands.
    func checkWriting() throws(KeychainFailure) {
        guard interaction != .skipped else {
            throw KeychainFailure(
                errSecParam,
                "kSecUseAuthenticationUISkip is for SecItemCopyMatching."
            )
        }
    }

    /// - Throws: `errSecParam` if the access control can't guard an item.
    func checkGuarding() throws(KeychainFailure) {
        guard let accessControl else { return }
        guard !accessControl.flags.contains(.privateKeyUsage) || key?.temporary != nil else {
            throw KeychainFailure(errSecParam, "The flag privateKeyUsage is for private keys.")
        }
        if case .isSet(true) = synchronisation, !accessControl.flags.isEmpty {
            throw KeychainFailure(errSecParam, "An item with an access control isn't synchronised.")
        }
    }

    /// Whether a value is one of Apple's deprecated “always” accessibilities.
    static func isOldWord(_ word: String) -> Bool { word == "dk" || word == "dku" }

    func control() throws(KeychainFailure) -> SecAccessControl? {
        guard let accessible else { return accessControl }
        guard let plain = SecAccessControlCreateWithFlags(nil, accessible as NSString, [], nil)
        else { throw KeychainFailure(errSecParam, "There is no such kSecAttrAccessible.") }
        // Search results contain both keys, so accept both if they agree.
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
    /// - Throws: `errSecParam` for `kSecAttrSynchronizableAny`, which only queries may use.
    func value() throws(KeychainFailure) -> Bool {
        guard case .isSet(let value) = self else {
            throw KeychainFailure(errSecParam, "An item is synchronised or it isn't.")
        }
        return value
    }
}

// MARK: - Queries

extension ItemDictionary {
    /// Returns the wire query.
    ///
    /// Without a group the query is limited to the program's group, and by default to local items.
    /// A reference finds its item in any group. Access controls are not compared, as in Apple's
    /// keychain: apps delete by the dictionary of the item that they add next.
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
        // The caller's modification date is compared with the item's form instead.
        wanted["mdat"] = nil
        return wanted.filter { name, value in !ItemAttribute.isEmpty(value, name) }
    }

    /// Whether the query names an item by its persistent reference.
    var isOfReference: Bool { id != nil && key == nil }

    /// Whether the query has attributes, other than the class.
    var hasAttributes: Bool {
        if case .isSet = synchronisation { return true }
        return !attributes.isEmpty || accessible != nil
    }

    /// Whether a found item satisfies the conditions that the service can't check.
    func isMet(by item: [String: Variant]) -> Bool {
        let form = ValueRepresentation(item["form"]?.asString ?? "")
        if let list, !list.contains(where: { $0.isOf(item) }) { return false }
        if let accessible, Self.accessible(item, form) != accessible { return false }
        for (name, value) in attributes {
            if ItemAttribute.isEmpty(value, name), !ItemAttribute.isEmpty(item[name], name) {
                return false
            }
            if case .uint32 = value, self.form[name] != form[name] { return false }
            guard case .int64 = value, case .instant(let date) = self.form[name] else { continue }
            guard item[name]?.asInt64.map({ form.instant(name, $0) }) == date else { return false }
        }
        return true
    }

    /// The context and the interaction for prompts.
    var promptOptions: RemoteKeychain.PromptOptions {
        RemoteKeychain.PromptOptions(
            context: context,
            forbidsInteraction: interaction != .allowed,
            reason: prompt
        )
    }

    /// Whether the query returns secrets, and has a context that may be evaluated already.
    fileprivate var mayOpenGuarded: Bool { context != nil && returns.contains(.data) }

    /// Whether an item needs no prompt.
    static func isFree(_ item: [String: Variant]) -> Bool { (item["flags"]?.asUInt64 ?? 0) == 0 }

    /// Whether the requested parts may include secrets.
    fileprivate var mayNeedSecrets: Bool {
        returns.contains(.data)
            || (returns.contains(.reference) && (itemClass ?? "keys") == "keys")
    }

    /// Whether the requested parts include the secret.
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
            let flags = CFOptionFlags(item["flags"]?.asUInt64 ?? 0)
            return SecKey(
                id: id,
                publicKey: point,
                promptOptions: promptOptions,
                isUsable: Self.isUsable(
                    ofToken: item["tkid"] != nil,
                    SecAccessControlCreateFlags(rawValue: flags)
                )
            )
        }
        let (type, half) = (item["type"]?.asUInt32, item["kcls"]?.asUInt32)
        guard type == 42 || type == 73, half == 0 || half == 1 else {
            throw KeychainFailure(errSecUnimplemented, "There are no references to such keys.")
        }
        let key = try SoftwareKey(Data(secret ?? []), isRSA: type == 42, isPrivate: half == 1)
        return SecKey(key, id: id, isExtractable: item["extr"] != .bool(false))
    }

    /// Sets the secret from an added key reference, or the key attributes from an added secret.
    ///
    /// - Throws: `errSecParam` for bytes that are not a key.
    mutating func takeKey() throws(KeychainFailure) {
        guard itemClass == "keys" else { return }
        if let key {
            guard !key.isInService, let software = key.software, id == nil || id == key.id else {
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
        // As in Apple's keychain, bytes without a key class count as public if they parse as
        // public.
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

    /// Returns the parts that the `kSecReturn…` keys request.
    ///
    /// - Throws: `errSecUnimplemented` for a reference to another kind of key material.
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
        // Passwords have no references.
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
