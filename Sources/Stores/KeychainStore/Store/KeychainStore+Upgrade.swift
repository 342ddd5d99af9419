import Linux
import SQLite

extension KeychainStore {
    /// Upgrades the file to the current format in one transaction.
    ///
    /// In format 1, a ledger was a single list of ids and versions, and a search read every item.
    /// Up to format 2, records, ledgers and pages were not encrypted. A ledger that is not
    /// authentic stays unchanged, and its user remains refused.
    ///
    /// - Throws: `decode` for a file that is encrypted already; `notAvailable` for a failed write.
    ///   Both leave the file as it was.
    func upgrade() throws(KeychainError) {
        var next = root
        next.counter += 1
        var isUpgraded = false
        do throws(SystemError) {
            try KeychainSchema.format.upgrade(database) { old throws(SystemError) in
                try KeychainSchema.replaceTables(in: database) { () throws(SystemError) in
                    for (uid, code) in root.codes.sorted(by: { $0.key < $1.key }) {
                        try upgradeLedger(of: uid, code, from: old, root: &next)
                    }
                    try KeychainSchema.formerRows(in: database) { uid, row throws(SystemError) in
                        try KeychainSchema.write(encrypted(row, of: uid), uid: uid, to: database)
                    }
                }
                try Self.write(next.counter, next.code(ring), to: database)
                isUpgraded = true
            }
        } catch {
            guard error.code != .damaged else { throw KeychainError(error) }
            throw KeychainError(ofUpgrade: error, needing: Self.spaceForUpgrade(of: database))
        }
        if isUpgraded { note(next) }
    }

    /// The bytes that an upgrade needs: the log, the new tables, and zeros over the old tables.
    private static func spaceForUpgrade(of database: Database) -> Int64 {
        let pages = try? database.integer("PRAGMA page_count")
        let size = try? database.integer("PRAGMA page_size")
        return 3 * (pages ?? 0) * (size ?? 0)
    }

    private func upgradeLedger(
        of uid: UInt32,
        _ code: [UInt8],
        from format: Int64,
        root next: inout LedgerRoot
    ) throws(SystemError) {
        let old = try KeychainSchema.ledger(of: uid, in: database, former: true) ?? []
        let isAuthentic = KeyRing.isSame(LedgerRoot.code(of: old, uid: uid, ring: ring), code)
        // A second encryption would destroy the items.
        guard !isAuthentic || (try? ring.open(old, at: LedgerRoot.place(of: uid))) == nil else {
            throw SystemError(
                .damaged,
                "The number of its format was changed. Restore the database from a backup.",
                path: database.path
            )
        }
        if isAuthentic, format == 1, let versions = try? Self.firstLedger(old) {
            let (ledger, rewriting) = try paged(versions, of: uid, at: next.counter)
            try write(ledger, rewriting, of: uid, root: &next)
        } else if isAuthentic, format == 2, let ledger = try? Ledger(old) {
            for page in ledger.pages {
                let entries = try formerEntries(of: page, uid: uid)
                // A search refuses a page that is missing.
                guard let entries else { continue }
                try write(entries, of: page.number, version: page.version, of: uid)
            }
            try write(ledger, Ledger.Rewriting(), of: uid, root: &next)
        } else {
            try KeychainSchema.write(ledger: old, code: code, of: uid, to: database)
        }
    }

    /// Returns the entries of a page of format 2; nil if the page is not authentic.
    private func formerEntries(
        of page: Ledger.Page,
        uid: UInt32
    ) throws(SystemError) -> [LedgerEntry]? {
        guard
            let found = try KeychainSchema.page(page.number, of: uid, in: database, former: true)
        else { return nil }
        let code = LedgerRoot.code(
            of: found.entries,
            page.number,
            version: page.version,
            uid: uid,
            ring: ring
        )
        return KeyRing.isSame(code, found.code) ? try? PageEntries(found.entries).all : nil
    }

    /// Encrypts the attributes of a row of an earlier format.
    private func encrypted(
        _ row: KeychainSchema.Row,
        of uid: UInt32
    ) throws(SystemError) -> KeychainSchema.Row {
        let place = KeychainSchema.Row.place(uid: uid, id: row.id)
        let changed = KeychainSchema.Row(
            id: row.id,
            version: row.version,
            primaryKey: ring.index(of: uid).code(primaryKey: row.primaryKey),
            record: try ring.seal(row.record, at: place),
            envelope: row.envelope,
            code: row.code
        )
        // A row that is not authentic keeps its code, and is refused as before.
        guard let code = row.code(of: uid, ring), KeyRing.isSame(code, row.code) else {
            return changed
        }
        return changed.coded(for: uid, ring)
    }

    static func firstLedger(
        _ bytes: [UInt8]
    ) throws(KeychainError) -> [ItemID: UInt64] {
        var reader = ByteReader(bytes)
        var versions: [ItemID: UInt64] = [:]
        while !reader.isAtEnd {
            guard let id = ItemID(bytes: try reader.value()) else { throw .changed }
            versions[id] = try reader.number()
        }
        return versions
    }

    /// Builds a paged ledger from the items of a format 1 ledger.
    private func paged(
        _ versions: [ItemID: UInt64],
        of uid: UInt32,
        at change: UInt64
    ) throws(SystemError) -> (Ledger, Ledger.Rewriting) {
        let index = ring.index(of: uid)
        var edits: [LedgerEntry.Key: UInt64?] = [:]
        for (id, version) in versions {
            edits[LedgerEntry.Key(token: ItemIndex.items, id: id)] = version
        }
        var count = 0
        try KeychainSchema.formerRows(in: database) { owner, row in
            guard owner == uid, let id = ItemID(bytes: row.id), let version = versions[id],
                version == row.version, let code = row.code(of: uid, ring),
                KeyRing.isSame(code, row.code),
                let item = try? Item(id, uid: uid, record: row.record)
            else { return }
            count += 1
            for token in index.tokens(of: item) {
                edits[LedgerEntry.Key(token: token, id: id)] = version
            }
        }
        var ledger = Ledger()
        if count < versions.count { ledger.noteUnreadable() }
        // No page exists yet, so `load` is never called.
        let rewriting = try? ledger.apply(edits, at: change) { _ in [] }
        return (ledger, rewriting ?? Ledger.Rewriting())
    }
}
