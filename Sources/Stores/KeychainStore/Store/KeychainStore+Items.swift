package import AuthEngine
import Linux
package import Sealing

extension KeychainStore {
    /// Stores a secret and returns the item's id.
    ///
    /// `password` is the app's password, given if and only if the access control requires one.
    /// `replaced` is the id of an item that the same change deletes; a failure keeps it. With
    /// `isInPlace` the new item takes over that id and its place in the order. `date` is the
    /// present time in Unix seconds. With `isKeyMaterial` the secret is a key that the caller owns,
    /// and is read like any other secret.
    /// - Throws: `duplicate`; `notFound` for `replaced`; `parameter` for a key without
    ///   `isKeyMaterial`, or a missing password; `notAvailable` for `biometryCurrentSet` without an
    ///   enrolment; `limitsExceeded`; `decode`.
    package func add(
        _ attributes: Attributes,
        secret: SecretBytes,
        accessControl: AccessControl,
        password: SecretBytes?,
        replacing replaced: String? = nil,
        isInPlace: Bool = false,
        isKeyMaterial: Bool = false,
        caller: Caller,
        date: Int64,
        created: Int64? = nil
    ) throws(KeychainError) -> String {
        guard (attributes.itemClass == .key) == isKeyMaterial else {
            throw isKeyMaterial
                ? .parameter("an item with key material has the class keys")
                : .parameter("a key is made in the keychain, it can't be added")
        }
        // The flag would guard key operations, which such an item lacks, and leave reading free.
        guard !isKeyMaterial || !accessControl.flags.contains(.privateKeyUsage) else {
            throw .parameter("the flag privateKeyUsage is for keys that are made in the keychain")
        }
        return try insert(
            attributes,
            secret: secret,
            publicKey: [],
            accessControl: accessControl,
            password: password,
            replacing: replaced,
            isInPlace: isInPlace,
            caller: caller,
            date: date,
            created: created
        )
    }

    package static func isIdentifier(_ text: String) -> Bool { ItemID(text) != nil }

    /// Returns an item without its secret.
    ///
    /// - Throws: `notFound`, `decode`.
    package func item(_ id: String, caller: Caller) throws(KeychainError) -> Item {
        try open(id, caller: caller).item
    }

    /// Returns the access controls of the given items, without missing or unreadable items.
    package func accessControls(
        of ids: some Sequence<String>,
        caller: Caller
    ) throws(KeychainError) -> [AccessControl] {
        try known(of: Array(ids), uid: caller.uid).ids
            .compactMap { try? item($0.text, caller: caller).accessControl }
    }

    /// Returns the secret of an item.
    ///
    /// - Throws: `notFound`; `parameter` for a key, because its secret never leaves; `authFailed`
    ///   for an authorization of another operation or a wrong app password; `decode`.
    package func secret(
        of id: String,
        authorization: AccessGrant,
        password: SecretBytes?,
        caller: Caller
    ) throws(KeychainError) -> SecretBytes {
        let (item, envelope) = try open(id, caller: caller)
        guard !item.isOwnKey else {
            throw .parameter("a private key never leaves the keychain")
        }
        try check(authorization, for: .useItem, of: item)
        return try envelope.open(item, password: password, ring: ring)
    }

    /// Checks the app's password of an item without returning the secret.
    ///
    /// - Throws: `authFailed` if the password is wrong; `notFound`, `decode`.
    package func check(
        password: SecretBytes,
        of id: String,
        caller: Caller
    ) throws(KeychainError) {
        let (item, envelope) = try open(id, caller: caller)
        _ = try envelope.unwrap(item, password: password, ring: ring)
    }

    /// Changes the given attributes and keeps the others.
    ///
    /// - Throws: `notFound`, `duplicate`, `parameter`, `limitsExceeded`, `decode`.
    package func update(
        _ id: String,
        _ changes: [String: AttributeValue],
        caller: Caller,
        date: Int64
    ) throws(KeychainError) {
        let (old, envelope) = try open(id, caller: caller)
        var item = old
        try item.attributes.update(changes)
        item.modified = date
        let hidden = try hiddenDuplicate(of: item, caller: caller)
        let changed = item
        try change(caller.uid) { change throws(KeychainError) in
            if let hidden { change.delete(hidden) }
            try change.write(changed, envelope: envelope.bytes, over: old)
        }
    }

