/// A line of a user's ledger: an item has a property, and a change of the keychain wrote it.
///
/// The property is an index token. Every item has the token ``ItemIndex/items``.
struct LedgerEntry: Hashable {
    struct Key: Hashable, Comparable {
        let token: UInt64
        let id: ItemID

        static func < (left: Key, right: Key) -> Bool {
            left.token == right.token ? left.id < right.id : left.token < right.token
        }
    }

    let key: Key
    let version: UInt64

    static let size = 32
}

/// The list of a user's entries, in pages that are authenticated one by one.
///
/// A row without an entry, or with another version than its entry, was copied or rolled back in the
/// file. Equally, a page must have the version that the ledger lists. A look-up reads a single
/// page, however many items exist.
struct Ledger: Equatable {
    struct Page: Equatable {
        /// No key in the page is smaller.
        var first: LedgerEntry.Key
        let number: UInt64
        /// The keychain change that wrote the page.
        var version: UInt64
        var count: Int
    }

    private(set) var pages: [Page] = []
    private(set) var itemCount = 0
    /// Whether an item was unreadable when the upgrade indexed its properties.
    ///
    /// Only the list of all items contains it.
    private(set) var isIncomplete = false
    private var nextNumber: UInt64 = 0

    static let pageLimit = 128
    /// The maximum number of entries in a page after a split or a merge.
    private static let pageFill = 96
    /// A page with fewer entries merges with its neighbour.
    private static let pageMinimum = 32

    init() {}

    func pages(of token: UInt64) -> ArraySlice<Page> {
        let start = index(of: LedgerEntry.Key(token: token, id: .smallest))
        let end = pages[start...].firstIndex { $0.first.token > token } ?? pages.count
        return pages[start..<max(start, end)]
    }

    func page(of key: LedgerEntry.Key) -> Page? {
        pages.isEmpty ? nil : pages[index(of: key)]
    }

    /// The last page that does not begin after a key; the first page if all do.
    private func index(of key: LedgerEntry.Key) -> Int {
        var range = 0..<pages.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if pages[middle].first <= key {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return max(0, range.lowerBound - 1)
    }

    // MARK: Changes

    struct Rewriting {
        var written: [UInt64: [LedgerEntry]] = [:]
        var removed: [UInt64] = []

        fileprivate func entries(
            of page: Page,
            _ load: (Page) throws(KeychainError) -> [LedgerEntry]
        ) throws(KeychainError) -> [LedgerEntry] {
            if let entries = written[page.number] { return entries }
            return try load(page)
        }
    }

    /// Sets the versions of some entries, and removes entries whose version is nil.
    ///
    /// - Parameters:
    ///   - edits: The changed entries.
    ///   - version: The number of the change.
    ///   - load: Returns the entries of a page.
    /// - Returns: The pages to write and remove.
    /// - Throws: The error of `load`.
    mutating func apply(
        _ edits: [LedgerEntry.Key: UInt64?],
        at version: UInt64,
        load: (Page) throws(KeychainError) -> [LedgerEntry]
    ) throws(KeychainError) -> Rewriting {
        var rewriting = Rewriting()
        var rest = edits.sorted { $0.key < $1.key }[...]
        while let last = rest.last {
            let index = index(of: last.key)
            var entries: [LedgerEntry] = []
            var start = rest.startIndex
            if !pages.isEmpty {
                entries = try rewriting.entries(of: pages[index], load)
                let first = pages[index].first
                if index > 0 { start = rest.firstIndex { $0.key >= first } ?? start }
            }
            entries = merge(entries, rest[start...])
            rest = rest[..<start]
            try replace(index, with: entries, at: version, &rewriting, load: load)
        }
        return rewriting
    }

    private mutating func merge(
        _ entries: [LedgerEntry],
        _ edits: ArraySlice<(key: LedgerEntry.Key, value: UInt64?)>
    ) -> [LedgerEntry] {
        var merged: [LedgerEntry] = []
        merged.reserveCapacity(entries.count + edits.count)
        var old = entries[...]
        for (key, version) in edits {
            while let next = old.first, next.key < key { merged.append(old.removeFirst()) }
            let exists = old.first?.key == key
            if exists { old.removeFirst() }
            if let version { merged.append(LedgerEntry(key: key, version: version)) }
            if key.token == ItemIndex.items {
                itemCount += (version == nil ? 0 : 1) - (exists ? 1 : 0)
            }
        }
        return merged + old
    }

    /// Replaces the entries of a page, and splits or merges pages as needed.
    private mutating func replace(
        _ index: Int,
        with entries: [LedgerEntry],
        at version: UInt64,
        _ rewriting: inout Rewriting,
        load: (Page) throws(KeychainError) -> [LedgerEntry]
    ) throws(KeychainError) {
        var entries = entries
        var range = index..<min(index + 1, pages.count)
        // A small page merges with the page after it, or before it.
        for neighbour in [index + 1, index - 1]
        where entries.count < Self.pageMinimum && pages.indices.contains(neighbour) {
            guard entries.count + pages[neighbour].count <= Self.pageFill else { continue }
            let others = try rewriting.entries(of: pages[neighbour], load)
            entries = neighbour < index ? others + entries : entries + others
            range = min(range.lowerBound, neighbour)..<max(range.upperBound, neighbour + 1)
        }
        var free = pages[range].map(\.number)[...]
        let fill = entries.count <= Self.pageLimit ? Self.pageLimit : Self.pageFill
        var (rest, parts) = (entries[...], (entries.count + fill - 1) / fill)
        var replacing: [Page] = []
        while let first = rest.first {
            let part = Array(rest.prefix((rest.count + parts - 1) / parts))
            rest = rest.dropFirst(part.count)
            parts -= 1
            let number = free.popFirst() ?? newNumber()
            replacing.append(
                Page(first: first.key, number: number, version: version, count: part.count)
            )
            rewriting.written[number] = part
        }
        for number in free {
            rewriting.written[number] = nil
            rewriting.removed.append(number)
        }
        pages.replaceSubrange(range, with: replacing)
    }

    private mutating func newNumber() -> UInt64 {
        defer { nextNumber += 1 }
        return nextNumber
    }
}

// MARK: - Encoding

extension Ledger {
    /// Records that an item was unreadable when the index was created.
    mutating func noteUnreadable() { isIncomplete = true }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.add(UInt64(itemCount))
        writer.add(UInt8(isIncomplete ? 1 : 0))
        writer.add(nextNumber)
        for page in pages {
            writer.add(page.first)
            writer.add(page.number)
            writer.add(page.version)
            writer.add(UInt16(page.count))
        }
        return writer.bytes
    }

