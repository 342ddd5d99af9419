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
