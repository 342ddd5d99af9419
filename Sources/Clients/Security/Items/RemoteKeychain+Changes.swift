internal import DBus
internal import Foundation
internal import LocalAuthClient

/// A planned change of one item, checked as far as possible before the first write.
private struct ItemChange {
    let id: String
    let item: [String: Variant]
    let updated: [String: Variant]
    /// The new access control; nil: unchanged.
    let guarding: [String: Variant]?
    var secret: [UInt8]?
    var loan: RemoteKeychain.StoreOptions?

    /// - Throws: `errSecParam` and other errors for an impossible change.
    init?(
        of item: [String: Variant],
        _ changes: ItemDictionary
    ) throws(KeychainFailure) {
        guard let id = item["id"]?.asString, let itemClass = item["class"]?.asString else {
            return nil
        }
        try changes.check(in: itemClass)
        (self.id, self.item, secret) = (id, item, changes.secret)
        updated = try changes.updates(of: item)
        guarding = try changes.guarding(insteadOf: item)
        guard guarding == nil || item["public-key"] == nil else {
            throw KeychainFailure(errSecUnimplemented, "What guards a key of the service is fixed.")
        }
    }

    /// The attributes that identify the item after the change.
    var names: [String: Variant] {
        ItemAttribute.primaryKey(of: item.merging(updated) { $1 })
    }

    var isRenamed: Bool { names != ItemAttribute.primaryKey(of: item) }
}

extension RemoteKeychain {
    /// Changes all matching items.
    ///
    /// Apple's keychain changes all items or none, so every check precedes the first write.
    func change(
        _ query: ItemDictionary,
        _ changes: ItemDictionary
    ) async throws(KeychainFailure) {
        guard changes.saysNoMoreThanAttributes else {
            throw KeychainFailure(errSecParam, "A change has attributes and kSecValueData alone.")
        }
        guard changes.itemClass == nil else {
            throw KeychainFailure(errSecNoSuchAttr, "An item can't change its class.")
        }
        guard query.returns.isEmpty else {
            throw KeychainFailure(errSecParam, "A change returns nothing.")
        }
        try query.checkWriting()
        try changes.checkGuarding()
        guard changes.secret.map({ $0.count <= RemoteService.secretLimit }) ?? true else {
            throw KeychainFailure(errSecAllocate, "A secret has at most 64 KiB.")
        }
        var planned: [ItemChange] = []
        for item in try await find(query, limit: query.isLimited ? query.limit ?? 1 : .max) {
            guard let change = try ItemChange(of: item, changes) else { continue }
            planned.append(change)
        }
        // For a single item the service detects duplicates itself.
        if planned.count > 1 { try await refuseTwins(among: planned) }
        var use = query.promptOptions
        let guarded = planned.filter { $0.guarding != nil || !ItemDictionary.isFree($0.item) }
        let flags = guarded.map { change in
            (change.guarding?["flags"]?.asUInt64 ?? 0) | (change.item["flags"]?.asUInt64 ?? 0)
        }
        use.shared = shared(by: flags, query)
        defer { withExtendedLifetime(use) {} }
        for index in planned.indices { try await prepare(&planned[index], use) }
        for change in planned { try await make(change) }
    }

    /// - Throws: `errSecDuplicateItem` if two planned items, or a planned item and an existing
    ///   item, would have equal primary keys.
    private func refuseTwins(among planned: [ItemChange]) async throws(KeychainFailure) {
        let duplicate = KeychainFailure(errSecDuplicateItem, "Two items would be the same one.")
        let names = Set(planned.map(\.names))
        guard names.count == planned.count else { throw duplicate }
        let ids = Set(planned.map(\.id))
        for change in planned where change.isRenamed {
            let names = change.names
            let others = try await search(names)
            let isTaken = others.contains { other in
                ItemAttribute.primaryKey(of: other) == names
                    && other["id"]?.asString.map(ids.contains) == false
            }
            guard !isTaken else { throw duplicate }
        }
    }

    /// Reads the secret and obtains the application password, as far as the change needs them.
    private func prepare(
        _ change: inout ItemChange,
        _ use: PromptOptions
    ) async throws(KeychainFailure) {
        // Security: to replace an access control, the caller has to satisfy the old one first.
        if change.guarding != nil, change.secret == nil {
            change.secret = try await read(change.id, use)
        }
        guard change.secret != nil else { return }
        let flags = ["flags": change.item["flags"] ?? .uint64(0)]
        let old = flags.merging(["accessible": change.item["pdmn"] ?? .string("ak")]) { $1 }
        change.loan = try await storeOptions(for: change.guarding ?? old, use)
    }