    /// Replaces the secret of an item and the given attributes in one change, without
    /// authentication (R66).
    ///
    /// `password` must be the item's current app password. A different password would lock out the
    /// user who knows the current one. An item without an app password ignores `password`.
    /// - Throws: `notFound`, `parameter` for a key, `authFailed` for a wrong app password,
    ///   `duplicate`, `limitsExceeded`, `decode`.
    package func setSecret(
        of id: String,
        to secret: SecretBytes,
        _ changes: [String: AttributeValue] = [:],
        password: SecretBytes?,
        caller: Caller,
        date: Int64
    ) throws(KeychainError) {
        let (old, envelope) = try open(id, caller: caller)
        var item = old
        guard !item.isOwnKey else {
            throw .parameter("a private key can't be replaced")
        }
        try Self.check(size: secret)
        // A context that was evaluated for another item may carry a password, which this item
        // ignores.
        let isLocked = item.accessControl.flags.contains(.applicationPassword)
        let password = isLocked ? password : nil
        if isLocked { _ = try envelope.unwrap(item, password: password, ring: ring) }
        try item.attributes.update(changes)
        item.modified = date
        item.secretSize = UInt32(secret.count)
        let hidden = changes.isEmpty ? nil : try hiddenDuplicate(of: item, caller: caller)
        try change(caller.uid) { change throws(KeychainError) in
            if let hidden { change.delete(hidden) }
            item.secretVersion = change.version
            let envelope = try Envelope(sealing: secret, of: item, password: password, ring: ring)
            try change.write(item, envelope: envelope.bytes, over: old)
        }
    }

    /// Deletes items for good without authentication (R66), and returns the ids of deleted items.
    ///
    /// Only a caller outside a sandbox can delete an item that was modified in the file.
    /// - Throws: `decode`.
    package func delete(
        _ ids: some Sequence<String>,
        caller: Caller
    ) throws(KeychainError) -> [String] {
        deleteStaleItems(for: caller)
        let uid = caller.uid
        let (known, versions) = try known(of: Array(ids), uid: uid)
        var doomed: [ItemID: [UInt64]] = [:]
        for id in known {
            let row = try row(id, uid: uid)
            guard row != nil || versions[id] != nil else { continue }
            let found = row.flatMap { try? item($0, uid: uid, version: versions[id]) }
            guard found?.isVisible(to: caller) ?? (caller.app == nil) else { continue }
            if let found {
                doomed[id] = ring.index(of: uid).tokens(of: found)
            } else {
                doomed[id] = try tokens(of: id, uid: uid)
            }
        }
        guard !doomed.isEmpty else { return [] }
        try change(uid) { change in
            for (id, tokens) in doomed { change.delete(id, tokens: tokens) }
        }
        return doomed.keys.sorted().map(\.text)
    }

    /// Deletes the user's items that exist only while the user has a password (R69).
    ///
    /// - Returns: The ids of deleted items.
    /// - Throws: `decode`; `notAvailable` if the write fails.
    package func passcodeRemoved(uid: UInt32) throws(KeychainError) -> [String] {
        try delete(of: uid, with: ring.index(of: uid).needingPasscode) { _ in true }
    }

    /// Deletes the items of an earlier enrolment than the caller's (R67).
    ///
    /// Every call runs this first, and so does the service when the enrolment changes. If a full
    /// disk prevents it, the next call retries, and the items are hidden meanwhile. Items of an
    /// unknown enrolment are only hidden, because its files may be restored.
    package func deleteStaleItems(for caller: Caller) {
        guard let enrolment = caller.enrolment, checkedEnrolments[caller.uid] != enrolment else {
            return
        }
        do throws(KeychainError) {
            try delete(of: caller.uid, with: ring.index(of: caller.uid).enrolled) {
                $0.enrolment?.isOlder(than: enrolment) ?? false
            }
            checkedEnrolments[caller.uid] = enrolment
        } catch {
            return
        }
    }
}

