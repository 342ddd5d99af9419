/// One line of a user's ledger: an item has a property, and was written at a change of the
/// keychain.
///
/// The property is a token of the index; that of ``ItemIndex/items`` is to be there at all.
struct LedgerEntry: Hashable {
    /// What entries are sorted by.
    struct Key: Hashable, Comparable {
        let token: UInt64
        let id: ItemID

        static func < (left: Key, right: Key) -> Bool {
            left.token == right.token ? left.id < right.id : left.token < right.token
        }
    }

    let key: Key
    let version: UInt64

    /// How many bytes it takes.
    static let size = 32
}

/// Where the entries of a user are: in pages, each of which is authentic by itself.
///
/// A row that has no entry, or one with another version, was copied or rolled back in the file; so
/// was a page whose version is another than the ledger's. Whoever looks something up reads one
/// page of it, however many items there are.
struct Ledger: Equatable {
    /// A page, as the ledger knows it.
    struct Page: Equatable {
        /// No key in it is smaller.
        var first: LedgerEntry.Key
        let number: UInt64
        /// At which change of the keychain it was written.
        var version: UInt64
        var count: Int
    }

    /// Sorted by what is in them.
    private(set) var pages: [Page] = []
    /// How many items the user has.
    private(set) var itemCount = 0
    /// Whether an item could not be read when its properties were first listed: it is in the list
    /// of items alone.
    private(set) var isIncomplete = false
    private var nextNumber: UInt64 = 0

    /// A page has at most so many entries.
    static let pageLimit = 128
    /// What a page has after it was split, or was joined with its neighbour.
    private static let pageFill = 96
    /// A page with fewer joins its neighbour.
    private static let pageMinimum = 32

    /// An empty one.
    init() {}

    /// The pages that may have entries with a token.
    func pages(of token: UInt64) -> ArraySlice<Page> {
        let start = index(of: LedgerEntry.Key(token: token, id: .smallest))
        let end = pages[start...].firstIndex { $0.first.token > token } ?? pages.count
        return pages[start..<max(start, end)]
    }

    /// The page that may have an entry.
    func page(of key: LedgerEntry.Key) -> Page? {
        pages.isEmpty ? nil : pages[index(of: key)]
    }

    /// The last page that doesn't begin behind a key; the first one if all do.
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

    /// The pages that a change writes and removes.
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

    /// Sets the versions of some entries, and removes those that have none.
    ///
    /// - Parameters:
    ///   - edits: What changes.
    ///   - version: The number of the change.
    ///   - load: The entries of a page.
    /// - Returns: What has to be written.
    /// - Throws: What `load` throws.
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

    /// Puts entries in the place of those of one page, in as many pages as they take.
    private mutating func replace(
        _ index: Int,
        with entries: [LedgerEntry],
        at version: UInt64,
        _ rewriting: inout Rewriting,
        load: (Page) throws(KeychainError) -> [LedgerEntry]
    ) throws(KeychainError) {
        var entries = entries
        var range = index..<min(index + 1, pages.count)
        // What is small joins the page behind it, or before it.
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

// MARK: - Bytes

extension Ledger {
    /// Notes that an item couldn't be read when the index was made.
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

    /// The ledger of bytes that were authenticated.
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
    /// The bytes of a page.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        for entry in self {
            writer.add(entry.key)
            writer.add(entry.version)
        }
        return writer.bytes
    }

    /// The entries of a page's bytes.
    init(_ bytes: [UInt8]) throws(KeychainError) {
        self = []
        reserveCapacity(bytes.count / LedgerEntry.size)
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            append(LedgerEntry(key: try reader.key(), version: try reader.number()))
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