    private func make(_ change: ItemChange) async throws(KeychainFailure) {
        guard let secret = change.secret, let loan = change.loan else {
            if !change.updated.isEmpty { try await update(change.id, change.updated) }
            return
        }
        guard let guarding = change.guarding else {
            return try await setSecret(change.id, secret, change.updated, loan)
        }
        // An access control is fixed at creation, so a new item replaces the old item. The new item
        // inherits attributes, secret and references.
        var attributes = change.item.merging(change.updated) { $1 }
        for name in ["id", "cdat", "mdat", "pdmn", "flags"] { attributes[name] = nil }
        var placement: [String: Variant] = [
            "replaces": .string(change.id), "in-place": .bool(true),
        ]
        placement["created"] = change.item["cdat"]
        if change.item["class"] == .string("keys") { placement["key-material"] = .bool(true) }
        _ = try await add(attributes, secret: secret, guarding, loan, placement)
    }

    /// Makes a temporary key of the service permanent.
    func keep(
        _ key: SecKey,
        madeAs made: ItemDictionary,
        _ item: ItemDictionary
    ) async throws(KeychainFailure) -> String {
        guard let id = key.id, item.id == nil || item.id == id, item.secret == nil,
            !item.returns.contains(.data), item.isKeyOfService
        else { throw KeychainFailure(errSecParam, "A key of the service has no such value.") }
        guard item.isGuarded(as: made) else {
            throw KeychainFailure(errSecUnimplemented, "What guards a key of the service is fixed.")
        }
        guard item.attributes["cdat"] == nil else {
            throw KeychainFailure(errSecReadOnly, "A key was created when it was made.")
        }
        var item = item
        item.id = nil
        item.attributes["perm"] = item.attributes["perm"] ?? .bool(true)
        var attributes = try item.stored()
        attributes["class"] = nil
        let old = ValueRepresentation(try made.stored()["form"]?.asString ?? "")
        let form = old.changed(by: item.form)
        attributes["form"] = form == old ? nil : .string(form.text)
        try await update(id, attributes, keeping: true)
        // An old service ignores the option and would delete the key with its reference.
        guard try await !search(["id": .string(id)]).isEmpty else {
            throw KeychainFailure(errSecUnimplemented, "This service keeps no temporary key.")
        }
        key.makePermanent()
        return id
    }
}

extension ItemDictionary {
    /// Whether the protection is unset, or equal to the protection that the key was created with.
    fileprivate func isGuarded(as made: ItemDictionary) -> Bool {
        let flags = made.accessControl?.flags ?? []
        let word = made.accessControl?.accessible ?? made.accessible ?? "ak"
        if let accessControl {
            guard accessControl.flags == flags, accessControl.accessible == word else {
                return false
            }
        }
        return accessible == nil || accessible == word
    }

    /// Whether the attributes are unset, or equal to the fixed attributes of a service key.
    fileprivate var isKeyOfService: Bool {
        let facts: [String: Variant] = [
            "type": .uint32(73), "kcls": .uint32(1), "bsiz": .uint32(256), "esiz": .uint32(256),
        ]
        return facts.allSatisfy { [nil, $0.value].contains(attributes[$0.key]) }
    }
}

extension ItemDictionary {
    /// Returns the changed attributes of an item.
    ///
    /// - Throws: `errSecReadOnly` for another creation date.
    func updates(of item: [String: Variant]) throws(KeychainFailure) -> [String: Variant] {
        var updates = attributes
        let old = ValueRepresentation(item["form"]?.asString ?? "")
        if let date = updates.removeValue(forKey: "cdat") {
            guard date == item["cdat"] else {
                throw KeychainFailure(errSecReadOnly, "An item was created when it was.")
            }
        }
        // The service sets the modification date.
        updates["mdat"] = nil
        if let synchronisation { updates["sync"] = .bool(try synchronisation.value()) }
        var form = old.changed(by: form)
        form["cdat"] = old["cdat"]
        if let word = accessControl?.accessible ?? accessible {
            form["pdmn"] = Self.isOldWord(word) ? .word(word) : .usual
        }
        if form.text != old.text { updates["form"] = .string(form.text) }
        return updates
    }

    /// Whether the dictionary contains only attributes and a secret; changes allow no other keys.
    var saysNoMoreThanAttributes: Bool {
        key == nil && id == nil && list == nil && !isLimited && returns.isEmpty && context == nil
            && interaction == .allowed && prompt == nil
    }

    /// Returns the new access control of an item; nil if unchanged.
    func guarding(
        insteadOf item: [String: Variant]
    ) throws(KeychainFailure) -> [String: Variant]? {
        guard let control = try control() else { return nil }
        var wire = control.wire
        // `kSecAttrAccessible` alone must not remove the required proof.
        if accessControl == nil { wire["flags"] = item["flags"] ?? .uint64(0) }
        let isSame =
            wire["flags"] == item["flags"]
            && control.accessible
                == Self.accessible(item, ValueRepresentation(item["form"]?.asString ?? ""))
        return isSame ? nil : wire
    }

    /// Returns the accessibility as the caller gave it.
    static func accessible(_ item: [String: Variant], _ form: ValueRepresentation) -> String {
        if case .word(let word) = form["pdmn"] { return word }
        return item["pdmn"]?.asString ?? ""
    }
}
