import CSQLiteSystem
import Foundation

struct DatabaseError: Error {
    let message: String
}

/// A minimal SQLite wrapper: texts in, texts out, every value bound.
final class Database {
    private let handle: OpaquePointer

    init(_ file: String) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(file, &opened) == SQLITE_OK, let opened else {
            throw DatabaseError(message: "\(file) can't be opened")
        }
        handle = opened
    }

    deinit {
        sqlite3_close(handle)
    }

    @discardableResult
    func run(_ statement: String, _ values: String...) throws -> [[String]] {
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v2(handle, statement, -1, &prepared, nil) == SQLITE_OK else {
            throw DatabaseError(message: String(cString: sqlite3_errmsg(handle)))
        }
        defer { sqlite3_finalize(prepared) }
        // SAFETY: SQLITE_TRANSIENT makes SQLite copy each text, which ends with the call.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in values.enumerated() {
            sqlite3_bind_text(prepared, Int32(index + 1), value, -1, copied)
        }
        var rows: [[String]] = []
        while true {
            switch sqlite3_step(prepared) {
            case SQLITE_ROW:
                rows.append(
                    (0..<sqlite3_column_count(prepared))
                        .map { column in
                            sqlite3_column_text(prepared, column).map { String(cString: $0) } ?? ""
                        }
                )
            case SQLITE_DONE: return rows
            default: throw DatabaseError(message: String(cString: sqlite3_errmsg(handle)))
            }
        }
    }
}
