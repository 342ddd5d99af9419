package import Glibc

/// A directory for state: it is ours, and others can't write to it.
package struct PrivateDirectory: Sendable {
    package let path: String

    /// Makes it, with mode 0700, where it is missing.
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

    /// Makes a directory, and those above it that are missing; their names are on the disk.
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
        // With its slash: that of a folder of the root is all there is.
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

    /// Replaces a private file, on the disk: a crash leaves the old one or the new one.
    ///
    /// When it throws, the old one is there, or none if there was none. (Where a filesystem has no
    /// links the new one may have taken the old one's place.)
    package func replace(_ name: String, with content: [UInt8]) throws(SystemError) {
        let (path, former) = (file(name), Self.former(file(name)))
        unlink(former)
        // Another name of the old one, until the new one is on the disk.
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

    /// All of a private file; nil: there is none.
    package func content(of name: String, limit: Int) throws(SystemError) -> [UInt8]? {
        try PrivateFile.content(of: file(name), limit: limit)
    }

    /// Removes a file; false: there was none.
    package func remove(_ name: String) throws(SystemError) -> Bool {
        // What an interrupted replacement left of it.
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

    /// The names in it, sorted; at most 65,536.
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

/// A state directory is this process's own as long as this lives.
package final class DirectoryLock: Sendable {
    private let descriptor: OwnedDescriptor

    fileprivate init(_ descriptor: OwnedDescriptor) {
        self.descriptor = descriptor
    }

    deinit {
        // A child process that has not reached its exec has the descriptor, too.
        flock(descriptor.rawValue, LOCK_UN)
    }
}
