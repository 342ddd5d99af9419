import Linux
import SQLite

extension KeychainStore {
    /// Upgrades the file to the current format in one transaction.
    ///
    /// In format 1, a ledger was a single list of ids and versions, and a search read every item. A
    /// ledger that is not authentic stays unchanged, and its user remains refused.
    func upgrade() throws(KeychainError) {
        var next = root
        next.counter += 1
        var isUpgraded = false
        try translating { () throws(SystemError) in
            try KeychainSchema.format.upgrade(database) { () throws(SystemError) in
                for (uid, code) in root.codes.sorted(by: { $0.key < $1.key }) {
                    let old = try KeychainSchema.ledger(of: uid, in: database) ?? []
                    guard KeyRing.isSame(LedgerRoot.code(of: old, uid: uid, ring: ring), code),
                        let versions = try? Self.firstLedger(old)
                    else { continue }
                    let (ledger, rewriting) = try paged(versions, of: uid, at: next.counter)
                    try write(ledger, rewriting, of: uid, root: &next)
                }
                try Self.write(next.counter, next.code(ring), to: database)
                isUpgraded = true
            }
        }
        if isUpgraded { note(next) }
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
        try KeychainSchema.rows(of: uid, in: database) { row in
            guard let id = ItemID(bytes: row.id), let version = versions[id],
                let item = try? item(row, uid: uid, version: version)
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
