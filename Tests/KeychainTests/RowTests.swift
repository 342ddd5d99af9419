import Sealing
import TestSupport
import Testing

@testable import AuthEngine
@testable import KeychainStore

/// L18: A row is authentic only for the user and item it was written for.
@Suite("Rows")
struct RowTests {
    private typealias Row = KeychainSchema.Row

    /// Returns a row with some columns of other rows, and its original code.
    private func row(
        _ row: Row,
        id: Row? = nil,
        version: Row? = nil,
        primaryKey: Row? = nil,
        record: Row? = nil,
        envelope: Row? = nil
    ) -> Row {
        Row(
            id: (id ?? row).id,
            version: (version ?? row).version,
            primaryKey: (primaryKey ?? row).primaryKey,
            record: (record ?? row).record,
            envelope: (envelope ?? row).envelope,
            code: row.code
        )
    }

    private func row(of id: String, in store: KeychainStore) throws -> Row {
        let id = try #require(ItemID(id))
        return try #require(try store.row(id, uid: 1000))
    }

    @Test("L18: A row is refused for another user, or with any column of another row")
    func columns() throws {
        let folder = try StateFolder("keychain")
        let store = try folder.open()
        let (mine, other) = (
            try row(of: store.add("mine"), in: store), try row(of: store.add("other"), in: store)
        )
        // The ledger accepts both versions, so only the row's own code can refuse.
        #expect(throws: Never.self) {
            _ = try store.item(mine, uid: 1000, version: mine.version)
        }
        expectRefusal(.decode) { _ = try store.item(mine, uid: 1001, version: mine.version) }
        let changed = [
            "id": row(mine, id: other), "version": row(mine, version: other),
            "primary key": row(mine, primaryKey: other), "record": row(mine, record: other),
            "envelope": row(mine, envelope: other),
        ]
        for (column, row) in changed {
            let error = #expect(throws: KeychainError.self, "\(column)") {
                _ = try store.item(row, uid: 1000, version: row.version)
            }
            #expect(error?.code == .decode, "\(column)")
        }
    }

    @Test("L18: A rolled-back row is refused even with the current version number")
    func renumbered() throws {
        let folder = try StateFolder("keychain")
        let id = try folder.open().add("bank", "old")
        try folder.write(folder.read("items.sqlite"), to: "old.sqlite")
        try folder.open()
            .setSecret(of: id, to: SecretBytes("new"), password: nil, caller: .person, date: 1)
        #expect(try folder.open().read(id) == "new")
        let columns = ["record", "envelope", "code"]
            .map { "\($0) = (SELECT \($0) FROM old.items WHERE id = x'\(id)')" }
        try folder.run(
            "ATTACH '\(folder.file("old.sqlite"))' AS old",
            "UPDATE items SET \(columns.joined(separator: ", ")) WHERE id = x'\(id)'"
        )
        expectRefusal(.decode) { _ = try folder.open().read(id) }
    }

    @Test("L18: An item with edited attributes is refused, together with its secret")
    func attributes() throws {
        let folder = try StateFolder("keychain")
        let id: String
        var record: [UInt8]
        do {
            let store = try folder.open()
            id = try store.add("bank")
            try store.update(id, ["labl": .text("honest")], caller: .person, date: 1)
            record = try row(of: id, in: store).record
        }
        record[record.count - 20] ^= 1
        try folder.run("UPDATE items SET record = x'\(hex(record))' WHERE id = x'\(id)'")
        let store = try folder.open()
        expectRefusal(.decode) { _ = try store.item(id, caller: .person) }
        expectRefusal(.decode) { _ = try store.read(id) }
        expectRefusal(.decode) { _ = try store.find() }
    }

    @Test("L18: With another item's envelope, the error is not a wrong password")
    func envelope() throws {
        let folder = try StateFolder("keychain")
        let ids: [String]
        let foreign: Row
        do {
            let store = try folder.open()
            ids = try ["bank", "shop"]
                .map { try store.add($0, flags: .applicationPassword, password: "apple") }
            #expect(try store.read(ids[0], password: "apple") == "secret")
            foreign = try row(of: ids[1], in: store)
        }
        let envelope = hex(foreign.envelope)
        try folder.run("UPDATE items SET envelope = x'\(envelope)' WHERE id = x'\(ids[0])'")
        let store = try folder.open()
        expectRefusal(.decode) { _ = try store.read(ids[0], password: "apple") }
        #expect(try store.read(ids[1], password: "apple") == "secret")
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