    /// Decodes a ledger whose bytes were authenticated.
    init(_ bytes: [UInt8]) throws(KeychainError) {
        var reader = ByteReader(bytes)
        guard let count = Int(exactly: try reader.number(UInt64.self)) else { throw .changed }
        itemCount = count
        isIncomplete = try reader.number(UInt8.self) != 0
        nextNumber = try reader.number()
        while !reader.isAtEnd {
            pages.append(
                Page(
                    first: try reader.key(),
                    number: try reader.number(),
                    version: try reader.number(),
                    count: Int(try reader.number(UInt16.self))
                )
            )
        }
    }
}

extension [LedgerEntry] {
    var bytes: [UInt8] {
        var writer = ByteWriter()
        for entry in self {
            writer.add(entry.key)
            writer.add(entry.version)
        }
        return writer.bytes
    }
}

/// The sorted entries of a page, of which a look-up decodes only a few.
struct PageEntries {
    private let bytes: [UInt8]

    /// - Throws: `decode` unless the bytes are whole entries.
    init(_ bytes: [UInt8]) throws(KeychainError) {
        guard bytes.count.isMultiple(of: LedgerEntry.size) else { throw .changed }
        self.bytes = bytes
    }

    private var indices: Range<Int> { 0..<bytes.count / LedgerEntry.size }

    var all: [LedgerEntry] { indices.map(entry) }

    func entries(with token: UInt64) -> [LedgerEntry] {
        let start = index(notBefore: LedgerEntry.Key(token: token, id: .smallest))
        return (start..<indices.upperBound).lazy.map(entry).prefix { $0.key.token == token }
    }

    func version(of key: LedgerEntry.Key) -> UInt64? {
        let index = index(notBefore: key)
        guard index < indices.upperBound else { return nil }
        let found = entry(index)
        return found.key == key ? found.version : nil
    }

    private func index(notBefore key: LedgerEntry.Key) -> Int {
        var range = indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if entry(middle).key < key {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    private func entry(_ index: Int) -> LedgerEntry {
        // SAFETY: `indices` has whole entries only, and the loads may be unaligned.
        bytes.withUnsafeBytes { bytes in
            func number(_ place: Int) -> UInt64 {
                let offset = index * LedgerEntry.size + 8 * place
                return UInt64(
                    bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                )
            }
            let id = ItemID(high: number(1), low: number(2))
            return LedgerEntry(key: LedgerEntry.Key(token: number(0), id: id), version: number(3))
        }
    }
}

extension ByteWriter {
    fileprivate mutating func add(_ key: LedgerEntry.Key) {
        add(key.token)
        add(key.id.high)
        add(key.id.low)
    }
}

extension ByteReader {
    fileprivate mutating func key() throws(KeychainError) -> LedgerEntry.Key {
        LedgerEntry.Key(
            token: try number(),
            id: ItemID(high: try number(), low: try number())
        )
    }
}
