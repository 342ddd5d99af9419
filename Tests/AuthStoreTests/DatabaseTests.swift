import Testing

@testable import AuthStore

struct DatabaseTests {
    private func database(_ folder: StateFolder) throws -> Database {
        try PrivateDirectory.makePrivateFile(folder.file("test.sqlite"))
        let lock = try PrivateDirectory(path: folder.path).lock()
        return try Database(path: folder.file("test.sqlite"), holding: lock)
    }

    @Test("A transaction that meets a full disk is undone and says full; later ones work")
    func full() throws {
        let folder = try StateFolder()
        let database = try database(folder)
        try database.run("CREATE TABLE t (x TEXT) STRICT")
        try database.run("PRAGMA max_page_count = 4")
        let error = #expect(throws: StoreError.self) {
            try database.transaction { () throws(StoreError) in
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
        try database.transaction { () throws(StoreError) in
            try database.run("INSERT INTO t VALUES ('y')")
        }
        #expect(try database.integer("SELECT count(*) FROM t") == 1)
    }

    @Test("A transaction whose body fails is undone; later ones work")
    func undone() throws {
        let folder = try StateFolder()
        let database = try database(folder)
        try database.run("CREATE TABLE t (x TEXT UNIQUE) STRICT")
        #expect(throws: StoreError.self) {
            try database.transaction { () throws(StoreError) in
                try database.run("INSERT INTO t VALUES ('y')")
                try database.run("INSERT INTO t VALUES ('y')")
            }
        }
        #expect(try database.integer("SELECT count(*) FROM t") == 0)
        try database.transaction { () throws(StoreError) in
            try database.run("INSERT INTO t VALUES ('y')")
        }
        #expect(try database.integer("SELECT count(*) FROM t") == 1)
    }

    @Test("L17: the store's database writes a log first and waits for the disk")
    func durability() throws {
        let folder = try StateFolder()
        let directory = try PrivateDirectory(path: folder.path)
        let database = try AuthStore.openDatabase(in: directory, lock: directory.lock())
        var mode: String?
        try database.run("PRAGMA journal_mode") { row throws(StoreError) in
            mode = try row.text(0)
        }
        #expect(mode == "wal")
        // FULL
        #expect(try database.integer("PRAGMA synchronous") == 2)
    }

    @Test("A value of another type than expected is damage, and values keep every byte")
    func types() throws {
        let folder = try StateFolder()
        let database = try database(folder)
        try database.run(
            "SELECT ?, ?, ?, ?, ?",
            [.integer(.min), .text("a\0b"), .blob([0, 255]), .null, .blob([])]
        ) { row throws(StoreError) in
            // The row can't be copied, so it can't go into an expectation.
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
                do throws(StoreError) {
                    _ = try row.integer(column)
                    Issue.record("column \(column) is no number")
                } catch {
                    #expect(error.code == .damaged)
                }
            }
        }
    }

    @Test("SQL that fails says why")
    func failure() throws {
        let folder = try StateFolder()
        let database = try database(folder)
        let error = #expect(throws: StoreError.self) { try database.run("SELECT * FROM absent") }
        #expect(error?.message == "The database failed: no such table: absent.")
    }
}
