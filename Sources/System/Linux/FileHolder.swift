import Glibc

/// A process that has a file open, as far as the kernel tells it to this process: of other users'
/// processes only root learns it.
package struct FileHolder: Hashable {
    package let path: String
    package let pid: Int32
    /// The file name of the program; empty where it can't be proven.
    package let program: String

    /// The other processes that have any of these files open, in the order of their numbers; of
    /// more than 4096 processes or descriptors some are overlooked.
    package static func all(of paths: Set<String>) -> [Self] {
        let pids = SmallFile.names(in: "/proc").compactMap { Int32($0) }.filter { $0 != getpid() }
            .sorted()
        return pids.flatMap { pid in
            let folder = "/proc/\(pid)/fd"
            let open = Set(
                SmallFile.names(in: folder).compactMap { SmallFile.link("\(folder)/\($0)") }
            )
            return open.intersection(paths).sorted()
                .map { path in
                    Self(path: path, pid: pid, program: RunningProgram(pid: pid)?.fileName ?? "")
                }
        }
    }
}
