import Glibc

/// Files with mode 0600 that this user owns.
package enum PrivateFile {
    /// Returns whether a file exists.
    ///
    /// Throws for a file that is not private or not regular.
    package static func exists(_ path: String) throws(SystemError) -> Bool {
        // By name, because closing a descriptor of a database would drop SQLite's locks.
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else {
                throw SystemError(errno: errno, "The file can't be looked at", path: path)
            }
            return false
        }
        try check(status, path)
        return true
    }

    /// Creates a file with this content on the disk.
    ///
    /// The file must not exist.
    package static func make(_ path: String, _ content: [UInt8] = []) throws(SystemError) {
        guard let file = OwnedDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600) else {
            throw SystemError(errno: errno, "The file can't be made", path: path)
        }
        // The umask may have taken bits away.
        guard fchmod(file.rawValue, 0o600) == 0, file.write(content), fsync(file.rawValue) == 0
        else {
            throw SystemError(errno: errno, "The file can't be written", path: path)
        }
    }

    /// Replaces a file: a crash leaves the old file or the new file.
    ///
    /// The new name is on the disk once the directory is synchronized too.
    package static func replace(_ path: String, with content: [UInt8]) throws(SystemError) {
        let fresh = fresh(path)
        // A leftover of an interrupted replacement, never in use.
        unlink(fresh)
        do throws(SystemError) {
            try make(fresh, content)
            guard rename(fresh, path) == 0 else {
                throw SystemError(errno: errno, "The file can't be put in place", path: path)
            }
        } catch {
            unlink(fresh)
            throw error
        }
    }

    /// The temporary name of a replacement.
    static func fresh(_ path: String) -> String { path + ".new" }

    /// Reads a file; nil if it does not exist.
    ///
    /// Throws for a file that is not private, not regular or too long.
    package static func content(
        of path: String,
        limit: Int
    ) throws(SystemError) -> [UInt8]? {
        guard let file = OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
            guard errno == ENOENT else {
                throw SystemError(errno: errno, "The file can't be read", path: path)
            }
            return nil
        }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else {
            throw SystemError(errno: errno, "The file can't be looked at", path: path)
        }
        try check(status, path)
        guard status.st_size <= limit else {
            throw SystemError(.io, "The file is too long.", path: path)
        }
        guard let content = file.content(limit: limit) else {
            throw SystemError(.io, "The file can't be read.", path: path)
        }
        return content
    }

    private static func check(_ status: stat, _ path: String) throws(SystemError) {
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError(.permission, "This is not a regular file.", path: path)
        }
        guard status.st_uid == geteuid() else {
            throw SystemError(
                .permission,
                "The file belongs to another user: give it to the user \(geteuid()) with chown.",
                path: path
            )
        }
        guard status.st_mode & 0o077 == 0 else {
            throw SystemError(
                .permission,
                "The file must be ours alone: give it the mode 0600.",
                path: path
            )
        }
    }
}
