import CLinux
import DBus
import Glibc
package import Linux
import Synchronization

/// A process that a test started.
///
/// Releasing the last reference kills the process by its pid. Until then it stays unreaped, so the
/// kernel cannot reuse the pid and a signal never reaches another process.
///
/// Foundation's `Process` is no substitute: its pipes leak into programs that other tests start at
/// that moment. Their end of file is then seen only when those programs exit as well.
public final class ChildProcess: Sendable {
    public struct Ended: Sendable {
        /// The exit status, or 128 plus the signal number.
        public let status: Int32
        public let bytes: [UInt8]
        public let errors: String

        /// The standard output as text.
        public var output: String { String(decoding: bytes, as: UTF8.self) }
    }

    public let pid: Int32
    private let name: String
    private let files: (output: UnnamedFile, errors: UnnamedFile)
    /// The test's end of the stream that carries the program's input and output.
    private let stream: OwnedDescriptor?
    private let received = Mutex<[UInt8]>([])

    /// The folder of the test executable, which also holds the built programs.
    public static let folder: String = {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        let text = String(decoding: path.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
        return text.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    }()

    /// Starts a program; a name without `/` is looked up in ``folder``.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments.
    ///   - environment: Variables added to the test's own; texts are English by default.
    ///   - input: The content of standard input.
    ///   - hasStream: Connects standard input and output to a stream of lines: see
    ///     ``line(within:)``, ``tell(_:)`` and ``closeInput()``.
    ///   - mergesErrors: Sends standard error to standard output.
    ///   - descriptor: Becomes descriptor 3 of the program.
    ///   - terminal: Becomes its controlling terminal, input and output.
    ///   - hasSession: Starts the program in a new session without a controlling terminal.
    /// - Throws: If the program cannot be started.
    public init(
        _ words: [String],
        environment: [String: String] = [:],
        input: [UInt8] = [],
        hasStream: Bool = false,
        mergesErrors: Bool = false,
        descriptor: Int32? = nil,
        terminal: String? = nil,
        hasSession: Bool = false
    ) throws(TestFailure) {
        var words = words
        if !words[0].contains("/") { words[0] = Self.folder + "/" + words[0] }
        name = words[0]
        let (output, errors) = (try UnnamedFile(), try UnnamedFile())
        files = (output, errors)
        let given = input.isEmpty ? nil : try UnnamedFile(holding: input)
        let ends = hasStream ? try streamPair() : nil
        stream = ends?.0

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let terminal {
            for number in Int32(0)...2 {
                posix_spawn_file_actions_addopen(&actions, number, terminal, O_RDWR, 0)
            }
        } else {
            let read = ends?.1 ?? given?.descriptor
            let written = ends?.1 ?? output.descriptor
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            if let read { posix_spawn_file_actions_adddup2(&actions, read.rawValue, 0) }
            posix_spawn_file_actions_adddup2(&actions, written.rawValue, 1)
            let complained = mergesErrors ? written : errors.descriptor
            posix_spawn_file_actions_adddup2(&actions, complained.rawValue, 2)
        }
        if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor, 3) }
        let ownsSession = hasSession || terminal != nil
        pid = try Self.spawn(words, Self.variables(environment), &actions, ownsSession)
    }

    private static func spawn(
        _ words: [String],
        _ variables: [String],
        _ actions: inout posix_spawn_file_actions_t,
        _ hasSession: Bool
    ) throws(TestFailure) -> pid_t {
        // A program must inherit neither the signal mask of the test's threads nor an ignored
        // SIGINT, which a background shell sets.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // POSIX_SPAWN_SETSID is not in the Glibc module.
        let session: Int16 = hasSession ? 0x80 : 0
        let flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | session
        posix_spawnattr_setflags(&attributes, flags)
        // SAFETY: C wants null-terminated lists; the strings live until `defer` frees them.
        var arguments = words.map { strdup($0) } + [nil]
        var environment = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, words[0], &actions, &attributes, &arguments, &environment)
        try expect(code == 0, "\(words[0]) can't be started: \(String(cString: strerror(code)))")
        return pid
    }

    private static func variables(_ more: [String: String]) -> [String] {
        let own = (0...).lazy.map { environ[$0] }.prefix { $0 != nil }
            .compactMap { $0.map { String(cString: $0) } }
        let set = ["LC_ALL": "C", "LANGUAGE": ""].merging(more) { $1 }
        return own.filter { set[String($0.prefix { $0 != "=" })] == nil }
            + set.map { "\($0.key)=\($0.value)" }
    }

    deinit {
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
    }

    // MARK: Exit

    public var isRunning: Bool { ending(WNOHANG) == nil }

    /// Sends a signal; ignored after the process has exited.
    public func signal(_ number: Int32) { kill(pid, number) }

    /// Blocks until the process exits.
    ///
    /// - Returns: The exit status, or 128 plus the signal number.
    /// - Throws: When the limit is exceeded.
    @discardableResult
    public func wait(within limit: Duration = .seconds(120)) throws(TestFailure) -> Int32 {
        let process = OwnedDescriptor(adopting: pidfd_open(pid, 0))
        // A process under a leak checker's ptrace exits first and can be reaped a moment later.
        guard isReadable(process, within: limit), let status = ending(0) else {
            throw TestFailure("\(name) did not end within \(limit)")
        }
        return status
    }

    /// Waits for the exit without blocking a thread.
    ///
    /// - Returns: The exit status, or 128 plus the signal number.
    /// - Throws: When the limit is exceeded.
    public func exitStatus(
        within limit: Duration = .seconds(60)
    ) async throws(TestFailure)
        -> Int32
    {
        EventLoop.shared.startThread()
        try await end(within: limit)
        guard let status = ending(WNOHANG) else { throw TestFailure("\(name) did not end") }
        return status
    }

    @BusActor private func end(within limit: Duration) async throws(TestFailure) {
        let process = OwnedDescriptor(adopting: pidfd_open(pid, 0))
        let ended = EventRecorder<Bool>()
        let watch = EventLoop.shared.watch(descriptor: process.rawValue) {
            // A wake-up may belong to an earlier descriptor with this number.
            if self.ending(WNOHANG) != nil { ended.record(true) }
        }
        defer { watch.cancel() }
        _ = try await ended.first("\(name) to end", within: limit) { $0 }
    }

    /// Waits for the exit without blocking a thread.
    ///
    /// - Returns: The exit status and the output.
    /// - Throws: When the limit is exceeded.
    public func ended(within limit: Duration) async throws(TestFailure) -> Ended {
        let status = try await exitStatus(within: limit)
        return Ended(status: status, bytes: outputBytes, errors: errors)
    }

    /// Kills the process and waits for its exit.
    public func end() async {
        signal(SIGKILL)
        _ = try? await exitStatus()
    }

    /// Returns the exit status but leaves a zombie for `deinit` to reap, which keeps the pid from
    /// being reused.
    private func ending(_ option: Int32) -> Int32? {
        var information = siginfo_t()
        guard waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT | option) == 0,
            information.si_signo == SIGCHLD
        else { return nil }
        let status = information._sifields._sigchld.si_status
        return information.si_code == Int32(CLD_EXITED) ? status : 128 + status
    }

    // MARK: Output

    /// Standard output so far.
    public var output: String { String(decoding: outputBytes, as: UTF8.self) }

    /// Standard output so far.
    public var outputBytes: [UInt8] { files.output.content }

    /// Standard error so far.
    public var errors: String { String(decoding: files.errors.content, as: UTF8.self) }

    /// Blocks until the stream has a further line.
    ///
    /// - Returns: The line without its end; nil at the end of the stream.
    /// - Throws: When the limit is exceeded.
    public func line(within limit: Duration = .seconds(120)) throws(TestFailure) -> String? {
        guard let stream else { throw TestFailure("\(name) has no stream") }
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let line = received.withLock { bytes -> String? in
                guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                defer { bytes.removeSubrange(...end) }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            if let line { return line }
            guard isReadable(stream, within: limit) else {
                throw TestFailure("\(name) said nothing for \(limit)")
            }
            let count = read(stream.rawValue, &chunk, chunk.count)
            guard count > 0 else { return nil }
            received.withLock { $0 += chunk[..<count] }
        }
    }

    /// Blocks until the stream ends, and returns all remaining lines.
    public func lines() throws(TestFailure) -> [String] {
        var lines: [String] = []
        while let line = try line() { lines.append(line) }
        return lines
    }

    /// Sends a line to the program.
    public func tell(_ line: String) {
        guard let stream else { return }
        let bytes = Array((line + "\n").utf8)
        _ = send(stream.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Whether the program has not read all of its input yet.
    public var isUnread: Bool {
        guard let stream else { return false }
        var count: Int32 = 0
        return ioctl(stream.rawValue, UInt(TIOCOUTQ), &count) == 0 && count > 0
    }

    // MARK: Tools

    /// Runs a program and blocks until it exits.
    public static func run(
        _ words: [String],
        environment: [String: String] = [:],
        input: [UInt8] = [],
        mergesErrors: Bool = false,
        within limit: Duration = .seconds(120)
    ) throws(TestFailure) -> Ended {
        let process = try ChildProcess(
            words,
            environment: environment,
            input: input,
            mergesErrors: mergesErrors
        )
        let status = try process.wait(within: limit)
        return Ended(status: status, bytes: process.outputBytes, errors: process.errors)
    }
}

/// Creates a connected pair of streams that no other program inherits.
package func streamPair() throws(TestFailure) -> (OwnedDescriptor, OwnedDescriptor) {
    var ends: [Int32] = [-1, -1]
    // Sockets, because the Glibc module lacks pipe2.
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    try expect(socketpair(AF_UNIX, kind, 0, &ends) == 0, "expected a pair of sockets")
    return (OwnedDescriptor(adopting: ends[0]), OwnedDescriptor(adopting: ends[1]))
}

/// Waits for readable data or the end of the stream.
private func isReadable(_ descriptor: OwnedDescriptor, within limit: Duration) -> Bool {
    var ready = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    let end = ContinuousClock.now + limit
    while true {
        let left = max(0, (end - ContinuousClock.now) / .milliseconds(1))
        let count = poll(&ready, 1, Int32(left.rounded(.up)))
        if count >= 0 || errno != EINTR { return count > 0 }
    }
}

/// A file without a name, deleted with its last descriptor.
private struct UnnamedFile {
    let descriptor: OwnedDescriptor

    init(holding bytes: [UInt8] = []) throws(TestFailure) {
        let path = "/tmp/localauth-scratch-\(UInt64.random(in: 0...UInt64.max))"
        let file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        try expect(file >= 0, "expected a temporary file")
        unlink(path)
        descriptor = OwnedDescriptor(adopting: file)
        try expect(pwrite(file, bytes, bytes.count, 0) == bytes.count, "expected room in /tmp")
    }

    var content: [UInt8] {
        var status = stat()
        fstat(descriptor.rawValue, &status)
        let size = Int(status.st_size)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(descriptor.rawValue, buffer.baseAddress, size, 0))
        }
    }
}
