import SQLite

/// The root of all ledgers: the number of the keychain's last change, and each ledger's code.
struct LedgerRoot {
    /// Increases by one with every change of any user's items.
    var counter: UInt64 = 0
    var codes: [UInt32: [UInt8]] = [:]

    /// Where a ledger stands, for its encryption.
    static func place(of uid: UInt32) -> ByteWriter {
        var writer = ByteWriter("ledger")
        writer.add(uid)
        return writer
    }

    /// Where a page of a ledger stands, for its encryption.
    static func place(of uid: UInt32, page number: UInt64) -> ByteWriter {
        var writer = ByteWriter("page")
        writer.add(uid)
        writer.add(number)
        return writer
    }

    static func code(of ledger: [UInt8], uid: UInt32, ring: KeyRing) -> [UInt8] {
        var writer = ByteWriter("ledger")
        writer.add(uid)
        writer.add(ledger)
        return ring.ledgerCode(writer.bytes)
    }

    static func code(
        of page: [UInt8],
        _ number: UInt64,
        version: UInt64,
        uid: UInt32,
        ring: KeyRing
    ) -> [UInt8] {
        var writer = ByteWriter("page")
        writer.add(uid)
        writer.add(number)
        writer.add(version)
        writer.add(page)
        return ring.ledgerCode(writer.bytes)
    }

    /// The root's code, which is valid for one format of the file alone.
    ///
    /// Up to format 2, and in early files of format 3, the code names no format.
    func code(
        _ ring: KeyRing,
        format: Int64 = KeychainSchema.format.version
    ) -> [UInt8] {
        var writer = ByteWriter(format > 2 ? "root of format \(format)" : "root")
        writer.add(counter)
        for (uid, code) in codes.sorted(by: { $0.key < $1.key }) {
            writer.add(uid)
            writer.add(code)
        }
        return ring.ledgerCode(writer.bytes)
    }
}
