import Glibc

/// A process that has a file open, as far as the kernel tells it to this process: of other users'
/// processes only root learns it.
public struct FileHolder: Hashable {
    /// The file.
    public let path: String
    /// The process.
    public let pid: Int32
    /// What it calls itself.
    public let program: String

    /// So many processes are looked at, and so many descriptors of each.
    private static let most = 4096

    /// The other processes that have any of these files open, in the order of their numbers.
    public static func all(of paths: Set<String>) -> [Self] {
        let pids = names(in: "/proc").compactMap { Int32($0) }.filter { $0 != getpid() }.sorted()
        return pids.flatMap { pid in
            let folder = "/proc/\(pid)/fd"
            let open = Set(names(in: folder).compactMap { SmallFile.link("\(folder)/\($0)") })
            return open.intersection(paths).sorted()
                .map { path in
                    let name = RunningProgram(pid: pid).ownName.filter { $0 != "\n" }
                    return Self(path: path, pid: pid, program: name)
                }
        }
    }

    private static func names(in folder: String) -> [String] {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while names.count < most, let entry = readdir(listing) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
