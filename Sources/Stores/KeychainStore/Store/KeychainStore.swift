import Linux
import SQLite
import Sealing

/// The keychain of this machine: a database of items and keys with encrypted secrets.
///
/// Every call is a transaction, and reaches the disk before it returns. Calls block, and only one
/// thread at a time may use the store. A row is trusted only if its authentication code and the
/// ledger confirm it. Rows that were edited, copied, swapped or rolled back in the file are refused
/// with `decode`.
///
/// Source: L17, L18.
package final class KeychainStore {
    let database: Database
    let ring: KeyRing
    var itemLimit: Int
    private let anchor: Anchor
    /// Whether an earlier database was damaged or lost, at this start or before.
    package let isLost: Bool
    private(set) var root: LedgerRoot
    /// Whether the log may hold data that a change has overwritten or deleted.
    private var hasLog = true
    private var ledgers: [UInt32: Ledger] = [:]
    /// Authentic pages that were read since the service rested last.
    ///
    /// A ledger in memory lists the version of each page, so a replaced page is never used.
    private var pages: [PagePlace: PageEntries] = [:]
    /// The enrolment for which each user's items were last checked.
    var checkedEnrolments: [UInt32: EnrolmentMark] = [:]

    /// The path of a damaged database that this start set aside; nil if there was none.
    package let setAside: String?

    /// The maximum size of a secret, in bytes.
    package static let secretLimit = 65_536

    /// The maximum size of a search result, in bytes.
    ///
    /// A bus refuses far larger messages.
    package static let answerLimit = 8 * 1024 * 1024

    /// The most pages in memory, of 4 KiB each.
    private static let pageLimit = 128

    private struct PagePlace: Hashable {
        let uid: UInt32
        let number: UInt64
        let version: UInt64
    }

    /// Opens the keychain in its folder of a state directory, or creates it.
    ///
    /// - Parameters:
    ///   - directory: The daemon's state directory; the keychain is in `keychain` there.
    ///   - credentials: The directory of systemd's credentials; nil if there is none.
    ///   - itemLimit: The maximum number of items of a user.
    /// - Returns: The keychain, which no other process can open meanwhile.
    /// - Throws: `notAvailable` for a missing or wrong master key, or a file that other users can
    ///   access; `decode` if the database as a whole was tampered with. Both leave all data in
    ///   place.
    package static func open(
        directory: String,
        credentials: String?,
        itemLimit: Int = 20_000
    ) throws(KeychainError) -> KeychainStore {
        let folder = try folder(in: directory)
        let (database, setAside) = try openDatabase(in: folder)
        let identity = try identity(of: database)
        let found = try MasterKey.find(in: folder, credentials: credentials)
        let verifier = try verifier(of: database)
        let key: MasterKey
        if let found {
            key = found
        } else if verifier == nil {
            // The database that was set aside may still be recovered with its own key, so create no
            // new key.
            guard try !lost(database) else { throw lostKey }
            var bytes = SecretBytes.random(count: MasterKey.size)
            defer { wipe(&bytes) }
            key = try MasterKey.write(bytes, in: folder)
        } else {
            throw try missingKey(database)
        }
        let ring = KeyRing(key, identity: identity)
        if let verifier {
            try check(verifier, ring, database)
        } else {
            try begin(ring, database)
        }
        let store = try KeychainStore(
            folder,
            database,
            ring,
            itemLimit: itemLimit,
            setAside: setAside
        )
        try store.upgrade()
        // A killed process leaves its log behind.
        store.emptyLog()
        return store
    }

    private init(
        _ folder: DatabaseFolder,
        _ database: Database,
        _ ring: KeyRing,
        itemLimit: Int,
        setAside: String?
    ) throws(KeychainError) {
        self.database = database
        self.ring = ring
        self.itemLimit = itemLimit
        self.setAside = setAside
        isLost = try Self.lost(database)
        root = try Self.readRoot(of: database, ring)
        anchor = try Anchor(in: folder)
        try anchor.check(root, ring: ring)
        anchor.note(root.counter, ring: ring)
    }

    /// The fingerprint by which people distinguish master keys: 8 hexadecimal digits.
    package var keyName: String { ring.name }

    /// Whether systemd provided the master key as a credential; otherwise it is in a file.
    package var isKeyCredential: Bool { ring.isCredential }

    /// The number of a user's items.
    ///
    /// - Throws: `decode`.
    package func itemCount(of uid: UInt32) throws(KeychainError) -> Int {
        try ledger(of: uid).itemCount
    }

    package var recoveryKey: String { ring.recoveryKey }

    // MARK: Rows and ledgers

    /// The error for an unknown item, which mentions a lost database, because the item may have
    /// been in it.
    var unknown: KeychainError {
        guard isLost else { return .notFound }
        return KeychainError(
            .notFound,
            "The item does not exist. An earlier database of the keychain was damaged or lost."
        )
    }

    func ledger(of uid: UInt32) throws(KeychainError) -> Ledger {
        if let known = ledgers[uid] { return known }
        let bytes = try translating { () throws(SystemError) in
            try KeychainSchema.ledger(of: uid, in: database)
        }
        guard let code = root.codes[uid] else { return Ledger() }
        let found = bytes ?? []
        guard KeyRing.isSame(LedgerRoot.code(of: found, uid: uid, ring: ring), code) else {
            throw Self.tampered
        }
        let ledger = try Ledger(ring.open(found, at: LedgerRoot.place(of: uid)))
        ledgers[uid] = ledger
        return ledger
    }

    /// Returns a page if it is authentic and current.
    func page(
        _ page: Ledger.Page,
        uid: UInt32
    ) throws(KeychainError) -> PageEntries {
        let known = PagePlace(uid: uid, number: page.number, version: page.version)
        if let entries = pages[known] { return entries }
        let found = try translating { () throws(SystemError) in
            try KeychainSchema.page(page.number, of: uid, in: database)
        }
        guard let found else { throw Self.tampered }
        let code = LedgerRoot.code(
            of: found.entries,
            page.number,
            version: page.version,
            uid: uid,
            ring: ring
        )
        guard KeyRing.isSame(code, found.code) else { throw Self.tampered }
        let place = LedgerRoot.place(of: uid, page: page.number)
        let entries = try PageEntries(ring.open(found.entries, at: place))
        if pages.count >= Self.pageLimit { pages = [:] }
        pages[known] = entries
        return entries
    }

    /// Returns the ledger entries with a token: the items with a property, and their versions.
    func entries(with token: UInt64, of uid: UInt32) throws(KeychainError) -> [LedgerEntry] {
        var found: [LedgerEntry] = []
        for page in try ledger(of: uid).pages(of: token) {
            found += try self.page(page, uid: uid).entries(with: token)
        }
        return found
    }

    /// Returns the change that last wrote each item.
    ///
    /// Missing items are left out.
    func versions(
        of ids: some Collection<ItemID>,
        uid: UInt32
    ) throws(KeychainError) -> [ItemID: UInt64] {
        let ledger = try ledger(of: uid)
        var found: [ItemID: UInt64] = [:]
        var (number, entries): (UInt64?, PageEntries?) = (nil, nil)
        for id in ids.sorted() {
            let key = LedgerEntry.Key(token: ItemIndex.items, id: id)
            guard let next = ledger.page(of: key) else { continue }
            if next.number != number { entries = try page(next, uid: uid) }
            number = next.number
            found[id] = entries?.version(of: key)
        }
        return found
    }

    /// Returns the item of a row if the row is authentic and has this version.
    func item(
        _ row: KeychainSchema.Row,
        uid: UInt32,
        version: UInt64?
    ) throws(KeychainError) -> Item {
        guard let id = ItemID(bytes: row.id), version == row.version,
            let code = row.code(of: uid, ring), KeyRing.isSame(code, row.code)
        else { throw .changed }
        let place = KeychainSchema.Row.place(uid: uid, id: row.id)
        return try Item(id, uid: uid, record: ring.open(row.record, at: place))
    }

    /// Changes a user's items.
    ///
    /// Afterwards either the whole change is on the disk, or no part of it.
    func change(
        _ uid: UInt32,
        _ body: (inout Change) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        var change = Change(uid: uid, version: root.counter + 1, ring: ring)
        try body(&change)
        var (ledger, next) = (try ledger(of: uid), root)
        let rewriting = try ledger.apply(change.edits, at: change.version) {
            page throws(KeychainError) in try self.page(page, uid: uid).all
        }
        next.counter = change.version
        try translating { () throws(SystemError) in
            try database.transaction { () throws(SystemError) in
                for id in change.deleted {
                    try KeychainSchema.delete(id, uid: uid, in: database)
                }
                for row in change.written {
                    try KeychainSchema.write(row, uid: uid, to: database)
                }
                try write(ledger, rewriting, of: uid, root: &next)
                try Self.write(next.counter, next.code(ring), to: database)
            }
        }
        note(next)
        ledgers[uid] = ledger
        hasLog = true
        if !change.deleted.isEmpty { emptyLog() }
    }

    /// Empties the database's log, in which overwritten and deleted data stays otherwise, and gives
    /// up the pages in memory.
    ///
    /// A failure is ignored, because every change is safe in the log: the next call tries again.
    func emptyLog() {
        pages = [:]
        guard hasLog else { return }
        hasLog = (try? database.emptyLog()) == nil
    }

    /// Writes the changed pages of a ledger and its list of pages.
    func write(
        _ ledger: Ledger,
        _ rewriting: Ledger.Rewriting,
        of uid: UInt32,
        root: inout LedgerRoot
    ) throws(SystemError) {
        for number in rewriting.removed {
            try KeychainSchema.delete(page: number, of: uid, in: database)
        }
        for (number, entries) in rewriting.written {
            try write(entries, of: number, version: root.counter, of: uid)
        }
        let bytes = try ring.seal(ledger.bytes, at: LedgerRoot.place(of: uid))
        let code = LedgerRoot.code(of: bytes, uid: uid, ring: ring)
        root.codes[uid] = code
        try KeychainSchema.write(ledger: bytes, code: code, of: uid, to: database)
    }

    /// Writes a page of a ledger.
    func write(
        _ entries: [LedgerEntry],
        of number: UInt64,
        version: UInt64,
        of uid: UInt32
    ) throws(SystemError) {
        let place = LedgerRoot.place(of: uid, page: number)
        let bytes = try ring.seal(entries.bytes, at: place)
        let code = LedgerRoot.code(of: bytes, number, version: version, uid: uid, ring: ring)
        try KeychainSchema.write(page: bytes, number, code: code, of: uid, to: database)
    }

    /// Keeps a change in memory after it reached the disk.
    func note(_ changed: LedgerRoot) {
        root = changed
        anchor.note(changed.counter, ring: ring)
    }
}

