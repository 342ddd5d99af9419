import Glibc

/// A folder that is ours alone, and its small files.
struct PrivateFolder: Sendable {
    let path: String

    /// Makes it, with mode 0700, where it is missing.
    init(_ path: String) throws(FaceFault) {
        self.path = path
        try Self.make(path)
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == geteuid(), status.st_mode & 0o022 == 0
        else {
            throw .failed("The folder \(path) must be ours, and others must not write to it.")
        }
    }

    /// Replaces a file as a whole: a crash leaves the old one or the new one.
    func write(_ name: String, _ content: [UInt8]) throws(FaceFault) {
        let (file, fresh) = ("\(path)/\(name)", "\(path)/.\(name).new")
        unlink(fresh)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = open(fresh, flags, 0o600)
        guard descriptor >= 0 else { throw .system(errno, "The file can't be made", file) }
        defer { close(descriptor) }
        // The umask may have taken bits away.
        guard fchmod(descriptor, 0o600) == 0, Self.writeAll(descriptor, content),
            fsync(descriptor) == 0, rename(fresh, file) == 0
        else {
            let number = errno
            unlink(fresh)
            throw .system(number, "The file can't be written", file)
        }
        try synchronize()
    }

    /// The content of a file of ours; nil: there is none.
    func read(_ name: String, limit: Int) throws(FaceFault) -> [UInt8]? {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw .system(errno, "The file can't be read", file) }
            return nil
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_mode & 0o077 == 0
        else {
            throw .failed("The file must be ours alone, with the mode 0600: \(file).")
        }
        guard status.st_size <= limit else { throw .failed("The file is too large: \(file).") }
        return try readAll(descriptor, file, count: Int(status.st_size))
    }

    /// Removes a file; false: there was none.
    func remove(_ name: String) throws(FaceFault) -> Bool {
        guard unlink("\(path)/\(name)") == 0 else {
            guard errno == ENOENT else {
                throw .system(errno, "The file can't be removed", "\(path)/\(name)")
            }
            return false
        }
        try synchronize()
        return true
    }

    /// The names in it, sorted; at most 65,536.
    func names() throws(FaceFault) -> [String] {
        guard let listing = opendir(path) else {
            throw .system(errno, "The folder can't be read", path)
        }
        defer { closedir(listing) }
        var names: [String] = []
        while names.count < 65_536, let entry = readdir(listing) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
            )
        }
        return names.sorted()
    }

    private func readAll(
        _ descriptor: Int32,
        _ file: String,
        count: Int
    ) throws(FaceFault) -> [UInt8] {
        var isWhole = false
        let content = [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            while filled < count {
                let got = Glibc.read(
                    descriptor,
                    bytes.baseAddress?.advanced(by: filled),
                    count - filled
                )
                if got < 0 && errno == EINTR { continue }
                guard got > 0 else { return }
                filled += got
            }
            isWhole = true
        }
        guard isWhole else { throw .system(EIO, "The file can't be read", file) }
        return content
    }

    private static func writeAll(_ descriptor: Int32, _ content: [UInt8]) -> Bool {
        var rest = content[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func synchronize() throws(FaceFault) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(errno, "The folder can't be opened", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw .system(errno, "The folder can't be put on the disk", path)
        }
    }

    private static func make(_ path: String) throws(FaceFault) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        let number = errno
        // The parents first, when it is they that are missing.
        guard number == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw .system(number, "The folder can't be made", path)
        }
        try make(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .system(errno, "The folder can't be made", path)
        }
    }
}
