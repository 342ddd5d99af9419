import CSQLite
import Glibc

/// Why the state could not be opened, read or written.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure; more may be added.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// A short word.
        public let rawValue: String

        /// A kind of failure by its word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Another process has the state, or too much waits to be written.
        public static let busy = Code(rawValue: "busy")
        /// No space is left.
        public static let full = Code(rawValue: "full")
        /// The file is not what was written.
        public static let damaged = Code(rawValue: "damaged")
        /// Not allowed, or not private enough.
        public static let permission = Code(rawValue: "permission")
        /// The device or the file system failed.
        public static let io = Code(rawValue: "io")
        /// Written by a newer version, or by another program.
        public static let foreign = Code(rawValue: "foreign")
        /// The store is closed.
        public static let closed = Code(rawValue: "closed")
    }

    /// What kind of failure.
    public let code: Code
    /// One sentence for people.
    public let message: String
    /// The file or directory it is about.
    public let path: String

    /// The path, then the sentence.
    public var description: String { "\(path): \(message)" }

    package init(_ code: Code, _ message: String, path: String) {
        self.code = code
        self.message = message
        self.path = path
    }

    /// A failed system call.
    package init(errno number: Int32, _ action: String, path: String) {
        code =
            switch number {
            case EACCES, EPERM, EROFS: .permission
            case ENOSPC, EDQUOT, EFBIG: .full
            default: .io
            }
        message = "\(action): \(String(cString: strerror(number)))."
        self.path = path
    }

    /// A failed call of SQLite.
    init(sqlite result: Int32, _ message: String, path: String) {
        code  // The low byte is the primary code.
        =
            switch result & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_FULL: .full
            case SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_AUTH: .permission
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .damaged
            default: .io
            }
        self.message =
            code == .busy
            ? "Another process uses the database." : "The database failed: \(message)."
        self.path = path
    }
}
