import CLinux
public import DBus
import Glibc
import Linux

/// A check that failed: what was expected and what came.
public struct ContractFailure: Error, CustomStringConvertible, Hashable {
    /// One sentence.
    public let description: String

    /// Makes a failure from one sentence.
    public init(_ message: String) { description = message }
}

/// Fails with a sentence unless the condition holds.
public func expect(
    _ condition: Bool,
    _ message: @autoclosure () -> String
) throws(ContractFailure) {
    guard condition else { throw ContractFailure(message()) }
}

/// A process that a test started; its output goes to files beside it.
@BusActor public final class LaunchedProgram {
    /// Its process id; ended by ``end()`` if nothing else did.
    public let pid: Int32
    private let outputs: [String]
    private let descriptor: OwnedDescriptor
    private let status = Witness<Int32>()
    private var ending: EventSource?

    /// The folder of the test's own executable, which is where programs are built.
    public nonisolated static var folder: String {
        var path = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        let text = String(decoding: path.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
        return text.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    }

    /// Starts `words[0]`; `output` is a path that the names of the output files begin with.
    public init(_ words: [String], output: String) throws(ContractFailure) {
        outputs = [output + ".out", output + ".err"]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (number, path) in outputs.enumerated() {
            posix_spawn_file_actions_addopen(
                &actions,
                Int32(number + 1),
                path,
                O_WRONLY | O_CREAT | O_TRUNC,
                0o600
            )
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = words.map { strdup($0) } + [UnsafeMutablePointer<CChar>?.none]
        defer { for text in arguments { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, words[0], &actions, &attributes, &arguments, environ)
        try expect(code == 0, "\(words[0]) can't be started: \(String(cString: strerror(code)))")
        self.pid = pid
        descriptor = OwnedDescriptor(adopting: pidfd_open(pid, 0))
        ending = EventLoop.shared.watch(descriptor: descriptor.rawValue) { self.reap() }
    }

    /// The exit status, or 128 and the signal.
    public func exitStatus(
        within limit: Duration = .seconds(5)
    ) async throws(ContractFailure)
        -> Int32
    {
        try await status.first("the program to end", within: limit) { _ in true }
    }

    /// Whether it has not ended yet.
    public var isRunning: Bool { status.seen.isEmpty }

    /// What it wrote to standard output and to standard error so far.
    public var output: (out: String, error: String) {
        (Self.text(outputs[0]), Self.text(outputs[1]))
    }

    /// Sends a signal, unless it has ended.
    public func signal(_ number: Int32) {
        if isRunning { kill(pid, number) }
    }

    /// Ends it at once and waits.
    public func end() async {
        signal(SIGKILL)
        _ = try? await exitStatus()
    }

    private func reap() {
        var code: Int32 = 0
        guard isRunning, waitpid(pid, &code, WNOHANG) == pid else { return }
        ending?.cancel()
        status.record(code & 0x7f == 0 ? (code >> 8) & 0xff : 128 + (code & 0x7f))
    }

    private static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
