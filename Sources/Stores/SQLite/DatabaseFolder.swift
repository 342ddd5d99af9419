import Glibc
package import Linux

/// A private directory with one database and the key that the database needs.
package struct DatabaseFolder: Sendable {
    package let directory: PrivateDirectory
    package let database: String
    package let key: String
    /// Where one of these files is, there was a database before: they are made after it.
    private let traces: [String]

    /// The database, the key, and what else is made after the database, of these names.
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

    /// Whether a database was set aside, or is missing where one must have been.
    func hasLostDatabase() throws(SystemError) -> Bool {
        guard firstFree == 1 else { return true }
        for file in traces where try PrivateFile.exists(file) { return true }
        return false
    }

    /// Whether the database's log has something in it, and the database nothing.
    var hasLogAlone: Bool {
        func size(_ file: String) -> Int {
            var status = stat()
            return lstat(file, &status) == 0 ? Int(status.st_size) : 0
        }
        return size(database) == 0 && size(database + "-wal") > 0
    }

    /// Opens the database; one that is damaged is set aside, and a new one opened in its place.
    ///
    /// SQLite calls it damage, too, if a read fails or memory is short. So a database is damaged
    /// when it is found so twice, and every byte of it can be read: nothing that passes, and no
    /// disk that refuses, takes away what was sound.
    /// - Returns: `setAside`: where the damaged one is.
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

    /// Reads every byte of the database and of its log, which nobody has open now.
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

    /// Renames a damaged database, with what belongs to it.
    ///
    /// The database goes first: SQLite drops a log without one.
    /// - Returns: Its new path.
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

    /// The first number that no database was set aside under.
    private var firstFree: Int {
        var number = 1
        while access(aside(number), F_OK) == 0 {
            number += 1
        }
        return number
    }
}