struct Change {
    let uid: UInt32
    let version: UInt64
    private let ring: KeyRing
    private(set) var written: [KeychainSchema.Row] = []
    private(set) var deleted: [ItemID] = []
    /// Changed entries of the ledger.
    ///
    /// An entry without a version is removed.
    private(set) var edits: [LedgerEntry.Key: UInt64?] = [:]

    fileprivate init(uid: UInt32, version: UInt64, ring: KeyRing) {
        self.uid = uid
        self.version = version
        self.ring = ring
    }

    /// Writes an item.
    ///
    /// `old` is its previous state.
    ///
    /// - Throws: `notAvailable` if the item can't be encrypted.
    mutating func write(
        _ item: Item,
        envelope: [UInt8],
        over old: Item? = nil
    ) throws(KeychainError) {
        let (ring, version) = (self.ring, self.version)
        let row = try translating { () throws(SystemError) in
            try KeychainSchema.Row(item, version: version, envelope: envelope, ring: ring)
        }
        written.append(row)
        let index = ring.index(of: uid)
        if let old { set(nil, index.tokens(of: old), of: item.itemID) }
        set(version, index.tokens(of: item), of: item.itemID)
    }

    mutating func delete(_ item: Item) {
        delete(item.itemID, tokens: ring.index(of: uid).tokens(of: item))
    }

    mutating func delete(_ id: ItemID, tokens: [UInt64]) {
        deleted.append(id)
        set(nil, tokens, of: id)
    }

    private mutating func set(_ version: UInt64?, _ tokens: [UInt64], of id: ItemID) {
        for token in tokens {
            edits.updateValue(version, forKey: LedgerEntry.Key(token: token, id: id))
        }
    }
}
