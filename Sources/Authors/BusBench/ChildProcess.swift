import CLinux
import DBus
import Glibc
package import Linux
import Synchronization

/// A process that a test started.
///
/// It is killed, by its pid, when nobody holds it any more. Until then the kernel keeps its pid, so
/// that a signal never reaches another process.
///
/// Not Foundation's `Process`: its pipes are inherited by whatever another test starts at the same
/// moment, so that their end is seen only when that program has ended as well.
public final class ChildProcess: Sendable {
    /// How a program ended, and what it wrote.
    public struct Ended: Sendable {
        /// The exit status, or 128 and the signal that ended it.
        public let status: Int32
        /// What it wrote to standard output.
        public let bytes: [UInt8]
        /// What it wrote to standard error.
        public let errors: String

        /// What it wrote to standard output, as text.
        public var output: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Its process id.
    public let pid: Int32
    private let name: String
    private let files: (output: UnnamedFile, errors: UnnamedFile)
    /// Our end of the stream that it reads and writes lines on.
    private let stream: OwnedDescriptor?
    private let received = Mutex<[UInt8]>([])

    /// The folder of the test's own executable, which is where programs are built.
    public static let folder: String = {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        let text = String(decoding: path.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
        return text.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    }()

    /// Starts a program; a name without `/` is looked for in ``folder``.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments.
    ///   - environment: Variables beside the test's own; texts are English unless they say more.
    ///   - input: What stands on its standard input.
    ///   - hasStream: Its standard input and output are one stream of lines: see ``line(within:)``,
    ///     ``tell(_:)`` and ``closeInput()``.
    ///   - mergesErrors: Its standard error goes where its standard output goes.
    ///   - descriptor: What it finds as number 3.
    ///   - terminal: Becomes its controlling terminal, input and output.
    ///   - hasSession: It gets a session of its own, and with it no controlling terminal.
    /// - Throws: When it can't be started.
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
        // The threads of the test block signals, and whoever started it in the background may have
        // it ignore Ctrl-C; a program must inherit neither.
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
        // The lists that C wants: ended by a null, freed below.
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

    // MARK: Its end

    /// Whether it has not ended yet.
    public var isRunning: Bool { ending(WNOHANG) == nil }

    /// Sends a signal; one that has ended takes none.
    public func signal(_ number: Int32) { kill(pid, number) }

    /// Blocks until it ends.
    ///
    /// - Returns: The exit status, or 128 and the signal that ended it.
    /// - Throws: When that takes too long.
    @discardableResult
    public func wait(within limit: Duration = .seconds(120)) throws(TestFailure) -> Int32 {
        let process = OwnedDescriptor(adopting: pidfd_open(pid, 0))
        // What a leak checker traced has ended, and is collected a moment later.
        guard isReadable(process, within: limit), let status = ending(0) else {
            throw TestFailure("\(name) did not end within \(limit)")
        }
        return status
    }

    /// Waits for its end and keeps no thread from working.
    ///
    /// - Returns: The exit status, or 128 and the signal that ended it.
    /// - Throws: When that takes too long.
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
        let ended = Witness<Bool>()
        let watch = EventLoop.shared.watch(descriptor: process.rawValue) {
            // A wake-up may be meant for an earlier descriptor of this number.
            if self.ending(WNOHANG) != nil { ended.record(true) }
        }
        defer { watch.cancel() }
        _ = try await ended.first("\(name) to end", within: limit) { $0 }
    }

    /// Waits for its end and keeps no thread from working.
    ///
    /// - Returns: How it ended, and what it wrote.
    /// - Throws: When that takes too long.
    public func ended(within limit: Duration) async throws(TestFailure) -> Ended {
        let status = try await exitStatus(within: limit)
        return Ended(status: status, bytes: outputBytes, errors: errors)
    }

    /// Ends it at once and waits.
    public func end() async {
        signal(SIGKILL)
        _ = try? await exitStatus()
    }

    /// It stays a zombie until `deinit` collects it: that keeps its pid from being used again.
    private func ending(_ option: Int32) -> Int32? {
        var information = siginfo_t()
        guard waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT | option) == 0,
            information.si_signo == SIGCHLD
        else { return nil }
        let status = information._sifields._sigchld.si_status
        return information.si_code == Int32(CLD_EXITED) ? status : 128 + status
    }

    // MARK: What it says

    /// What it wrote to standard output so far.
    public var output: String { String(decoding: outputBytes, as: UTF8.self) }

    /// What it wrote to standard output so far.
    public var outputBytes: [UInt8] { files.output.content }

    /// What it wrote to standard error so far.
    public var errors: String { String(decoding: files.errors.content, as: UTF8.self) }

    /// Blocks until the next line on its stream is there.
    ///
    /// - Returns: The line without its end; nil when there will be none.
    /// - Throws: When that takes too long.
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

    /// Blocks until its stream ends, and gives every line that was left.
    public func lines() throws(TestFailure) -> [String] {
        var lines: [String] = []
        while let line = try line() { lines.append(line) }
        return lines
    }

    /// Gives it a line.
    public func tell(_ line: String) {
        guard let stream else { return }
        let bytes = Array((line + "\n").utf8)
        _ = send(stream.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Whether it was given something that it has not read yet.
    public var isUnread: Bool {
        guard let stream else { return false }
        var count: Int32 = 0
        return ioctl(stream.rawValue, UInt(TIOCOUTQ), &count) == 0 && count > 0
    }

    // MARK: Tools

    /// Blocks until a program has run to its end.
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

/// Two ends of a stream that no other program inherits.
package func streamPair() throws(TestFailure) -> (OwnedDescriptor, OwnedDescriptor) {
    var ends: [Int32] = [-1, -1]
    // A pair of sockets: pipe2 is not in the Glibc module.
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    try expect(socketpair(AF_UNIX, kind, 0, &ends) == 0, "expected a pair of sockets")
    return (OwnedDescriptor(adopting: ends[0]), OwnedDescriptor(adopting: ends[1]))
}

/// Waits until there is something to read, or the end of it.
private func isReadable(_ descriptor: OwnedDescriptor, within limit: Duration) -> Bool {
    var ready = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    let end = ContinuousClock.now + limit
    while true {
        let left = max(0, (end - ContinuousClock.now) / .milliseconds(1))
        let count = poll(&ready, 1, Int32(left.rounded(.up)))
        if count >= 0 || errno != EINTR { return count > 0 }
    }
}

/// A file without a name, gone with the last who has it open.
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
