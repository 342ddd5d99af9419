import Foundation
import KeychainStore
import Sealing
import TestSupport
import Testing

@testable import AuthEngine

/// L18: A modified file never yields a secret that was not stored for that item.
@Suite("Tampering")
struct TamperTests {
    /// A closed keychain with items of two users.
    private struct Victim {
        let folder = Result { try StateFolder("keychain") }
        let ids: [String]
        let foreign: String

        init(count: Int = 3, foreign name: String = "0") throws {
            let store = try folder.get().open()
            ids = try (0..<count).map { try store.add("\($0)", "secret \($0)") }
            foreign = try store.add(name, "foreign", caller: .other)
        }

        /// Returns the result of reading each item.
        func readings() throws -> [Result<String, KeychainError>] {
            let store = try folder.get().open()
            return ids.map { id in
                do {
                    return .success(try store.read(id))
                } catch let error as KeychainError {
                    return .failure(error)
                } catch {
                    Issue.record(error)
                    return .success("")
                }
            }
        }

        /// Expects a refusal of the first item only, also among the other user's items.
        func expectFirstRefused(sourceLocation: SourceLocation = #_sourceLocation) throws {
            let readings = try readings()
            #expect(throws: KeychainError.self, sourceLocation: sourceLocation) {
                try readings[0].get()
            }
            if case .failure(let error) = readings[0] {
                #expect(error.code == .decode, sourceLocation: sourceLocation)
            }
            for (number, reading) in readings.enumerated().dropFirst() {
                #expect(try reading.get() == "secret \(number)", sourceLocation: sourceLocation)
            }
            #expect(
                try folder.get().open().read(foreign, caller: .other) == "foreign",
                sourceLocation: sourceLocation
            )
        }

        func cell(_ id: String) -> String { "id = x'\(id)'" }
    }

    @Test("A row with any edited column is refused with Decode, other rows are read")
    func editedColumns() throws {
        for column in ["record", "envelope", "primary_key", "code"] {
            let victim = try Victim()
            // Changes the last byte.
            try victim.folder.get()
                .run(
                    """
                    UPDATE items SET \(column) = CAST(substr(\(column), 1, length(\(column)) - 1) ||
                        CASE WHEN substr(\(column), -1) = x'00' THEN x'01' ELSE x'00' END AS BLOB)
                        WHERE \(victim.cell(victim.ids[0]))
                    """
                )
            try victim.expectFirstRefused()
        }
        let victim = try Victim()
        try victim.folder.get()
            .run("UPDATE items SET version = version + 1 WHERE \(victim.cell(victim.ids[0]))")
        try victim.expectFirstRefused()
    }

    @Test("L18: A row moved to another user or id is refused, also for that user")
    func editedOwner() throws {
        let id = String(repeating: "5a", count: 16)
        for (change, thief, stolen) in [
            ("uid = 1001", Caller.other, nil), ("id = x'\(id)'", .person, id),
            ("uid = 1001, id = x'\(id)'", .other, id),
        ] {
            let victim = try Victim(foreign: "another")
            try victim.folder.get()
                .run("UPDATE items SET \(change) WHERE \(victim.cell(victim.ids[0]))")
            expectRefusal(.decode) {
                _ = try victim.folder.get().open().read(stolen ?? victim.ids[0], caller: thief)
            }
            try victim.expectFirstRefused()
        }
    }

    @Test("A rolled-back row is refused with Decode")
    func rolledBack() throws {
        let victim = try Victim()
        try victim.folder.get()
            .run(
                "CREATE TABLE old AS SELECT * FROM items WHERE \(victim.cell(victim.ids[0]))"
            )
        try victim.folder.get().run("ALTER TABLE old RENAME TO kept")
        // An extra table would be detected, so keep the old row in another file.
        let old = try victim.folder.get().read("items.sqlite")
        try victim.folder.get().run("DROP TABLE kept")
        try victim.folder.get().open()
            .setSecret(
                of: victim.ids[0],
                to: SecretBytes("new"),
                password: nil,
                caller: .person,
                date: 1
            )
        try victim.folder.get().write(old, to: "old.sqlite")
        try victim.folder.get()
            .run(
                "ATTACH '\(try victim.folder.get().file("old.sqlite"))' AS old",
                "DELETE FROM items WHERE \(victim.cell(victim.ids[0]))",
                "INSERT INTO items SELECT * FROM old.kept"
            )
        try victim.expectFirstRefused()
    }

    @Test("A rolled-back row and ledger are refused, because the root differs")
    func rolledBackLedger() throws {
        let victim = try Victim()
        let folder = try victim.folder.get()
        try folder.write(folder.read("items.sqlite"), to: "old.sqlite")
        try folder.open().update(victim.ids[0], ["labl": .text("x")], caller: .person, date: 1)
        try victim.folder.get()
            .run(
                "ATTACH '\(folder.file("old.sqlite"))' AS old",
                "DELETE FROM items WHERE uid = 1000",
                "INSERT INTO items SELECT * FROM old.items WHERE uid = 1000",
                "DELETE FROM ledgers WHERE uid = 1000",
                "INSERT INTO ledgers SELECT * FROM old.ledgers WHERE uid = 1000"
            )
        #expect(folder.refusal()?.code == .decode)
    }

    @Test(
        "Rolled-back rows, ledger and pages are refused, because the ledger's code differs"
    )
    func rolledBackList() throws {
        let victim = try Victim()
        let folder = try victim.folder.get()
        try folder.write(folder.read("items.sqlite"), to: "old.sqlite")
        try folder.open().update(victim.ids[0], ["labl": .text("x")], caller: .person, date: 1)
        try victim.folder.get()
            .run(
                "ATTACH '\(folder.file("old.sqlite"))' AS old",
                "DELETE FROM items WHERE uid = 1000",
                "INSERT INTO items SELECT * FROM old.items WHERE uid = 1000",
                "DELETE FROM pages WHERE uid = 1000",
                "INSERT INTO pages SELECT * FROM old.pages WHERE uid = 1000",
                """
                UPDATE ledgers SET ledger = (SELECT ledger FROM old.ledgers WHERE uid = 1000)
                    WHERE uid = 1000
                """
            )
        for reading in try victim.readings() { expectRefusal(.decode) { _ = try reading.get() } }
        #expect(try folder.open().read(victim.foreign, caller: .other) == "foreign")
    }

    @Test("A database restored as a whole is refused until its anchor is removed")
    func rolledBackDatabase() throws {
        let victim = try Victim()
        let folder = try victim.folder.get()
        let old = try folder.read("items.sqlite")
        #expect(try folder.open().delete([victim.ids[0]], caller: .person).count == 1)
        let new = try folder.read("items.sqlite")
        try folder.write(old, to: "items.sqlite")
        let refusal = folder.refusal()
        #expect(refusal?.code == .decode)
        #expect(refusal?.message.contains(folder.file("anchor")) == true)
        try folder.remove("anchor")
        #expect(try folder.open().read(victim.ids[0]) == "secret 0")
        // Opening a keychain without an anchor creates the anchor, even without changes.
        try folder.remove("anchor")
        try folder.write(new, to: "items.sqlite")
        _ = try folder.open()
        try folder.write(old, to: "items.sqlite")
        #expect(folder.refusal()?.code == .decode)
    }

    @Test("A row deleted in the file is Decode, not NotFound")
    func deleted() throws {
        let victim = try Victim()
        try victim.folder.get().run("DELETE FROM items WHERE \(victim.cell(victim.ids[0]))")
        try victim.expectFirstRefused()
    }

    @Test("A row copied from another user is refused")
    func copiedBetweenUsers() throws {
        let victim = try Victim()
        try victim.folder.get()
            .run(
                """
                INSERT INTO items SELECT 1000, id, version, x'00', record, envelope, code FROM items
                    WHERE uid = 1001
                """
            )
        let store = try victim.folder.get().open()
        expectRefusal(.decode) { _ = try store.read(victim.foreign) }
        #expect(try store.read(victim.ids[0]) == "secret 0")
        // The copied row belongs to no user, and can be deleted.
        #expect(try store.delete([victim.foreign], caller: .person).count == 1)
        expectRefusal(.notFound) { _ = try store.read(victim.foreign) }
        #expect(try store.read(victim.foreign, caller: .other) == "foreign")
    }

    @Test("Both items with swapped rows, secrets or records are refused")
    func swapped() throws {
        for columns in [
            "version,primary_key,record,envelope,code", "record,envelope", "envelope", "record",
            "envelope,code",
        ] {
            let victim = try Victim()
            let names = columns.split(separator: ",").map(String.init)
            let (first, second) = (victim.cell(victim.ids[0]), victim.cell(victim.ids[1]))
            let set = names.map { "\($0) = (SELECT \($0) FROM other)" }.joined(separator: ", ")
            let spare = names.map { "\($0) = (SELECT \($0) FROM spare)" }.joined(separator: ", ")
            try victim.folder.get()
                .run(
                    "DROP TABLE IF EXISTS spare",
                    "CREATE TABLE spare AS SELECT * FROM items WHERE \(first)",
                    "CREATE TABLE other AS SELECT * FROM items WHERE \(second)",
                    "UPDATE items SET primary_key = x'01' WHERE \(second)",
                    "UPDATE items SET \(set) WHERE \(first)",
                    "UPDATE items SET primary_key = (SELECT primary_key FROM other) WHERE \(second)"
                        + (names.contains("primary_key") ? " AND 0" : ""),
                    "UPDATE items SET \(spare) WHERE \(second)",
                    "DROP TABLE spare",
                    "DROP TABLE other"
                )
            let readings = try victim.readings()
            for reading in readings.prefix(2) {
                expectRefusal(.decode) { _ = try reading.get() }
            }
            #expect(try readings[2].get() == "secret 2")
        }
    }

    @Test("A user with an edited ledger is refused, other users are not")
    func editedLedger() throws {
        let victim = try Victim()
        try victim.folder.get()
            .run(
                "UPDATE ledgers SET ledger = CAST(ledger || x'00' AS BLOB) WHERE uid = 1000"
            )
        let store = try victim.folder.get().open()
        for id in victim.ids { expectRefusal(.decode) { _ = try store.read(id) } }
        expectRefusal(.decode) { _ = try store.find() }
        expectRefusal(.decode) { try store.add("new") }
        expectRefusal(.decode) { _ = try store.delete(victim.ids, caller: .person) }
        #expect(try store.read(victim.foreign, caller: .other) == "foreign")
    }

    @Test("An edited, removed, moved or rolled-back page of a ledger is refused")
    func editedPages() throws {
        for statements in [
            ["UPDATE pages SET entries = CAST(substr(entries, 1, 32) AS BLOB) WHERE uid = 1000"],
            ["UPDATE pages SET entries = zeroblob(length(entries)) WHERE uid = 1000"],
            ["UPDATE pages SET entries = x'' WHERE uid = 1000"],
            ["DELETE FROM pages WHERE uid = 1000"],
            ["UPDATE pages SET number = number + 1 WHERE uid = 1000"],
            [
                "DELETE FROM pages WHERE uid = 1000",
                "INSERT INTO pages SELECT 1000, number, code, entries FROM pages WHERE uid = 1001",
            ],
            [
                "ATTACH 'OLD' AS old", "DELETE FROM pages WHERE uid = 1000",
                "INSERT INTO pages SELECT * FROM old.pages WHERE uid = 1000",
            ],
        ] {
            let victim = try Victim()
            let folder = try victim.folder.get()
            try folder.write(folder.read("items.sqlite"), to: "old.sqlite")
            try folder.open().update(victim.ids[0], ["labl": .text("x")], caller: .person, date: 1)
            let old = folder.file("old.sqlite")
            try folder.run(
                statements.joined(separator: ";").replacingOccurrences(of: "OLD", with: old)
            )
            let store = try folder.open()
            for id in victim.ids { expectRefusal(.decode) { _ = try store.read(id) } }
            expectRefusal(.decode) { _ = try store.find() }
            expectRefusal(.decode) { _ = try store.find(["svce": .text("0")]) }
            expectRefusal(.decode) { _ = try store.find(["svce": .text("nothing")]) }
            expectRefusal(.decode) { try store.add("0") }
            #expect(try store.read(victim.foreign, caller: .other) == "foreign")
        }
    }

    @Test("An index out of order never returns one item for another")
    func misplacedEntry() throws {
        let victim = try Victim(count: 8)
        let folder = try victim.folder.get()
        let (sound, anchor) = (try folder.read("items.sqlite"), try folder.read("anchor"))
        for id in victim.ids {
            // An index entry: the user, the id, and the place of the row.
            let bytes = stride(from: 0, to: 32, by: 2)
                .map { UInt8(id.dropFirst($0).prefix(2), radix: 16) ?? 0 }
            let entry: [UInt8] = [0x03, 0xe8] + bytes
            let places = sound.indices.filter { sound[$0...].starts(with: entry) }
            #expect(!places.isEmpty)
            for place in places {
                for user in [UInt8(0), 0x7f] {
                    var changed = sound
                    changed[place] = user
                    try folder.write(changed, to: "items.sqlite")
                    try folder.write(anchor, to: "anchor")
                    expectSound(victim, folder, place)
                }
            }
        }
    }

    @Test("A ledger with a wrong code, or a wrong root, makes the keychain unusable")
    func editedRoot() throws {
        for statement in [
            "UPDATE ledgers SET code = zeroblob(32) WHERE uid = 1000",
            "DELETE FROM ledgers WHERE uid = 1000",
            "INSERT INTO ledgers VALUES (5, zeroblob(32), x'')",
            "UPDATE meta SET value = zeroblob(44) WHERE name = 'root'",
            "UPDATE meta SET value = x'' WHERE name = 'root'",
            "DELETE FROM meta WHERE name = 'root'",
            "DELETE FROM meta WHERE name = 'identity'", "DELETE FROM meta WHERE name = 'verifier'",
            "DELETE FROM meta WHERE name IN ('verifier', 'root')",
        ] {
            let victim = try Victim()
            try victim.folder.get().run(statement)
            #expect(try victim.folder.get().refusal()?.code == .decode, "\(statement)")
        }
    }

    @Test("An empty code is never accepted: for a row, a page, the root or the master key")
    func emptyCode() throws {
        let row = try Victim()
        try row.folder.get().run("UPDATE items SET code = x'' WHERE \(row.cell(row.ids[0]))")
        try row.expectFirstRefused()
        let page = try Victim()
        try page.folder.get().run("UPDATE pages SET code = x'' WHERE uid = 1000")
        for reading in try page.readings() { expectRefusal(.decode) { _ = try reading.get() } }
        for (change, code) in [
            // The number of the last change, then the length of the code.
            (
                "CAST(substr(value, 1, 8) || x'00000000' AS BLOB) WHERE name = 'root'",
                KeychainError.Code.decode
            ), ("x'' WHERE name = 'verifier'", .notAvailable),
        ] {
            let folder = try Victim().folder.get()
            try folder.run("UPDATE meta SET value = \(change)")
            #expect(folder.refusal()?.code == code, "\(change)")
        }
    }

    @Test("A modified item can be deleted, but not by a sandboxed app")
    func deletion() throws {
        let victim = try Victim()
        try victim.folder.get()
            .run("UPDATE items SET record = x'01' WHERE \(victim.cell(victim.ids[0]))")
        let store = try victim.folder.get().open()
        let app = Caller(uid: 1000, app: "a", enrolment: .first)
        #expect(try store.delete([victim.ids[0]], caller: app).isEmpty)
        #expect(try store.delete([victim.ids[0]], caller: .person) == [victim.ids[0]])
    }

    @Test("A search omits modified items, but never returns an empty result because of them")
    func search() throws {
        let victim = try Victim(count: 2)
        try victim.folder.get()
            .run("UPDATE items SET record = x'01' WHERE \(victim.cell(victim.ids[0]))")
        let store = try victim.folder.get().open()
        #expect(try store.find().map(\.id) == [victim.ids[1]])
        expectRefusal(.decode) { _ = try store.find(["svce": .text("0")]) }
        expectRefusal(.duplicate) { try store.add("0") }
        #expect(try store.delete([victim.ids[0]], caller: .person).count == 1)
        try store.add("0")
        #expect(try store.find(["svce": .text("0")]).count == 1)
    }

    @Test("A file with any byte changed gives the stored data or a clear refusal")
    func everyByte() throws {
        var random = SeededGenerator()
        let victim = try Victim()
        let folder = try victim.folder.get()
        let (sound, anchor) = (try folder.read("items.sqlite"), try folder.read("anchor"))
        // Nightly runs change every byte; other runs change random places.
        let isNightly = ProcessInfo.processInfo.environment["LA_NIGHTLY"] != nil
        let places =
            isNightly
            ? Array(sound.indices)
            : (0..<250).map { _ in Int.random(in: sound.indices, using: &random) }
        for place in places {
            var bytes = sound
            bytes[place] ^= UInt8.random(in: 1...255, using: &random)
            try folder.write(bytes, to: "items.sqlite")
            try folder.write(anchor, to: "anchor")
            expectSound(victim, folder, place)
            for name in folder.files where name.contains("damaged") { try folder.remove(name) }
        }
    }

    private func expectSound(_ victim: Victim, _ folder: StateFolder, _ place: Int) {
        do {
            let store = try folder.open()
            let wasLost = store.setAside != nil
            for (number, id) in victim.ids.enumerated() {
                do {
                    let text = try store.read(id)
                    #expect(text == "secret \(number)", "\(place)")
                } catch let error as KeychainError {
                    #expect(error.code == .decode || wasLost, "\(place): \(error)")
                }
            }
        } catch let error as KeychainError {
            #expect([.decode, .notAvailable].contains(error.code), "\(place): \(error)")
        } catch {
            Issue.record(error)
        }
    }

    @Test("L17: A file that is no database is set aside, and the keychain starts empty")
    func setAside() throws {
        let victim = try Victim()
        let folder = try victim.folder.get()
        let rubbish = [UInt8](repeating: 0x55, count: 9000)
        try folder.write(rubbish, to: "items.sqlite")
        do {
            let store = try folder.open()
            #expect(store.setAside == folder.file("items.sqlite.damaged-1"))
            let refusal = expectRefusal(.notFound) { _ = try store.read(victim.ids[0]) }
            #expect(refusal?.message.contains("damaged or lost") == true)
            try store.add("0")
        }
        #expect(try folder.read("items.sqlite.damaged-1") == rubbish)
        #expect(try folder.open().setAside == nil)
    }
}
