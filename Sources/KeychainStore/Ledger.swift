/// Which items a user has, and at which change of the keychain each was written last.
///
/// A row that isn't in the ledger, or is there with another version, was copied or rolled back in
/// the file.
struct Ledger {
    /// Sorted by id.
    private var entries: [(id: ItemID, version: UInt64)] = []

    var count: Int { entries.count }

    /// At which change an item was written; nil: there is no such item.
    subscript(id: ItemID) -> UInt64? {
        get {
            let index = index(of: id)
            return index < entries.count && entries[index].id == id ? entries[index].version : nil
        }
        set {
            let index = index(of: id)
            let exists = index < entries.count && entries[index].id == id
            switch newValue {
            case let version? where exists: entries[index].version = version
            case let version?: entries.insert((id, version), at: index)
            case nil where exists: entries.remove(at: index)
            case nil: break
            }
        }
    }

    /// The first index whose id isn't smaller.
    private func index(of id: ItemID) -> Int {
        var range = 0..<entries.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if entries[middle].id < id {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    /// An empty one.
    init() {}

    var bytes: [UInt8] {
        var writer = ByteWriter()
        for entry in entries {
            writer.add(entry.id.bytes)
            writer.add(entry.version)
        }
        return writer.bytes
    }

    init(_ bytes: [UInt8]) throws(KeychainError) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            guard let id = ItemID(bytes: try reader.value()) else { throw .changed }
            entries.append((id, try reader.number()))
        }
    }
}

/// The root of all ledgers: the number of the keychain's last change, and each ledger's code.
struct LedgerRoot {
    /// Goes up by one with every change, whoever's items it is about.
    var counter: UInt64 = 0
    /// The authentication code of each user's ledger.
    var codes: [UInt32: [UInt8]] = [:]

    /// The authentication code of a user's ledger.
    static func code(of ledger: [UInt8], uid: UInt32, ring: KeyRing) -> [UInt8] {
        var writer = ByteWriter("ledger")
        writer.add(uid)
        writer.add(ledger)
        return ring.ledgerCode(writer.bytes)
    }

    func code(_ ring: KeyRing) -> [UInt8] {
        var writer = ByteWriter("root")
        writer.add(counter)
        for (uid, code) in codes.sorted(by: { $0.key < $1.key }) {
            writer.add(uid)
            writer.add(code)
        }
        return ring.ledgerCode(writer.bytes)
    }
}
