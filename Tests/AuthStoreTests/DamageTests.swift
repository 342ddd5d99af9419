import AuthEngine
import Contract
import Foundation
import Linux
import SQLite
import TestSupport
import Testing

@testable import AuthStore

/// L17: A damaged database is set aside, never silently replaced.
struct DamageTests {
    /// Returns a closed directory with one record.
    private func usedFolder() async throws -> StateFolder {
        let folder = try StateFolder()
        let (store, _) = try folder.open()
        var record = UserRecord()
        record.misses = 4
        #expect(await store.save(record, uid: 1) == nil)
        for uid in 2...200 as ClosedRange<UInt32> {
            var enrolment = Enrolment()
            _ = enrolment.update(sensor: "A", ids: ["\(uid)", String(repeating: "x", count: 200)])
            #expect(await store.save(enrolment, uid: uid) == nil)
        }
        store.close()
        return folder
    }

    private func expectSetAside(_ folder: StateFolder, number: Int = 1) throws {
        let before = try folder.read("state.sqlite")
        let state = try folder.state()
        let name = "state.sqlite.damaged-\(number)"
        #expect(state.setAside == folder.file(name))
        #expect(state.damaged)
        #expect(state.records.isEmpty)
        #expect(try folder.read(name) == before)
    }

    @Test(
        "L17: A file that is no database is set aside unchanged",
        arguments: [2, 100, 511, 8192, 70000]
    )
    func garbage(size: Int) throws {
        let folder = try StateFolder()
        try folder.write(Array(repeating: 0x41, count: size), to: "state.sqlite")
        try expectSetAside(folder)
    }

    @Test("L17: A database with a damaged page is set aside")
    func damagedPage() async throws {
        let folder = try await usedFolder()
        var bytes = try folder.read("state.sqlite")
        for index in 4096..<min(bytes.count, 20000) {
            bytes[index] = 0xFF
        }
        try folder.write(bytes, to: "state.sqlite")
        try expectSetAside(folder)
    }

    @Test(
        "A database with a wrong list of free pages is set aside, even if its rows are readable"
    )
    func damagedHeader() async throws {
        let folder = try await usedFolder()
        var bytes = try folder.read("state.sqlite")
        // The number of free pages.
        bytes[39] = 5
        try folder.write(bytes, to: "state.sqlite")
        try expectSetAside(folder)
    }

    @Test("A truncated database is set aside")
    func cut() async throws {
        let folder = try await usedFolder()
        let bytes = try folder.read("state.sqlite")
        try folder.write(bytes.prefix(bytes.count / 2), to: "state.sqlite")
        try expectSetAside(folder)
    }

    @Test(
        "A database with unexpected tables is set aside",
        arguments: [
            "DROP TABLE users", "DROP TABLE meta", "DELETE FROM meta", "DROP TABLE templates",
            "CREATE TRIGGER t AFTER INSERT ON users BEGIN DELETE FROM users; END",
            "ALTER TABLE users ADD COLUMN more TEXT", "CREATE INDEX i ON users (failures)",
            "PRAGMA user_version = 0",
            "PRAGMA user_version = -3",
            "INSERT INTO users VALUES (-1, 0, NULL, 0, NULL, NULL, NULL, '')",
            "INSERT INTO users VALUES (5000000000, 0, NULL, 0, NULL, NULL, NULL, '')",
            "INSERT INTO users VALUES (5, -1, NULL, 0, NULL, NULL, NULL, '')",
            "INSERT INTO users VALUES (5, 0, NULL, 0, 12, NULL, NULL, CAST(x'FF' AS TEXT))",
            "INSERT INTO users VALUES (5, 0, CAST(x'FF' AS TEXT), 0, NULL, NULL, NULL, '')",
            "INSERT INTO templates VALUES (777, 'A', '1')",
            "INSERT INTO enrolments VALUES (500, -1, 0)",
            "UPDATE meta SET value = x'00' WHERE name = 'identity'",
        ]
    )
    func nonsense(sql: String) async throws {
        let folder = try await usedFolder()
        try folder.tamper(sql)
        let (setAside, damaged) = try { ($0.setAside, $0.damaged) }(folder.state())
        #expect(setAside == folder.file("state.sqlite.damaged-1"))
        #expect(damaged)
    }

