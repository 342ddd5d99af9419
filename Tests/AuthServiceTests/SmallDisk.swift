import DBus
import Glibc
import TestSupport

@testable import AuthService

/// A file system of 8 MiB in memory, visible only to programs that enter its mount namespace.
@BusActor
final class SmallDisk {
    /// Whether the kernel lets this user create the file system.
    nonisolated static let isPossible: Bool = {
        let words = ["/usr/bin/unshare", "-m", "/bin/mount", "-t", "tmpfs", "none", "/mnt"]
        guard getuid() == 0, isOutermost else { return false }
        return (try? ChildProcess.run(words))?.status == 0
    }()

    /// Whether the service can see that this process is in the first mount namespace.
    ///
    /// If not, a service on the small disk would take this process for a sandboxed program.
    private nonisolated static var isOutermost: Bool {
        guard let own = Confinement(pid: getpid()), let first = Confinement(pid: 1) else {
            return false
        }
        return own.roots == first.roots
    }

    private let path: String
    /// Keeps the file system while it runs.
    private let holder: ChildProcess

    init(at path: String) async throws {
        self.path = path
        try expect(mkdir(path, 0o700) == 0, "a folder at \(path)")
        let script = "mount -t tmpfs -o size=8m,mode=700 none \"$0\" && touch \"$0\"/filler"
        holder = try ChildProcess(
            ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script + " && exec sleep 600", path]
        )
        try await eventually("a small disk: \(holder.errors)") { access(filler, F_OK) == 0 }
    }

    /// The command line prefix that lets a program see the file system.
    var entering: [String] { ["/usr/bin/nsenter", "-t", "\(holder.pid)", "-m"] }

    private var filler: String { "/proc/\(holder.pid)/root\(path)/filler" }

    /// Fills the disk completely.
    func fill() throws {
        let file = open(filler, O_WRONLY | O_APPEND | O_CLOEXEC)
        try expect(file >= 0, "a file on the small disk")
        defer { close(file) }
        for size in [65_536, 4096, 1] {
            let bytes = [UInt8](repeating: 0, count: size)
            while write(file, bytes, size) > 0 {}
        }
    }

    func free() throws {
        try expect(truncate(filler, 0) == 0, "the small disk to be emptied")
    }
}
