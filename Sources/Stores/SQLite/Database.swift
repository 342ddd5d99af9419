import CSQLite
package import Linux

/// One connection to SQLite, used by one thread at a time.
package final class Database {
    /// What a statement takes and gives.
    package enum Value: Hashable {
        case null
        case integer(Int64)
        case text(String)
        case blob([UInt8])
    }

    package let path: String
    // SQLite hands out an opaque pointer; it is freed in deinit, and nothing else keeps it.
    private let handle: OpaquePointer
    // Released after the connection is closed.
    private let lock: DirectoryLock
    /// Prepared statements that don't run, by their text.
    ///
    /// To prepare one takes longer than to look a row up.
    // They are SQLite's; each is finalized here, and nothing else keeps them.
    private var idle: [String: OpaquePointer] = [:]

    /// More statements than there are in the sources.
    private static let mostIdle = 64

    /// Opens a file that exists already.
    package init(path: String, holding lock: DirectoryLock) throws(SystemError) {
        self.path = path
        self.lock = lock
        // See `handle`.
        var handle: OpaquePointer?
        // No mutex: after opening, only one thread uses the connection.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let result = sqlite3_open_v2(path, &handle, flags, nil)
        guard result == SQLITE_OK, let handle else {
            sqlite3_close(handle)
            throw SystemError(sqlite: result, String(cString: sqlite3_errstr(result)), path: path)
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        _ = csqlite_set_defensive(handle)
        // A locked file belongs to a running process, so waiting would not help.
        sqlite3_busy_timeout(handle, 0)
    }

    deinit {
        for statement in idle.values { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    /// Leaves the file and its log as they are when this is closed.
    package func keepLogAtClose() {
        _ = csqlite_keep_log_at_close(handle)
    }

    /// Runs one statement and calls `row` for every row of its result.
    package func run(
        _ sql: String,
        _ values: [Value] = [],
        row: (borrowing Statement) throws(SystemError) -> Void = { _ in }
    ) throws(SystemError) {
        let prepared = try take(sql)
        var isSound = false
        defer { putAway(prepared, sql, isSound) }
        let statement = Statement(prepared, on: handle, path: path)
        try statement.bind(values)
        while try statement.step() {
            try row(statement)
        }
        isSound = true
    }

    /// A prepared statement that nobody uses.
    private func take(_ sql: String) throws(SystemError) -> OpaquePointer {
        if let prepared = idle.removeValue(forKey: sql) { return prepared }
        // See `idle`.
        var prepared: OpaquePointer?
        let flags = Self.isKept(sql) ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let result = sqlite3_prepare_v3(handle, sql, -1, flags, &prepared, nil)
        guard result == SQLITE_OK, let prepared else {
            throw SystemError(sqlite: result, String(cString: sqlite3_errmsg(handle)), path: path)
        }
        return prepared
    }

    /// Ends the run of a statement, which holds no lock and none of its values any more.
    private func putAway(_ prepared: OpaquePointer, _ sql: String, _ isSound: Bool) {
        guard isSound, Self.isKept(sql), idle.count < Self.mostIdle, idle[sql] == nil else {
            sqlite3_finalize(prepared)
            return
        }
        sqlite3_reset(prepared)
        sqlite3_clear_bindings(prepared)
        idle[sql] = prepared
    }

    /// Whether a statement does its work each time it runs: a PRAGMA may when it is prepared, and
    /// what changes tables runs once.
    private static func isKept(_ sql: String) -> Bool { kept.contains { sql.hasPrefix($0) } }

    private static let kept = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "BEGIN ", "COMMIT"]

    /// The first value of the first row.
    package func integer(_ sql: String) throws(SystemError) -> Int64 {
        var first: Int64?
        try run(sql) { row throws(SystemError) in
            guard first == nil else { return }
            first = try row.integer(0)
        }
        guard let first else {
            throw SystemError(.damaged, "The database gave no answer to \(sql).", path: path)
        }
        return first
    }

    /// Runs the body in one transaction: all of it is on the disk afterwards, or nothing.
    package func transaction(_ body: () throws(SystemError) -> Void) throws(SystemError) {
        try run("BEGIN IMMEDIATE")
        do throws(SystemError) {
            try body()
        } catch {
            rollBack()
            throw error
        }
        do throws(SystemError) {
            try run("COMMIT")
        } catch {
            rollBack()
            takeOutOfLog()
            throw error
        }
    }

    private func rollBack() {
        // After some errors SQLite has rolled back already.
        if sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
    }

    /// Writes over what a commit that failed has left in the log.
    ///
    /// If only the disk's confirmation is missing, all of it stands there: who opens the database
    /// after a kill would find it done.
    private func takeOutOfLog() {
        do throws(SystemError) {
            try run("BEGIN IMMEDIATE")
            // A change that changes nothing.
            try run("PRAGMA user_version = \(integer("PRAGMA user_version"))")
            try run("COMMIT")
        } catch {
            rollBack()
        }
    }
}

/// One prepared statement, while it runs.
package struct Statement: ~Copyable {
    private let path: String
    // Both belong to SQLite, and are `Database`'s: they outlive this.
    private let database: OpaquePointer
    private let handle: OpaquePointer

    // The pointers are `Database`'s, only for as long as this statement.
    fileprivate init(
        _ handle: OpaquePointer,
        on database: OpaquePointer,
        path: String
    ) {
        self.path = path
        self.database = database
        self.handle = handle
    }

    fileprivate func bind(_ values: [Database.Value]) throws(SystemError) {
        for (index, value) in zip(Int32(1)..., values) {
            let result =
                switch value {
                case .null:
                    sqlite3_bind_null(handle, index)
                case .integer(let number):
                    sqlite3_bind_int64(handle, index, number)
                case .text(let text):
                    // The length counts, so that a NUL in the text is kept.
                    sqlite3_bind_text64(
                        handle,
                        index,
                        text,
                        UInt64(text.utf8.count),
                        csqlite_transient(),
                        UInt8(SQLITE_UTF8)
                    )
                case .blob(let bytes):
                    sqlite3_bind_blob64(
                        handle,
                        index,
                        bytes,
                        UInt64(bytes.count),
                        csqlite_transient()
                    )
                }
            guard result == SQLITE_OK else { throw failure(result) }
        }
    }

    /// Whether there is another row.
    fileprivate func step() throws(SystemError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        case let result: throw failure(result)
        }
    }

    /// A number; anything else in that column is damage.
    package func integer(_ column: Int32) throws(SystemError) -> Int64 {
        try expect(SQLITE_INTEGER, in: column)
        return sqlite3_column_int64(handle, column)
    }

    /// A text; anything else in that column is damage.
    package func text(_ column: Int32) throws(SystemError) -> String {
        try expect(SQLITE_TEXT, in: column)
        guard let text = String(validating: content(of: column), as: UTF8.self) else {
            throw SystemError(.damaged, "A text of the database is not UTF-8.", path: path)
        }
        return text
    }

    /// Bytes; anything else in that column is damage.
    package func blob(_ column: Int32) throws(SystemError) -> [UInt8] {
        try expect(SQLITE_BLOB, in: column)
        return content(of: column)
    }

    /// Whether the column has no value.
    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    private func content(of column: Int32) -> [UInt8] {
        // Nil for an empty value; valid until the next step, so it is copied at once.
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(sqlite3_column_bytes(handle, column))
        // Same memory, with its length.
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    private func expect(_ type: Int32, in column: Int32) throws(SystemError) {
        guard sqlite3_column_type(handle, column) == type else {
            throw SystemError(.damaged, "A value of the database has another type.", path: path)
        }
    }

    private func failure(_ result: Int32) -> SystemError {
        SystemError(sqlite: result, String(cString: sqlite3_errmsg(database)), path: path)
    }
}
