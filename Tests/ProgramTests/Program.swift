import Foundation
import Synchronization

/// A program of this project, or one that the tests need, as a process of its own.
final class Program: Sendable {
    /// Its status once it has ended; shared with the thread that waits for that.
    private final class Ending: Sendable {
        let status = Mutex<Int32?>(nil)
    }

    let pid: pid_t
    /// Where what it said is kept.
    let log: String
    private let ending = Ending()
    private let endings: AsyncStream<Int32>

    /// Starts a program by its path; what it prints goes to `output`, or else to the log as well.
    init(_ path: String, _ arguments: [String], log: String, output: FileHandle? = nil) throws {
        self.log = log
        try Data().write(to: URL(fileURLWithPath: log))
        pid = try Self.spawn(path, arguments, log: log, output: output?.fileDescriptor)
        let (endings, feed) = AsyncStream.makeStream(of: Int32.self)
        self.endings = endings
        // A thread of its own: one that blocks would be missing where tasks run.
        Thread.detachNewThread { [pid, ending] in
            var info = siginfo_t()
            waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT)
            let status = ending.status.withLock { known in
                var status: Int32 = 0
                waitpid(pid, &status, 0)
                known = status & 0x7F == 0 ? status >> 8 & 0xFF : status & 0x7F
                return known
            }
            feed.yield(status ?? -1)
            feed.finish()
        }
    }

    deinit {
        send(SIGKILL)
    }

    private static func spawn(
        _ path: String,
        _ arguments: [String],
        log: String,
        output: Int32?
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_APPEND, 0)
        posix_spawn_file_actions_adddup2(&actions, output ?? 2, 1)
        // The threads of the tests block signals; a program must not inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        let variables = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        let argv = ([path] + arguments).map { strdup($0) } + [nil]
        let environment = variables.map { strdup($0) } + [nil]
        defer { for text in argv + environment { free(text) } }
        var pid: pid_t = 0
        let error = posix_spawn(&pid, path, &actions, &attributes, argv, environment)
        guard error == 0 else {
            throw NSError(
                domain: NSPOSIXErrorDomain,
                code: Int(error),
                userInfo: [NSFilePathErrorKey: path]
            )
        }
        return pid
    }

    /// Where the programs are: beside the tests.
    static let folder: String = {
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: own ?? ".").deletingLastPathComponent().path
    }()

    var isRunning: Bool { ending.status.withLock { $0 == nil } }
    var said: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    /// Nothing when it has ended: its number may be another's by then.
    func send(_ signal: Int32) {
        ending.status.withLock { status in
            if status == nil { kill(pid, signal) }
        }
    }

    /// Its exit status, or the number of the signal that ended it.
    func end() async -> Int32 {
        for await status in endings { return status }
        return ending.status.withLock { $0 } ?? -1
    }

    /// Open descriptors.
    func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }

    /// Memory of its own that is in use, in KB.
    func memory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        let words = line?.split { $0 == " " || $0 == "\t" } ?? []
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }
}
