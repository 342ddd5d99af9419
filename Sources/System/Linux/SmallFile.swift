import Glibc

/// Bounded reads of small files.
package enum SmallFile {
    /// The cause of a failed read.
    package struct Refusal: Error {
        /// The value of `errno`.
        package let reason: Int32
    }

    /// Returns the first `limit` bytes of a file, or nil when it cannot be read.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        try? contents(of: path, limit: limit)
    }

    /// Returns the first `limit` bytes of a file.
    package static func contents(
        of path: String,
        limit: Int
    ) throws(Refusal) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Refusal(reason: errno) }
        let file = OwnedDescriptor(adopting: descriptor)
        var result: [UInt8] = []
        while result.count < limit {
            let wanted = min(4096, limit - result.count)
            var (got, reason) = (0, Int32(0))
            let chunk = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                got = Glibc.read(file.rawValue, buffer.baseAddress, wanted)
                reason = errno
                count = max(got, 0)
            }
            if got < 0, result.isEmpty { throw Refusal(reason: reason) }
            if got <= 0 { break }
            result += chunk
        }
        return result
    }

    /// Returns the target of a symbolic link, or nil.
    package static func link(_ path: String) -> String? {
        var length = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { text in
                if let base = text.baseAddress { length = readlink(path, base, 4096) }
            }
            count = max(length, 0)
        }
        return length > 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// Returns at most 4096 names of a folder, unsorted, without hidden files.
    package static func names(in folder: String) -> [String] {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while names.count < 4096, let entry = readdir(listing) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