// MARK: - Shared with keys

extension KeychainStore {
    func insert(
        _ attributes: Attributes,
        secret: SecretBytes,
        publicKey: [UInt8],
        accessControl: AccessControl,
        password: SecretBytes?,
        replacing replaced: String? = nil,
        isInPlace: Bool = false,
        caller: Caller,
        date: Int64,
        created: Int64? = nil
    ) throws(KeychainError) -> String {
        try Self.check(size: secret)
        deleteStaleItems(for: caller)
        var old: Item?
        if let replaced { old = try open(replaced, caller: caller).item }
        guard accessControl.flags.contains(.applicationPassword) == (password != nil) else {
            throw password == nil
                ? .parameter("an item with the flag applicationPassword needs a password")
                : .parameter("an item without the flag applicationPassword has none")
        }
        guard !accessControl.isOfCurrentEnrolment || caller.enrolment != nil else {
            throw KeychainError(.notAvailable, "There is no enrolled biometry to hold on to.")
        }
        guard try ledger(of: caller.uid).itemCount - (old == nil ? 0 : 1) < itemLimit else {
            throw KeychainError(.limitsExceeded, "A user has at most \(itemLimit) items.")
        }
        let former = isInPlace ? old : nil
        var item = Item(
            itemID: former?.itemID ?? .random(),
            uid: caller.uid,
            app: caller.app ?? "",
            attributes: attributes,
            accessControl: accessControl,
            created: created ?? date,
            added: 0,
            modified: date,
            publicKey: publicKey,
            enrolment: accessControl.isOfCurrentEnrolment ? caller.enrolment : nil,
            secretVersion: 0,
            secretSize: UInt32(secret.count)
        )
        let hidden = try hiddenDuplicate(of: item, replacing: old, caller: caller)
        try change(caller.uid) { change throws(KeychainError) in
            item.added = former?.added ?? change.version
            for item in [old, hidden].compactMap(\.self) { change.delete(item) }
            item.secretVersion = change.version
            let envelope = try Envelope(sealing: secret, of: item, password: password, ring: ring)
            try change.write(item, envelope: envelope.bytes)
        }
        return item.id
    }

    /// Returns an item that is visible to the caller, and its envelope.
    func open(
        _ id: String,
        caller: Caller
    ) throws(KeychainError) -> (item: Item, envelope: Envelope) {
        deleteStaleItems(for: caller)
        guard let itemID = ItemID(id) else { throw unknown }
        let version = try versions(of: [itemID], uid: caller.uid)[itemID]
        guard let row = try row(itemID, uid: caller.uid) else {
            throw version == nil ? unknown : .changed
        }
        let item = try item(row, uid: caller.uid, version: version)
        guard item.isVisible(to: caller) else { throw unknown }
        return (item, try Envelope(row.envelope))
    }

    /// Refuses an authorization of another user, operation or access control.
    func check(
        _ authorization: AccessGrant,
        for operation: AccessOperation,
        of item: Item
    ) throws(KeychainError) {
        guard authorization.uid == item.uid, authorization.operation == operation,
            authorization.accessControl == item.accessControl
        else {
            throw KeychainError(
                .authFailed,
                "The authentication was for another item or "
                    + "operation."
            )
        }
    }

    private static func check(size secret: SecretBytes) throws(KeychainError) {
        guard secret.count <= secretLimit else {
            throw KeychainError(.limitsExceeded, "A secret has at most \(secretLimit) bytes.")
        }
    }

    func row(
        _ id: ItemID,
        uid: UInt32
    ) throws(KeychainError) -> KeychainSchema.Row? {
        let row = try translating { () throws(SystemError) in
            try KeychainSchema.row(id, of: uid, in: database)
        }
        // An edited index can lead to another item's row, which is authentic by itself.
        guard row.map({ $0.id == id.bytes }) ?? true else { throw .changed }
        return row
    }

