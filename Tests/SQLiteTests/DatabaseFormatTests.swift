import Foundation
import Linux
import SQLite
import Testing

/// Opens a database in a directory of its own, which is removed with the suite.
final class DatabaseFormatTests {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "localauth-sqlite-\(UUID().uuidString)").path

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    @Test("An open database is locked exclusively, and its schema runs no unsafe function")
    func modes() throws {
        let directory = try PrivateDirectory(folder)
        let format = DatabaseFormat(
            applicationID: 7,
            version: 1,
            tables: ["CREATE TABLE t (x INTEGER) STRICT"]
        )
        // A new database, then an existing database.
        for _ in 1...2 {
            let database = try format.open(
                in: DatabaseFolder(directory, database: "test.sqlite", key: "test.key"),
                lock: directory.lock(),
                fill: { _, _ in },
                check: { _ in }
            )
            var mode: String?
            try database.run("PRAGMA locking_mode") { row throws(SystemError) in
                mode = try row.text(0)
            }
            #expect(mode == "exclusive")
            #expect(try database.integer("PRAGMA trusted_schema") == 0)
            try database.run("INSERT INTO t VALUES (1)")
            // Without shared memory, no other process can use the log.
            let files = try directory.names()
            #expect(files.contains("test.sqlite-wal") && !files.contains("test.sqlite-shm"))
        }
    }
}
