import Foundation

/// Why a measurement could not be made.
public struct BenchmarkError: Error, CustomStringConvertible {
    /// One sentence.
    public let description: String

    /// Makes an error of one sentence.
    public init(_ description: String) {
        self.description = description
    }
}

/// A process that the benchmark started, spoken to in lines and ended by its number.
public final class ChildProcess {
    /// Its number.
    public let pid: Int32
    /// The last part of its path.
    public let name: String
    private let channel: Int32
    private var received: [UInt8] = []
    private var hasEnded = false

    /// Which processor a process stays on.
    ///
    /// What a call costs depends on whether caller and service share one, so that is not left to
    /// chance: the service is alone, the bus and the client are together.
    public enum Place: Int {
        /// The bus and whoever calls.
        case clients = 0
        /// What is measured.
        case service = 1
    }

    /// Starts a program by its path.
    ///
    /// It finds `descriptor` as number 3, `variables` in its environment, and what it says to
    /// standard error goes to the file `errors`.
    public init(
        _ command: [String],
        at place: Place? = nil,
        descriptor: Int32? = nil,
        variables: [String: String] = [:],
        errors: String? = nil
    ) throws {
        name = URL(fileURLWithPath: command[0]).lastPathComponent
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let arguments =
            place.map { ["/usr/bin/taskset", "-c", "\($0.rawValue % cores)"] + command } ?? command
        let program = arguments[0]
        let (ours, theirs) = try Self.socketPair()
        channel = ours
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, theirs, 0)
        posix_spawn_file_actions_adddup2(&actions, theirs, 1)
        if let descriptor {
            posix_spawn_file_actions_adddup2(&actions, descriptor, 3)
        }
        if let errors {
            let flags = O_WRONLY | O_CREAT | O_APPEND
            posix_spawn_file_actions_addopen(&actions, 2, errors, flags, 0o600)
        }
        let variables = ProcessInfo.processInfo.environment.merging(variables) { $1 }
            .map { "\($0.key)=\($0.value)" }
        let argv = arguments.map { strdup($0) } + [nil]
        let environment = variables.map { strdup($0) } + [nil]
        // The loop blocks the signals that it waits for; whoever is started here must not.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var started: pid_t = 0
        let status = posix_spawn(&started, program, &actions, &attributes, argv, environment)
        posix_spawnattr_destroy(&attributes)
        for text in argv + environment { free(text) }
        posix_spawn_file_actions_destroy(&actions)
        close(theirs)
        pid = started
        guard status == 0 else {
            hasEnded = true
            throw BenchmarkError("\(program): \(String(cString: strerror(status)))")
        }
    }

    /// Two ends of a stream, closed when another program starts.
    public static func socketPair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw BenchmarkError("socketpair: \(String(cString: strerror(errno)))")
        }
        return (ends[0], ends[1])
    }

    deinit {
        if !hasEnded {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
        close(channel)
    }

    /// The next line that it prints.
    public func readLine(within seconds: Int32 = 120) throws -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = received[..<end]
                received.removeSubrange(...end)
                return String(bytes: line, encoding: .utf8) ?? ""
            }
            var ready = pollfd(fd: channel, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, seconds * 1000) > 0 else {
                throw BenchmarkError("\(name) said nothing for \(seconds) s")
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(channel, &buffer, buffer.count)
            guard count > 0 else { throw BenchmarkError("\(name) ended early") }
            received += buffer[..<count]
        }
    }

    /// Waits until it says that it is prepared.
    public func waitUntilReady() throws {
        let line = try readLine()
        guard line == "ready" else { throw BenchmarkError("\(name) said \(line)") }
    }

    /// Lets it begin its next part.
    public func go() { tell("") }

    /// Gives it a line.
    public func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        send(channel, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Waits for its end; another status than 0 is an error.
    public func waitForEnd() throws {
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        hasEnded = true
        guard status == 0 else { throw BenchmarkError("\(name) ended with status \(status)") }
    }

    /// Asks it to end, and waits; one that won't within 5 s is killed, which is an error.
    public func terminate() throws {
        kill(pid, SIGTERM)
        for _ in 0..<500 {
            var ended = siginfo_t()
            let state = waitid(P_PID, id_t(pid), &ended, WEXITED | WNOHANG | WNOWAIT)
            if state != 0 || ended.si_signo != 0 { break }
            poll(nil, 0, 10)
        }
        kill(pid, SIGKILL)
        try waitForEnd()
    }

    /// Processor time of all its threads so far, in nanoseconds.
    public func processorTime() throws -> Double {
        let tasks = "/proc/\(pid)/task"
        var sum = 0.0
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            let figures = try String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8)
            sum += figures.split(separator: " ").first.flatMap { Double($0) } ?? 0
        }
        return sum
    }

    /// Its proportional share of memory, in KB.
    public func proportionalSetSize() throws -> Double { try memory("Pss:") }

    /// What it wrote to memory: what it has of its own, without code and files, in KB.
    public func anonymousMemory() throws -> Double { try memory("Anonymous:") }

    private func memory(_ key: String) throws -> Double {
        let rollup = try String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8)
        for line in rollup.split(separator: "\n") where line.hasPrefix(key) {
            let words = line.split(separator: " ")
            if words.count > 1, let kilobytes = Double(words[1]) { return kilobytes }
        }
        throw BenchmarkError("no \(key) in smaps_rollup of \(name)")
    }
}
