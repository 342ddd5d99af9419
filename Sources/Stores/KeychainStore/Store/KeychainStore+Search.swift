import AuthEngine
import Linux
import SQLite
package import Sealing

/// An item of a search.
package struct FoundItem: Sendable {
    package let item: Item
    /// The secret, if the search was to open items and this item needs no proof.
    package let secret: SecretBytes?
}

/// A search that runs in steps, so that other calls can run between them.
struct ItemSearch {
    fileprivate let query: Query
    fileprivate let skipsAuthenticated: Bool
    fileprivate let caller: Caller
    /// The ledger's code at the start.
    ///
    /// If it changes, the search starts again.
    fileprivate var ledger: [UInt8]?
    fileprivate var hasBegun = false
    /// The remaining items, with the versions of items in the ledger.
    fileprivate var ids: ArraySlice<(id: ItemID, version: UInt64?)> = []
    /// Whether `ids` covers all items of the user.
    fileprivate var isOfAll = false
    /// Whether any item so far was authentic.
    fileprivate var hasAuthentic = false
    /// Whether any item so far was not authentic.
    fileprivate var hasDamaged = false
    fileprivate var found: [(item: Item, envelope: [UInt8])] = []
    fileprivate var answerSize = 0
    /// The bytes of kept envelopes.
    private var envelopeSize = 0
    private let keepsEnvelopes: Bool

    /// The most bytes of envelopes to keep.
    private static let envelopeLimit = 2 * 1024 * 1024

    init(_ query: Query, skipsAuthenticated: Bool, keepsEnvelopes: Bool = false, caller: Caller) {
        self.query = query
        self.skipsAuthenticated = skipsAuthenticated
        self.keepsEnvelopes = keepsEnvelopes
        self.caller = caller
    }

    /// The items found, in the order of their creation, with the envelopes that were kept.
    var items: [(item: Item, envelope: [UInt8])] {
        found.sorted { ($0.item.created, $0.item.added) < ($1.item.created, $1.item.added) }
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
        (answerSize, envelopeSize) = (0, 0)
    }

    /// Adds an item that was read; nil stands for an item that is not authentic.
    fileprivate mutating func take(
        _ item: Item?,
        _ row: KeychainSchema.Row?
    ) throws(KeychainError) {
        guard let item, let row else {
            hasDamaged = true
            return
        }
        hasAuthentic = true
        guard item.isVisible(to: caller), query.matches(item) else { return }
        let requirement = item.accessControl.requirement(for: .useItem)
        let isFree = requirement.isFree && !requirement.needsApplicationPassword
        guard isFree || !skipsAuthenticated else { return }
        envelopeSize += row.envelope.count
        let isKept = keepsEnvelopes && envelopeSize <= Self.envelopeLimit
        found.append((item, isKept ? row.envelope : []))
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

extension KeychainStore {
    /// The number of bytes to read before other calls get a turn.
    private static let bytesAtOnce = 2 * 1024 * 1024
    /// The cost of finding a row, in bytes read.
    private static let bytesOfRow = 2048

    /// Returns the items that match, in the order of their creation.
    ///
    /// Leaves out items that were modified in the file. Throws `decode` if no other item matches.
    /// - Throws: `decode`; `limitsExceeded` if the result exceeds ``answerLimit``.
    package func search(
        _ query: Query,
        skipsAuthenticated: Bool = false,
        caller: Caller
    ) throws(KeychainError) -> [Item] {
        var search = ItemSearch(query, skipsAuthenticated: skipsAuthenticated, caller: caller)
        while try !advance(&search) {}
        return search.items.map(\.item)
    }

    /// Opens an item that a search has just found, if no proof is needed and no other process has
    /// to be asked before.
    func freeSecret(of item: Item, _ envelope: [UInt8]) -> SecretBytes? {
        let grant = AccessGrant.resting(
            on: EmptyCollection(),
            for: .useItem,
            uid: item.uid,
            accessControl: item.accessControl
        )
        guard let grant, !item.isOwnKey, !item.accessControl.needsPasscodeSet,
            (try? check(grant, for: .useItem, of: item)) != nil
        else { return nil }
        return try? Envelope(envelope).open(item, password: nil, ring: ring)
    }

    /// Runs a step of the search.
    ///
    /// Reads secrets too, because a row is authenticated as a whole.
    ///
    /// - Returns: Whether the search is complete.
    /// - Throws: As `search`.
    func advance(_ search: inout ItemSearch) throws(KeychainError) -> Bool {
        let uid = search.caller.uid
        if !search.hasBegun || search.ledger != root.codes[uid] {
            deleteStaleItems(for: search.caller)
            search.hasBegun = true
            search.ledger = root.codes[uid]
            try begin(&search)
        }
        var bytes = 0
        while bytes < Self.bytesAtOnce, let (id, version) = search.ids.popFirst() {
            let row = try readableRow(id, uid: uid)
            bytes += Self.bytesOfRow + (row.map { $0.record.count + $0.envelope.count } ?? 0)
            try search.take(row.flatMap { try? item($0, uid: uid, version: version) }, row)
        }
        guard search.ids.isEmpty else { return false }
        if !search.hasAuthentic, !search.isOfAll, try ledger(of: uid).isIncomplete {
            try beginWithAll(&search)
            return false
        }
        // An empty result could not be distinguished from missing items.
        if search.found.isEmpty, search.hasDamaged { throw .changed }
        return true
    }

    private func begin(_ search: inout ItemSearch) throws(KeychainError) {
        let (query, uid) = (search.query, search.caller.uid)
        var found: [ItemID: UInt64]
        if let id = query.id {
            found = try versions(of: ItemID(id).map { [$0] } ?? [], uid: uid)
        } else {
            let ledger = try ledger(of: uid)
            // The rarest token comes first, because it decides how much must be read.
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

    /// Selects every item in the ledger, and every row of the user.
    private func beginWithAll(_ search: inout ItemSearch) throws(KeychainError) {
        let uid = search.caller.uid
        let versions = try versions(with: ItemIndex.items, of: uid)
        var (ids, hasDamaged) = (Set(versions.keys), false)
        try translating { () throws(SystemError) in
            try KeychainSchema.ids(of: uid, in: database) { bytes in
                if let id = ItemID(bytes: bytes) { ids.insert(id) } else { hasDamaged = true }
            }
        }
        // In the order of the file's index.
        let sorted = ids.sorted().map { (id: $0, version: versions[$0]) }
        search.begin(sorted, isOfAll: true, hasDamaged: hasDamaged)
    }

    /// Returns the row of an item; nil if the file's index leads to another row.
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
