import AuthEngine
import Linux
import SQLite

/// A search that goes on where it stopped, so that others' calls come in between.
struct ItemSearch {
    fileprivate let query: Query
    fileprivate let skipsAuthenticated: Bool
    fileprivate let caller: Caller
    /// The code of the ledger when it began: what is changed meanwhile is looked for anew.
    fileprivate var ledger: [UInt8]?
    fileprivate var hasBegun = false
    /// The items to look at, with the versions of those in the ledger.
    fileprivate var ids: ArraySlice<(id: ItemID, version: UInt64?)> = []
    /// Whether these are all of the user's.
    fileprivate var isOfAll = false
    /// Whether one of them was authentic.
    fileprivate var hasAuthentic = false
    /// Whether one of them wasn't.
    fileprivate var hasDamaged = false
    fileprivate var found: [Item] = []
    fileprivate var answerSize = 0

    init(_ query: Query, skipsAuthenticated: Bool, caller: Caller) {
        self.query = query
        self.skipsAuthenticated = skipsAuthenticated
        self.caller = caller
    }

    /// What was found, in the order in which it was created.
    var items: [Item] {
        found.sorted { ($0.created, $0.added) < ($1.created, $1.added) }
    }

    fileprivate mutating func begin(
        _ ids: [(id: ItemID, version: UInt64?)],
        isOfAll: Bool,
        hasDamaged: Bool = false
    ) {
        self.ids = ids[...]
        self.isOfAll = isOfAll
        self.hasDamaged = hasDamaged
        hasAuthentic = false
        found = []
        answerSize = 0
    }

    /// Takes an item that was looked at; nil: it isn't authentic.
    fileprivate mutating func take(_ item: Item?) throws(KeychainError) {
        guard let item else {
            hasDamaged = true
            return
        }
        hasAuthentic = true
        guard item.isVisible(to: caller), query.matches(item) else { return }
        let requirement = item.accessControl.requirement(for: .useItem)
        let isFree = requirement.isFree && !requirement.needsApplicationPassword
        guard isFree || !skipsAuthenticated else { return }
        found.append(item)
        answerSize += item.answerSize
        guard answerSize <= KeychainStore.answerLimit else {
            throw KeychainError(
                .limitsExceeded,
                "The items that were found have more than \(KeychainStore.answerLimit) bytes of "
                    + "attributes: narrow the query, by service or account."
            )
        }
    }
}

/// Finding items.
extension KeychainStore {
    /// So many bytes are read before others have their turn.
    private static let bytesAtOnce = 2 * 1024 * 1024
    /// To find a row takes as long as so many bytes of it.
    private static let bytesOfRow = 2048

    /// The items that a query finds, in the order in which they were created.
    ///
    /// An item that was changed in the file is left out, unless that leaves nothing.
    /// - Throws: `decode`; `limitsExceeded` when they come to more than ``answerLimit``.
    package func search(
        _ query: Query,
        skipsAuthenticated: Bool = false,
        caller: Caller
    ) throws(KeychainError) -> [Item] {
        var search = ItemSearch(query, skipsAuthenticated: skipsAuthenticated, caller: caller)
        while try !goOn(with: &search) {}
        return search.items
    }

    /// Looks at some more items, secrets included: each row is authenticated as a whole.
    ///
    /// - Returns: Whether that were all.
    /// - Throws: as `search`.
    func goOn(with search: inout ItemSearch) throws(KeychainError) -> Bool {
        let uid = search.caller.uid
        if !search.hasBegun || search.ledger != root.codes[uid] {
            settle(search.caller)
            search.hasBegun = true
            search.ledger = root.codes[uid]
            try begin(&search)
        }
        var bytes = 0
        while bytes < Self.bytesAtOnce, let (id, version) = search.ids.popFirst() {
            let row = try readableRow(id, uid: uid)
            bytes += Self.bytesOfRow + (row.map { $0.record.count + $0.envelope.count } ?? 0)
            try search.take(row.flatMap { try? item($0, uid: uid, version: version) })
        }
        guard search.ids.isEmpty else { return false }
        if !search.hasAuthentic, !search.isOfAll, try ledger(of: uid).isIncomplete {
            try beginWithAll(&search)
            return false
        }
        // An empty answer would be a guess.
        if search.found.isEmpty, search.hasDamaged { throw .changed }
        return true
    }

    /// Finds the ids of the items among which those of the query are.
    private func begin(_ search: inout ItemSearch) throws(KeychainError) {
        let (query, uid) = (search.query, search.caller.uid)
        var found: [ItemID: UInt64]
        if let id = query.id {
            found = try versions(of: ItemID(id).map { [$0] } ?? [], uid: uid)
        } else {
            let ledger = try ledger(of: uid)
            // The rarest first: it says how much there is to read.
            var tokens =
                ring.index(of: uid).tokens(of: query.values)
                .map { (token: $0, pages: ledger.pages(of: $0).count) }
                .sorted { $0.pages < $1.pages }[...]
            guard let rarest = tokens.popFirst() else { return try beginWithAll(&search) }
            found = try versions(with: rarest.token, of: uid)
            for (token, pages) in tokens where found.count > 1 && pages <= found.count {
                let others = try versions(with: token, of: uid)
                found = found.filter { others[$0.key] != nil }
            }
        }
        search.begin(found.map { ($0.key, $0.value) }, isOfAll: false)
    }

    /// Every item of the user, and every row that says so.
    private func beginWithAll(_ search: inout ItemSearch) throws(KeychainError) {
        let uid = search.caller.uid
        let versions = try versions(with: ItemIndex.items, of: uid)
        var (ids, hasDamaged) = (Set(versions.keys), false)
        try translating { () throws(SystemError) in
            try KeychainSchema.ids(of: uid, in: database) { bytes in
                if let id = ItemID(bytes: bytes) { ids.insert(id) } else { hasDamaged = true }
            }
        }
        // As they lie in the file's index.
        let sorted = ids.sorted().map { (id: $0, version: versions[$0]) }
        search.begin(sorted, isOfAll: true, hasDamaged: hasDamaged)
    }

    /// The row of an item, unless the file's index leads to another one.
    private func readableRow(
        _ id: ItemID,
        uid: UInt32
    ) throws(KeychainError) -> KeychainSchema.Row? {
        do throws(KeychainError) {
            return try row(id, uid: uid)
        } catch {
            guard error == .changed else { throw error }
            return nil
        }
    }
}
