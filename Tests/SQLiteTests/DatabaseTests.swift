import Foundation
import Linux
import SQLite
import Testing

/// A database in a directory of its own, which is removed with the suite.
final class DatabaseTests {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "localauth-sqlite-\(UUID().uuidString)").path
    private let database: Database

    init() throws {
        let directory = try PrivateDirectory(folder)
        let path = directory.file("test.sqlite")
        try PrivateFile.make(path)
        database = try Database(path: path, holding: directory.lock())
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    @Test("A transaction on a full disk is undone and reports full; later transactions work")
    func full() throws {
        try database.run("CREATE TABLE t (x TEXT) STRICT")
        try database.run("PRAGMA max_page_count = 4")
        let error = #expect(throws: SystemError.self) {
            try database.transaction { () throws(SystemError) in
                for _ in 0..<100 {
                    try database.run(
                        "INSERT INTO t VALUES (?)",
                        [.text(String(repeating: "x", count: 1000))]
                    )
                }
            }
        }
        #expect(error?.code == .full)
        #expect(try database.integer("SELECT count(*) FROM t") == 0)
        try database.run("PRAGMA max_page_count = 100")
        try database.transaction { () throws(SystemError) in
            try database.run("INSERT INTO t VALUES ('y')")
        }
        #expect(try database.integer("SELECT count(*) FROM t") == 1)
    }

    @Test("A repeated statement finds current rows, even within itself")
    func again() throws {
        try database.run("CREATE TABLE t (x INTEGER UNIQUE) STRICT")
        let insert = "INSERT INTO t VALUES (?)"
        for number in 1...3 as ClosedRange<Int64> { try database.run(insert, [.integer(number)]) }
        // A second run keeps no bindings.
        try database.run(insert)
        #expect(try database.integer("SELECT count(*) FROM t WHERE x IS NULL") == 1)
        #expect(throws: SystemError.self) { try database.run(insert, [.integer(3)]) }
        try database.run(insert, [.integer(4)])
        let larger = "SELECT x FROM t WHERE x > ? ORDER BY x"
        var pairs: [[Int64]] = []
        try database.run(larger, [.integer(2)]) { outer throws(SystemError) in
            let first = try outer.integer(0)
            try database.run(larger, [.integer(first)]) { inner throws(SystemError) in
                pairs.append([first, try inner.integer(0)])
            }
        }
        #expect(pairs == [[3, 4]])
        // Finished statements do not lock the tables.
        try database.run("ALTER TABLE t RENAME COLUMN x TO y")
        #expect(throws: SystemError.self) { try database.run(larger, [.integer(0)]) }
        try database.run("DROP TABLE t")
        try database.run("CREATE TABLE t (x INTEGER, z TEXT) STRICT")
        try database.run("INSERT INTO t VALUES (7, 'new')")
        var found: [Int64] = []
        try database.run(larger, [.integer(0)]) { row throws(SystemError) in
            found.append(try row.integer(0))
        }
        #expect(found == [7])
    }

    @Test("A failed transaction is undone; later transactions work")
    func undone() throws {
        try database.run("CREATE TABLE t (x TEXT UNIQUE) STRICT")
        #expect(throws: SystemError.self) {
            try database.transaction { () throws(SystemError) in
                try database.run("INSERT INTO t VALUES ('y')")
                try database.run("INSERT INTO t VALUES ('y')")
            }
        }
        #expect(try database.integer("SELECT count(*) FROM t") == 0)
        try database.transaction { () throws(SystemError) in
            try database.run("INSERT INTO t VALUES ('y')")
        }
        #expect(try database.integer("SELECT count(*) FROM t") == 1)
    }

    @Test("A value of an unexpected type is damage, and values keep every byte")
    func types() throws {
        try database.run(
            "SELECT ?, ?, ?, ?, ?",
            [.integer(.min), .text("a\0b"), .blob([0, 255]), .null, .blob([])]
        ) { row throws(SystemError) in
            // The row cannot be copied, so it cannot go into an expectation.
            let number = try row.integer(0)
            let text = try row.text(1)
            let (bytes, nothing) = try (row.blob(2), row.blob(4))
            let isNull = row.isNull(3)
            #expect(number == .min)
            #expect(text == "a\0b")
            #expect(bytes == [0, 255])
            #expect(nothing == [])
            #expect(isNull)
            for column in 1...4 as ClosedRange<Int32> {
                do throws(SystemError) {
                    _ = try row.integer(column)
                    Issue.record("column \(column) is no number")
                } catch {
                    #expect(error.code == .damaged)
                }
            }
        }
    }

    @Test("Failed SQL reports its cause")
    func failure() throws {
        let error = #expect(throws: SystemError.self) { try database.run("SELECT * FROM absent") }
        #expect(error?.message == "The database failed: no such table: absent.")
    }
}
