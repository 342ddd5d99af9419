import TestSupport
import Testing

@testable import KeychainStore

/// L18: The authenticated list of a user's items.
@Suite("Ledgers")
struct LedgerTests {
    /// A ledger with its pages in memory, beside the expected entries.
    private struct Trial {
        var ledger = Ledger()
        var pages: [UInt64: [LedgerEntry]] = [:]
        var expected: [LedgerEntry.Key: UInt64] = [:]
        var version: UInt64 = 0

        mutating func apply(_ edits: [LedgerEntry.Key: UInt64?]) throws {
            version += 1
            let rewriting = try ledger.apply(edits, at: version) { pages[$0.number] ?? [] }
            for number in rewriting.removed { pages[number] = nil }
            pages.merge(rewriting.written) { $1 }
            for (key, version) in edits { expected[key] = version }
        }

        /// Expects every page where the ledger lists it, and every entry in one page.
        func expectSound() {
            #expect(Set(ledger.pages.map(\.number)) == Set(pages.keys))
            var entries: [LedgerEntry] = []
            for page in ledger.pages {
                let found = pages[page.number] ?? []
                #expect(found.first?.key == page.first)
                #expect(found.count == page.count && found.count <= Ledger.pageLimit)
                entries += found
            }
            #expect(entries == entries.sorted { $0.key < $1.key })
            #expect(entries.count == expected.count)
            #expect(entries.allSatisfy { expected[$0.key] == $0.version })
            #expect(ledger.itemCount == expected.keys.count { $0.token == ItemIndex.items })
            // Pages are at least partly filled, so their number stays small.
            #expect(ledger.pages.count <= 1 + expected.count / 32)
        }

        func found(_ key: LedgerEntry.Key) -> UInt64? {
            guard let page = ledger.page(of: key) else { return nil }
            return pages[page.number]?.first { $0.key == key }?.version
        }
    }

    @Test("A ledger keeps all entries in well-filled pages, in any order of edits")
    func simulated() throws {
        var random = SeededGenerator()
        for _ in 0..<10 {
            var trial = Trial()
            for step in 0..<120 {
                var edits: [LedgerEntry.Key: UInt64?] = [:]
                for _ in 0..<Int.random(in: 1...(step % 10 == 0 ? 400 : 8), using: &random) {
                    let key = LedgerEntry.Key(
                        // Most tokens belong to few items, some to many.
                        token: UInt64.random(
                            in: 0...(Bool.random(using: &random) ? 1 : 500),
                            using: &random
                        ),
                        id: ItemID(high: UInt64.random(in: 0...300, using: &random), low: 7)
                    )
                    let isRemoved = UInt.random(in: 0..<(step < 60 ? 5 : 2), using: &random) == 0
                    edits.updateValue(isRemoved ? nil : UInt64(step), forKey: key)
                }
                try trial.apply(edits)
                for key in edits.keys { #expect(trial.found(key) == trial.expected[key]) }
            }
            trial.expectSound()
            let copy = try Ledger(trial.ledger.bytes)
            #expect(copy == trial.ledger)
            for entries in trial.pages.values {
                let page = try PageEntries(entries.bytes)
                #expect(page.all == entries)
                for key in entries.map(\.key) {
                    #expect(
                        page.entries(with: key.token)
                            == entries.filter { $0.key.token == key.token }
                    )
                    #expect(page.version(of: key) == trial.expected[key])
                    let next = LedgerEntry.Key(
                        token: key.token,
                        id: ItemID(high: key.id.high, low: 8)
                    )
                    #expect(page.version(of: next) == nil)
                }
            }
            // Remove nearly all entries singly, then the rest at once.
            let going = trial.expected.keys.sorted().shuffled(using: &random).dropLast(40)
            for key in going { try trial.apply([key: UInt64?.none]) }
            trial.expectSound()
            try trial.apply(trial.expected.mapValues { _ in UInt64?.none })
            #expect(trial.ledger.pages.isEmpty && trial.pages.isEmpty)
        }
    }

    @Test("A look-up by token reads only the pages of that token")
    func tokens() throws {
        var trial = Trial()
        var edits: [LedgerEntry.Key: UInt64?] = [:]
        for item in 0..<5000 as Range<UInt64> {
            let id = ItemID(high: item &* 0x9E37_79B9_7F4A_7C15, low: item)
            for token in [0, 1 + item % 3, 10 + item] {
                edits[LedgerEntry.Key(token: token, id: id)] = item
            }
        }
        try trial.apply(edits)
        trial.expectSound()
        for token in [0, 1, 2, 3, 10, 2500, 5009, 6000, UInt64.max] {
            let expected = edits.keys.filter { $0.token == token }
            let pages = trial.ledger.pages(of: token)
            let found = pages.flatMap { trial.pages[$0.number] ?? [] }.map(\.key)
                .filter { $0.token == token }
            #expect(Set(found) == Set(expected))
            #expect(pages.count <= 2 + expected.count / 64)
        }
        for item in [0, 77, 4999] as [UInt64] {
            let id = ItemID(high: item &* 0x9E37_79B9_7F4A_7C15, low: item)
            #expect(trial.found(LedgerEntry.Key(token: 0, id: id)) == item)
            #expect(trial.found(LedgerEntry.Key(token: 9, id: id)) == nil)
        }
    }

    @Test("Truncated bytes of a ledger or a page are refused")
    func cutShort() throws {
        var trial = Trial()
        try trial.apply([LedgerEntry.Key(token: 0, id: .random()): 1])
        let bytes = trial.ledger.bytes
        for count in 0..<bytes.count where count != 17 {
            #expect(throws: KeychainError.self) { _ = try Ledger(Array(bytes.prefix(count))) }
        }
        let page = try #require(trial.pages.values.first).bytes
        #expect(page.count == LedgerEntry.size)
        for count in 1..<page.count {
            #expect(throws: KeychainError.self) {
                _ = try PageEntries(Array(page.prefix(count)))
            }
        }
    }

    @Test("A page's code depends on its user, number, version and entries")
    func pageCode() {
        let key = MasterKey([UInt8](repeating: 3, count: 32))
        let ring = KeyRing(key, identity: [UInt8](repeating: 5, count: 16))
        func code(_ page: [UInt8], _ number: UInt64, _ version: UInt64, _ uid: UInt32) -> [UInt8] {
            LedgerRoot.code(of: page, number, version: version, uid: uid, ring: ring)
        }
        let codes = [
            code([1], 2, 3, 4), code([2], 2, 3, 4), code([1], 3, 3, 4), code([1], 2, 4, 4),
            code([1], 2, 3, 5), code([1], 3, 2, 4),
        ]
        #expect(Set(codes).count == codes.count)
        #expect(code([1], 2, 3, 4) == codes[0])
    }
}
