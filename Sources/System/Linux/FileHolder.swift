import Glibc

/// A process that has a file open.
///
/// The kernel tells only root about other users' processes.
package struct FileHolder: Hashable {
    package let path: String
    package let pid: Int32
    /// The file name of the program; empty if the program cannot be proven.
    package let program: String

    /// The other processes that have any of these files open, sorted by pid.
    ///
    /// Looks at no more than 4096 processes, and 4096 descriptors of each.
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
