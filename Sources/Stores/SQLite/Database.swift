import CSQLite
package import Linux

/// A connection to SQLite, for use by one thread at a time.
package final class Database {
    package enum Value: Hashable {
        case null
        case integer(Int64)
        case text(String)
        case blob([UInt8])
    }

    package let path: String
    // SAFETY: `init` opens this connection, `deinit` closes it, and no other object keeps it.
    private let handle: OpaquePointer
    // ARC releases the lock after `deinit` has closed the connection.
    private let lock: DirectoryLock
    /// Idle prepared statements by their text.
    ///
    /// Preparing a statement takes longer than looking up a row.
    // SAFETY: Each statement belongs to this connection. `putAway` or `deinit` finalizes it, and
    // no other object keeps it.
    private var idle: [String: OpaquePointer] = [:]

    /// More than the number of statements in the sources.
    private static let mostIdle = 64

    package init(path: String, holding lock: DirectoryLock) throws(SystemError) {
        self.path = path
        self.lock = lock
        // SAFETY: SQLite writes the pointer; `handle` owns it afterwards.
        var handle: OpaquePointer?
        // No mutex, because only one thread at a time uses the connection.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let result = sqlite3_open_v2(path, &handle, flags, nil)
        guard result == SQLITE_OK, let handle else {
            sqlite3_close(handle)
            throw SystemError(sqlite: result, String(cString: sqlite3_errstr(result)), path: path)
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        _ = csqlite_set_defensive(handle)
        // A locked file belongs to a running process, so waiting does not help.
        sqlite3_busy_timeout(handle, 0)
    }

    deinit {
        for statement in idle.values { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    /// Makes closing leave the file and its log unchanged.
    package func keepLogAtClose() {
        _ = csqlite_keep_log_at_close(handle)
    }

    /// Moves the log's content into the file and truncates the log.
    ///
    /// Afterwards no overwritten or deleted data is in the log. Call it outside a transaction.
    ///
    /// - Throws: The error of a failed write. All data is safe then, and the log stays.
    package func emptyLog() throws(SystemError) {
        var isBusy = true
        try run("PRAGMA wal_checkpoint(TRUNCATE)") { row throws(SystemError) in
            isBusy = try row.integer(0) != 0
        }
        guard !isBusy else { throw SystemError(.busy, "The log is in use.", path: path) }
    }

    /// Runs one statement and calls `row` for each row of the result.
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

    /// Takes an idle statement, or prepares a new statement.
    private func take(_ sql: String) throws(SystemError) -> OpaquePointer {
        if let prepared = idle.removeValue(forKey: sql) { return prepared }
        // SAFETY: SQLite writes the pointer; `putAway` finalizes it or keeps it in `idle`.
        var prepared: OpaquePointer?
        let flags = Self.isKept(sql) ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let result = sqlite3_prepare_v3(handle, sql, -1, flags, &prepared, nil)
        guard result == SQLITE_OK, let prepared else {
            throw SystemError(sqlite: result, String(cString: sqlite3_errmsg(handle)), path: path)
        }
        return prepared
    }

    /// Resets a statement, so that it holds no lock and no values, and keeps it for reuse.
    private func putAway(_ prepared: OpaquePointer, _ sql: String, _ isSound: Bool) {
        guard isSound, Self.isKept(sql), idle.count < Self.mostIdle, idle[sql] == nil else {
            sqlite3_finalize(prepared)
            return
        }
        sqlite3_reset(prepared)
        sqlite3_clear_bindings(prepared)
        idle[sql] = prepared
    }

    /// Whether a statement may be reused.
    ///
    /// A PRAGMA may already act when prepared, and statements that change tables run only once.
    private static func isKept(_ sql: String) -> Bool { kept.contains { sql.hasPrefix($0) } }

    private static let kept = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "BEGIN ", "COMMIT"]

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

    /// Runs the body in a transaction.
    ///
    /// Afterwards either all changes are on the disk, or none.
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
        // SQLite rolls back by itself after some errors.
        if sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
    }

    /// Overwrites a failed commit in the log.
    ///
    /// If only the disk's confirmation failed, the log holds the whole transaction. A process that
    /// opens the database after a kill would apply it.
    private func takeOutOfLog() {
        do throws(SystemError) {
            try run("BEGIN IMMEDIATE")
            // Setting an equal value writes a log frame without changing data.
            try run("PRAGMA user_version = \(integer("PRAGMA user_version"))")
            try run("COMMIT")
        } catch {
            rollBack()
        }
    }
}

package struct Statement: ~Copyable {
    private let path: String
    // SAFETY: `Database` owns both pointers, and it outlives this statement.
    private let database: OpaquePointer
    private let handle: OpaquePointer

    // SAFETY: Both pointers must stay valid as long as this statement.
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
                    // The explicit length keeps a NUL in the text.
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

    fileprivate func step() throws(SystemError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        case let result: throw failure(result)
        }
    }

    /// Returns a number.
    ///
    /// Another type in the column is damage.
    package func integer(_ column: Int32) throws(SystemError) -> Int64 {
        try expect(SQLITE_INTEGER, in: column)
        return sqlite3_column_int64(handle, column)
    }

    /// Returns a text.
    ///
    /// Another type in the column is damage.
    package func text(_ column: Int32) throws(SystemError) -> String {
        try expect(SQLITE_TEXT, in: column)
        guard let text = String(validating: content(of: column), as: UTF8.self) else {
            throw SystemError(.damaged, "A text of the database is not UTF-8.", path: path)
        }
        return text
    }

    /// Returns bytes.
    ///
    /// Another type in the column is damage.
    package func blob(_ column: Int32) throws(SystemError) -> [UInt8] {
        try expect(SQLITE_BLOB, in: column)
        return content(of: column)
    }

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    private func content(of column: Int32) -> [UInt8] {
        // SAFETY: The pointer is nil for an empty value, and valid until the next step, so the
        // bytes are copied at once.
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(sqlite3_column_bytes(handle, column))
        // SAFETY: SQLite reports the length of the memory at `start`.
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