    /// Returns the item with this id if its row is authentic and has this version.
    private func item(
        _ id: ItemID,
        uid: UInt32,
        version: UInt64
    ) throws(KeychainError) -> Item? {
        try row(id, uid: uid).flatMap { try? item($0, uid: uid, version: version) }
    }

    /// Returns an item with an equal primary key that is hidden from the caller, and that the
    /// caller's item replaces.
    ///
    /// - Throws: `duplicate` if the caller can see that item.
    private func hiddenDuplicate(
        of item: Item,
        replacing old: Item? = nil,
        caller: Caller
    ) throws(KeychainError) -> Item? {
        let primaryKey = item.attributes.primaryKey(app: item.app)
        let token = ring.index(of: item.uid).token(primaryKey: primaryKey)
        for entry in try entries(with: token, of: item.uid) {
            let id = entry.key.id
            guard id != item.itemID, id != old?.itemID else { continue }
            let found = try self.item(id, uid: item.uid, version: entry.version)
            // A withheld item becomes visible again, so it must not be replaced.
            if let found, !found.isVisible(to: caller), !found.isWithheld(from: caller) {
                return found
            }
            throw KeychainError(.duplicate, "The item \(id.text) already has this primary key.")
        }
        return nil
    }

    func versions(
        with token: UInt64,
        of uid: UInt32
    ) throws(KeychainError) -> [ItemID: UInt64] {
        try entries(with: token, of: uid).reduce(into: [:]) { $0[$1.key.id] = $1.version }
    }

    /// Returns the ids that may belong to an item, and the versions of items in the ledger.
    ///
    /// A row outside the ledger was copied into the file, and can be deleted too. Beyond 64 ids,
    /// reading all row ids is faster than looking up each id.
    private func known(
        of ids: [String],
        uid: UInt32
    ) throws(KeychainError) -> (ids: Set<ItemID>, versions: [ItemID: UInt64]) {
        // A call may have 65,000 ids. A lazy sequence stays generic here and takes three times as
        // long.
        var asked = Set<ItemID>(minimumCapacity: ids.count)
        for text in ids {
            if let id = ItemID(text) { asked.insert(id) }
        }
        let versions = try versions(of: asked, uid: uid)
        guard asked.count > 64 else { return (asked, versions) }
        return (try rowIDs(among: asked, uid: uid).union(versions.keys), versions)
    }

    /// Returns the given ids that have a row, authentic or not.
    private func rowIDs(
        among ids: Set<ItemID>,
        uid: UInt32
    ) throws(KeychainError) -> Set<ItemID> {
        var found: Set<ItemID> = []
        try translating { () throws(SystemError) in
            try KeychainSchema.ids(of: uid, in: database) { bytes in
                if let id = ItemID(bytes: bytes), ids.contains(id) { found.insert(id) }
            }
        }
        return found
    }

    /// Collects the tokens of an unreadable item from every page of the ledger.
    private func tokens(of id: ItemID, uid: UInt32) throws(KeychainError) -> [UInt64] {
        var tokens: [UInt64] = []
        for page in try ledger(of: uid).pages {
            tokens += try self.page(page, uid: uid).all.filter { $0.key.id == id }.map(\.key.token)
        }
        return tokens
    }

    /// Deletes the items with this token that match.
    @discardableResult
    private func delete(
        of uid: UInt32,
        with token: UInt64,
        where isDoomed: (Item) -> Bool
    ) throws(KeychainError) -> [String] {
        var doomed: [Item] = []
        for entry in try entries(with: token, of: uid) {
            let item = try item(entry.key.id, uid: uid, version: entry.version)
            if let item, isDoomed(item) { doomed.append(item) }
        }
        guard !doomed.isEmpty else { return [] }
        try change(uid) { change in
            for item in doomed { change.delete(item) }
        }
        return doomed.map(\.id)
    }
}
