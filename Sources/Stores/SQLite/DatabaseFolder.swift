import Glibc
package import Linux

/// A private directory with a database and the key that the database needs.
package struct DatabaseFolder: Sendable {
    package let directory: PrivateDirectory
    package let database: String
    package let key: String
    /// Files that are created after the database.
    ///
    /// If one of them exists, a database existed before.
    private let traces: [String]

    /// Creates a folder from file names.
    ///
    /// `traces` are files that are created after the database.
    package init(
        _ directory: PrivateDirectory,
        database name: String,
        key: String,
        traces: [String] = []
    ) {
        self.directory = directory
        database = directory.file(name)
        self.key = directory.file(key)
        self.traces = ([key] + traces).map(directory.file)
    }

    /// Whether a database was set aside, or is missing although its traces exist.
    func hasLostDatabase() throws(SystemError) -> Bool {
        guard firstFree == 1 else { return true }
        for file in traces where try PrivateFile.exists(file) { return true }
        return false
    }

    /// Whether the database is empty while its log is not.
    var hasLogAlone: Bool {
        func size(_ file: String) -> Int {
            var status = stat()
            return lstat(file, &status) == 0 ? Int(status.st_size) : 0
        }
        return size(database) == 0 && size(database + "-wal") > 0
    }

    /// Opens the database.
    ///
    /// A damaged database is set aside and replaced by a new one.
    ///
    /// SQLite also reports damage if a read fails or memory is short. A database therefore counts
    /// as damaged only if two attempts find damage and every byte is readable. Transient errors and
    /// failing disks must not discard a sound database.
    /// - Returns: The database, and in `setAside` the path of the damaged database.
    package func openOrReplace(
        _ open: () throws(SystemError) -> Database
    ) throws(SystemError) -> (database: Database, setAside: String?) {
        for _ in 1...2 {
            do throws(SystemError) {
                return (try open(), nil)
            } catch {
                guard error.code == .damaged else { throw error }
                try readAll()
            }
        }
        let setAside = try setAside()
        return (try open(), setAside)
    }

    /// Reads every byte of the database and its log, which must not be open.
    private func readAll() throws(SystemError) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        for file in [database, database + "-wal"] where try PrivateFile.exists(file) {
            let descriptor = OwnedDescriptor.open(file, O_RDONLY | O_NOFOLLOW)
            var count = descriptor == nil ? -1 : 1
            while count > 0 || (count < 0 && errno == EINTR), let descriptor {
                count = read(descriptor.rawValue, &chunk, chunk.count)
            }
            guard count == 0 else {
                throw SystemError(errno: errno, "The database can't be read", path: file)
            }
        }
    }

    /// Renames a damaged database and its companion files.
    ///
    /// The database is renamed first, because SQLite deletes a log that has no database.
    /// - Returns: The new path of the database.
    private func setAside() throws(SystemError) -> String {
        let target = aside(firstFree)
        guard rename(database, target) == 0 else {
            throw SystemError(
                errno: errno,
                "The damaged database can't be set aside",
                path: database
            )
        }
        for suffix in ["-wal", "-shm", "-journal"] {
            rename(database + suffix, target + suffix)
        }
        try directory.synchronize()
        return target
    }

    private func aside(_ number: Int) -> String { "\(database).damaged-\(number)" }

    private var firstFree: Int {
        var number = 1
        while access(aside(number), F_OK) == 0 {
            number += 1
        }
        return number
    }
}