    @Test("L17: Damage is remembered, and every affected user needs a password first")
    func remembered() async throws {
        let folder = try await usedFolder()
        try folder.write(Array("garbage".utf8), to: "state.sqlite")
        let (store, first) = try folder.open()
        #expect(first.record(of: 1).passcodeCause == PasscodeCause(.damaged))
        #expect(first.record(of: 2).passcodeCause == PasscodeCause(.damaged))
        // User 1 gives the password.
        #expect(await store.save(UserRecord(), uid: 1) == nil)
        store.close()
        for _ in 0..<2 {
            let later = try folder.state()
            #expect(later.setAside == nil)
            #expect(later.damaged)
            #expect(later.record(of: 1) == UserRecord())
            #expect(later.record(of: 2).passcodeCause == PasscodeCause(.damaged))
        }
    }

    @Test("L17: A second damaged database does not replace the first")
    func twice() throws {
        let folder = try StateFolder()
        for number in 1...3 {
            try folder.write(Array("garbage \(number)".utf8), to: "state.sqlite")
            try expectSetAside(folder, number: number)
        }
        #expect(try folder.read("state.sqlite.damaged-2") == Array("garbage 2".utf8))
    }

    @Test("The log of a damaged database is set aside with it")
    func log() throws {
        let folder = try StateFolder()
        try folder.write(Array("garbage".utf8), to: "state.sqlite")
        try folder.write(Array("log".utf8), to: "state.sqlite-wal")
        try expectSetAside(folder)
        #expect(try folder.read("state.sqlite.damaged-1-wal") == Array("log".utf8))
    }

    @Test("L17: The log of an empty or missing database is set aside, too")
    func logAlone() throws {
        for content in [[UInt8](), nil] {
            let folder = try StateFolder()
            if let content { try folder.write(content, to: "state.sqlite") }
            try folder.write(Array("log".utf8), to: "state.sqlite-wal")
            let state = try folder.state()
            #expect(state.setAside == folder.file("state.sqlite.damaged-1"))
            #expect(state.damaged)
            #expect(try folder.read("state.sqlite.damaged-1-wal") == Array("log".utf8))
        }
    }

    @Test("L17: A database that is missing or empty after use counts as damage")
    func missing() async throws {
        for content in [nil, [UInt8]()] {
            let folder = try await usedFolder()
            try FileManager.default.removeItem(atPath: folder.file("state.sqlite"))
            if let content { try folder.write(content, to: "state.sqlite") }
            let state = try folder.state()
            #expect(state.damaged)
            #expect(state.setAside == nil)
        }
    }

    @Test("L17: A start killed after setting aside still reports damage")
    func halfSetAside() throws {
        let folder = try StateFolder()
        try folder.write(Array("garbage".utf8), to: "state.sqlite.damaged-1")
        #expect(try folder.state().damaged)
    }

    @Test("An intact directory is undamaged at every start")
    func undamaged() async throws {
        let folder = try await usedFolder()
        for _ in 0..<3 {
            let state = try folder.state()
            #expect(!state.damaged)
            #expect(state.record(of: 99) == UserRecord())
        }
    }

    @Test("A newer database is refused and left alone")
    func newer() async throws {
        let folder = try await usedFolder()
        try folder.tamper("PRAGMA user_version = 3")
        let before = try folder.read("state.sqlite")
        let error = folder.refusal()
        #expect(error?.code == .foreign)
        #expect(
            error?.description == folder.file("state.sqlite")
                + ": The database has format 3, this version knows none above 2: "
                + "use the newer version that wrote it."
        )
        #expect(try folder.read("state.sqlite") == before)
    }

    @Test("Another program's database is refused and left alone")
    func foreign() throws {
        for sql in ["PRAGMA application_id = 99", "CREATE TABLE notes (text)"] {
            let folder = try StateFolder()
            try folder.tamper(sql)
            try folder.setMode(0o600, of: "state.sqlite")
            let before = try folder.read("state.sqlite")
            #expect(folder.refusal()?.code == .foreign)
            #expect(folder.refusal()?.message == "This is another program's database.")
            #expect(try folder.read("state.sqlite") == before)
        }
    }
}
