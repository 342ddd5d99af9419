import Glibc

/// The directory of the state: ours alone, one process at a time.
package struct PrivateDirectory {
    package let path: String
    package let database: String
    /// The key that the database is of no use without.
    package let key: String

    /// Makes it, with mode 0700, where it is missing.
    package init(
        path: String,
        database: String = "state.sqlite",
        key: String = "machine.key"
    ) throws(StoreError) {
        self.path = path
        self.database = path + "/" + database
        self.key = path + "/" + key
        try Self.make(path)
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw StoreError(.io, "This is not a directory.", path: path)
        }
        guard status.st_uid == geteuid(), status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw StoreError(
                .permission,
                "The state directory must be ours, and others must not write to it.",
                path: path
            )
        }
    }

    private static func make(_ path: String) throws(StoreError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        let number = errno
        // The parents first, when it is they that are missing.
        guard number == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw StoreError(
                errno: number,
                "The state directory can't be made",
                path: path
            )
        }
        try make(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw StoreError(errno: errno, "The state directory can't be made", path: path)
        }
    }

    /// Takes the directory for this process.
    package func lock() throws(StoreError) -> DirectoryLock {
        let file = path + "/lock"
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(
                errno: errno,
                "The state directory can't be written to",
                path: path
            )
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            close(descriptor)
            guard number == EWOULDBLOCK else {
                throw StoreError(errno: number, "The lock can't be taken", path: file)
            }
            throw StoreError(
                .busy,
                "Another process uses this state directory.",
                path: path
            )
        }
        return DirectoryLock(descriptor: descriptor)
    }

    /// Whether a file is there; one that others may open, or that isn't a file, is refused.
    package static func holdsPrivateFile(
        _ file: String
    ) throws(StoreError) -> Bool {
        // By name, not by descriptor: closing one of the database would drop SQLite's locks.
        var status = stat()
        guard lstat(file, &status) == 0 else {
            guard errno == ENOENT else {
                throw StoreError(errno: errno, "The file can't be looked at", path: file)
            }
            return false
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.permission, "This is not a regular file.", path: file)
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw StoreError(
                .permission,
                "The file must be ours alone: give it the mode 0600.",
                path: file
            )
        }
        return true
    }

    /// Makes a file with mode 0600 that isn't there yet, with this content, on the disk.
    package static func makePrivateFile(
        _ file: String,
        _ content: [UInt8] = []
    ) throws(StoreError) {
        let descriptor = open(
            file,
            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
            0o600
        )
        guard descriptor >= 0 else {
            throw StoreError(errno: errno, "The file can't be made", path: file)
        }
        defer { close(descriptor) }
        // The umask may have taken bits away.
        guard fchmod(descriptor, 0o600) == 0,
            write(descriptor, content, content.count) == content.count,
            fsync(descriptor) == 0
        else {
            throw StoreError(errno: errno, "The file can't be written", path: file)
        }
    }

    /// Puts the names of the files on the disk.
    package func synchronize() throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw StoreError(errno: errno, "The directory can't be synchronized", path: path)
        }
        close(descriptor)
    }

    /// The first free name for a database that is set aside, and whether any was before.
    private var asideName: (path: String, isFirst: Bool) {
        var number = 1
        while access("\(database).damaged-\(number)", F_OK) == 0 {
            number += 1
        }
        return ("\(database).damaged-\(number)", number == 1)
    }

    /// Whether a database was set aside, or is missing where one must have been.
    package func lostDatabase() throws(StoreError) -> Bool {
        // The key is made after the database.
        guard asideName.isFirst else { return true }
        return try Self.holdsPrivateFile(key)
    }

    /// Whether the database's log has something in it, and the database nothing.
    var hasLogAlone: Bool {
        func size(_ file: String) -> Int {
            var status = stat()
            return lstat(file, &status) == 0 ? Int(status.st_size) : 0
        }
        return size(database) == 0 && size(database + "-wal") > 0
    }

    /// Renames a damaged database, with what belongs to it.
    ///
    /// The database goes first: SQLite drops a log without one.
    package func setAside() throws(StoreError) -> String {
        let target = asideName.path
        guard rename(database, target) == 0 else {
            throw StoreError(
                errno: errno,
                "The damaged database can't be set aside",
                path: database
            )
        }
        for suffix in ["-wal", "-shm", "-journal"] {
            rename(database + suffix, target + suffix)
        }
        try synchronize()
        return target
    }
}

/// A state directory is this process's own as long as this lives.
package final class DirectoryLock: Sendable {
    private let descriptor: Int32

    fileprivate init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        // A child process that has not reached its exec has the descriptor, too.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
