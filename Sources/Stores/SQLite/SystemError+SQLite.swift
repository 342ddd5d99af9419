import CSQLite
package import Linux

extension SystemError.Code {
    /// The file differs from the data that was written.
    package static let damaged = Self(rawValue: "damaged")
    /// A newer version or another program wrote the file.
    package static let foreign = Self(rawValue: "foreign")
}

extension SystemError {
    init(sqlite result: Int32, _ message: String, path: String) {
        let code: Code =
            // The low byte is the primary result code.
            switch result & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_FULL: .full
            case SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_AUTH: .permission
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .damaged
            default: .io
            }
        self.init(
            code,
            code == .busy
                ? "Another process uses the database." : "The database failed: \(message).",
            path: path
        )
    }
}
