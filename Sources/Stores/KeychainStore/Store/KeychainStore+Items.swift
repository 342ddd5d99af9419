package import AuthEngine
import Linux
package import Sealing

/// Items: what an app stores and gets back.
extension KeychainStore {
    /// Stores a secret; the result is the item's id.
    ///
    /// `password` is the application password, which the item needs if, and only if, its access
    /// control says so; `replaced` is the id of an item that goes in the same change, or stays if
    /// the new one can't be stored; with `isInPlace` the new one has its id and its place among
    /// those of the same second. `date` is now, in Unix seconds. With `isKeyMaterial` the secret is
    /// that of a key that the caller has: it is kept and read as any other secret.
    /// - Throws: `duplicate`; `notFound` for `replaced`; `parameter` for a key without
    ///   `isKeyMaterial`, or a missing password; `notAvailable` for `biometryCurrentSet`
    ///   without an enrolment; `limitsExceeded`; `decode`.
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
        // It would guard operations that there are none of, and leave reading free.
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

    /// Whether a text has the form of an item's identifier.
    package static func isIdentifier(_ text: String) -> Bool { ItemID(text) != nil }

    /// One item.
    ///
    /// - Throws: `notFound`, `decode`.
    package func item(_ id: String, caller: Caller) throws(KeychainError) -> Item {
        try open(id, caller: caller).item
    }

    /// What protects those of some items that are there and can be read.
    package func accessControls(
        of ids: some Sequence<String>,
        caller: Caller
    ) throws(KeychainError) -> [AccessControl] {
        try known(of: Array(ids), uid: caller.uid).ids
            .compactMap { try? item($0.text, caller: caller).accessControl }
    }

    /// The secret of an item.
    ///
    /// - Throws: `notFound`; `parameter` for a key, whose secret never leaves; `authFailed` for an
    ///   authorization for something else, or a wrong application password; `decode`.
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

    /// Whether an application password is the item's; the secret isn't returned.
    ///
    /// - Throws: `authFailed` when it isn't; `notFound`, `decode`.
    package func check(
        password: SecretBytes,
        of id: String,
        caller: Caller
    ) throws(KeychainError) {
        let (item, envelope) = try open(id, caller: caller)
        _ = try envelope.unwrap(item, password: password, ring: ring)
    }

    /// Changes attributes; those that are not given stay.
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
        try change(caller.uid) { change in
            if let hidden { change.delete(hidden) }
            change.write(changed, envelope: envelope.bytes, over: old)
        }
    }

    /// Replaces the secret of an item, and attributes that are given, without any authentication
    /// (R66): all of it or nothing.
    ///
    /// An application password has to be the one that the item has: another one would lock out
    /// whoever knows that. An item that has none takes any.
    /// - Throws: `notFound`, `parameter` for a key, `authFailed` for a wrong application password,
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
        // A context that was evaluated for something else may also have a password.
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
            change.write(item, envelope: envelope.bytes, over: old)
        }
    }

    /// Deletes items for good, without any authentication (R66); the result is those that existed.
    ///
    /// An item that was changed in the file can be deleted, by a caller who is not confined.
    /// - Throws: `decode`.
    package func delete(
        _ ids: some Sequence<String>,
        caller: Caller
    ) throws(KeychainError) -> [String] {
        settle(caller)
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

    /// Deletes the items of a user that live only as long as there is a passcode (R69).
    ///
    /// - Returns: Their ids.
    /// - Throws: `decode`; `notAvailable` when it can't be written.
    package func passcodeRemoved(uid: UInt32) throws(KeychainError) -> [String] {
        try delete(of: uid, with: ring.index(of: uid).needingPasscode) { _ in true }
    }

    /// Deletes the items of an earlier enrolment than the caller's (R67).
    ///
    /// Every call does it first; the service does it as well when the enrolment changes. What a
    /// full disk prevents is retried by the next call, and such items are hidden meanwhile. Items
    /// of an enrolment that isn't known any more are hidden too: its files may come back.
    package func settle(_ caller: Caller) {
        guard let enrolment = caller.enrolment, settled[caller.uid] != enrolment else { return }
        do throws(KeychainError) {
            try delete(of: caller.uid, with: ring.index(of: caller.uid).enrolled) {
                $0.enrolment?.isOlder(than: enrolment) ?? false
            }
            settled[caller.uid] = enrolment
        } catch {
            return
        }
    }
}

// MARK: - What keys need, too

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
        settle(caller)
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
            change.write(item, envelope: envelope.bytes)
        }
        return item.id
    }

    /// An item that a caller may see, and its envelope.
    func open(
        _ id: String,
        caller: Caller
    ) throws(KeychainError) -> (item: Item, envelope: Envelope) {
        settle(caller)
        guard let itemID = ItemID(id) else { throw unknown }
        let version = try versions(of: [itemID], uid: caller.uid)[itemID]
        guard let row = try row(itemID, uid: caller.uid) else {
            throw version == nil ? unknown : .changed
        }
        let item = try item(row, uid: caller.uid, version: version)
        guard item.isVisible(to: caller) else { throw unknown }
        return (item, try Envelope(row.envelope))
    }

    /// Refuses an authorization for something else.
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
        // An edited index can lead to the row of another item, which is valid in itself.
        guard row.map({ $0.id == id.bytes }) ?? true else { throw .changed }
        return row
    }

    /// The item with an id, if its row is authentic and of this version.
    private func item(
        _ id: ItemID,
        uid: UInt32,
        version: UInt64
    ) throws(KeychainError) -> Item? {
        try row(id, uid: uid).flatMap { try? item($0, uid: uid, version: version) }
    }

    /// An item with the same primary key that is hidden from the caller: it is replaced.
    ///
    /// - Throws: `duplicate` for one that the caller can see.
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
            // What is withheld comes back, so it gives way to nothing.
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

    /// Those of some ids that may be an item's, and the versions of those in the ledger.
    ///
    /// A row that is in no ledger was copied into the file: it can be deleted, too. Each id is
    /// looked up unless there are so many that all rows are sooner read.
    private func known(
        of ids: [String],
        uid: UInt32
    ) throws(KeychainError) -> (ids: Set<ItemID>, versions: [ItemID: UInt64]) {
        // A call may have 65,000; the compiler leaves a lazy sequence generic, three times as slow.
        var asked = Set<ItemID>(minimumCapacity: ids.count)
        for text in ids {
            if let id = ItemID(text) { asked.insert(id) }
        }
        let versions = try versions(of: asked, uid: uid)
        guard asked.count > 64 else { return (asked, versions) }
        return (try rowIDs(among: asked, uid: uid).union(versions.keys), versions)
    }

    /// Those of some ids that a row has, be it authentic or not.
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

    /// The tokens of an item that can't be read, from every page of the ledger.
    private func tokens(of id: ItemID, uid: UInt32) throws(KeychainError) -> [UInt64] {
        var tokens: [UInt64] = []
        for page in try ledger(of: uid).pages {
            tokens += try entries(of: page, uid: uid).filter { $0.key.id == id }.map(\.key.token)
        }
        return tokens
    }

    /// Deletes the items that have a token, and what else they need to be deleted.
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
