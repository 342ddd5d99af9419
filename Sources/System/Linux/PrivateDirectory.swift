package import Glibc

/// A directory for state that this user owns and no other user can write to.
package struct PrivateDirectory: Sendable {
    package let path: String

    /// Creates a missing directory with mode 0700.
    package init(_ path: String) throws(SystemError) {
        self.path = path
        try Self.make(path)
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw SystemError(.io, "This is not a directory.", path: path)
        }
        guard status.st_uid == geteuid(), status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw SystemError(
                .permission,
                "The state directory must be ours, and others must not write to it.",
                path: path
            )
        }
    }

    /// Creates a directory and its missing parents, and syncs their names to the disk.
    package static func make(_ path: String, mode: mode_t = 0o700) throws(SystemError) {
        let path = path.lastIndex { $0 != "/" }.map { String(path[...$0]) } ?? path
        let slash = path.lastIndex(of: "/")
        var number = mkdir(path, mode) == 0 ? 0 : errno
        if number == ENOENT, let slash, slash > path.startIndex {
            try make(String(path[..<slash]), mode: mode)
            number = mkdir(path, mode) == 0 ? 0 : errno
        }
        guard number != EEXIST else { return }
        guard number == 0 else {
            throw SystemError(errno: number, "The state directory can't be made", path: path)
        }
        // Keep the slash, because the parent of `/name` is `/`.
        do throws(SystemError) {
            try synchronize(slash.map { String(path[...$0]) } ?? ".")
        } catch {
            rmdir(path)
            throw error
        }
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    package func lock() throws(SystemError) -> DirectoryLock {
        let file = file("lock")
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW
        guard let descriptor = OwnedDescriptor.open(file, flags, mode: 0o600) else {
            throw SystemError(errno: errno, "The state directory can't be written to", path: path)
        }
        guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else {
                throw SystemError(errno: errno, "The lock can't be taken", path: file)
            }
            throw SystemError(.busy, "Another process uses this state directory.", path: path)
        }
        return DirectoryLock(descriptor)
    }

    /// Replaces a private file durably: a crash leaves the old file or the new file.
    ///
    /// After an error the old file is in place, or no file if there was none. On a filesystem
    /// without hard links, the new file may be in place instead.
    package func replace(_ name: String, with content: [UInt8]) throws(SystemError) {
        let (path, former) = (file(name), Self.former(file(name)))
        unlink(former)
        // A second link to the old file, until the new file is on the disk.
        let hasFormer = link(path, former) == 0
        let isNew = !hasFormer && errno == ENOENT
        defer { if hasFormer { unlink(former) } }
        try PrivateFile.replace(path, with: content)
        do throws(SystemError) {
            try synchronize()
        } catch {
            if hasFormer { rename(former, path) }
            if isNew { unlink(path) }
            try? synchronize()
            throw error
        }
    }

    private static func former(_ path: String) -> String { path + ".old" }

    /// Reads a private file; nil if it does not exist.
    package func content(of name: String, limit: Int) throws(SystemError) -> [UInt8]? {
        try PrivateFile.content(of: file(name), limit: limit)
    }

    /// Removes a file; false if it did not exist.
    package func remove(_ name: String) throws(SystemError) -> Bool {
        // Leftovers of an interrupted replacement.
        for left in [Self.former(file(name)), PrivateFile.fresh(file(name))] { unlink(left) }
        guard unlink(file(name)) == 0 else {
            guard errno == ENOENT else {
                throw SystemError(errno: errno, "The file can't be removed", path: file(name))
            }
            return false
        }
        try synchronize()
        return true
    }

    /// The names of the directory's entries, sorted; at most 65,536.
    package func names() throws(SystemError) -> [String] {
        guard let listing = opendir(path) else {
            throw SystemError(errno: errno, "The directory can't be read", path: path)
        }
        defer { closedir(listing) }
        var names: [String] = []
        errno = 0
        while names.count < 65_536, let entry = readdir(listing) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
            )
            errno = 0
        }
        guard names.count == 65_536 || errno == 0 else {
            throw SystemError(errno: errno, "The directory can't be read", path: path)
        }
        return names.sorted()
    }

    /// Writes the directory's entries to the disk.
    package func synchronize() throws(SystemError) { try Self.synchronize(path) }

    private static func synchronize(_ path: String) throws(SystemError) {
        guard let directory = OwnedDescriptor.open(path, O_RDONLY | O_DIRECTORY),
            fsync(directory.rawValue) == 0
        else {
            throw SystemError(errno: errno, "The directory can't be synchronized", path: path)
        }
    }
}

/// The exclusive use of a state directory, as long as this object lives.
package final class DirectoryLock: Sendable {
    private let descriptor: OwnedDescriptor

    fileprivate init(_ descriptor: OwnedDescriptor) {
        self.descriptor = descriptor
    }

    deinit {
        // A child process before its exec has the descriptor too.
        flock(descriptor.rawValue, LOCK_UN)
    }
}
