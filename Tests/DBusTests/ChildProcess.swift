import DBus
import Glibc
import Linux
import Testing

/// A program that a test runs.
///
/// Ended, by its pid, when the last reference goes.
final class ChildProcess: Sendable {
    private let pid: pid_t
    /// What it writes to its standard output and error.
    private let output: OwnedDescriptor

    init(_ arguments: [String]) throws {
        var ends: [Int32] = [-1, -1]
        // Closed on exec from the start: another test's program must not keep it open.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        output = OwnedDescriptor(adopting: ends[0])
        let input = OwnedDescriptor(adopting: ends[1])
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.rawValue, 1)
        posix_spawn_file_actions_adddup2(&actions, input.rawValue, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads of the test block all signals, and programs would inherit that.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pointers = arguments.map { strdup($0) } + [nil]
        defer {
            for pointer in pointers {
                free(pointer)
            }
        }
        var child = pid_t()
        let code = posix_spawnp(&child, arguments[0], &actions, &attributes, &pointers, environ)
        try #require(code == 0, "\(arguments[0]) cannot be started")
        pid = child
    }

    deinit {
        kill(pid, SIGTERM)
        waitpid(pid, nil, 0)
    }

    /// The next line, without its end; blocks.
    func line() -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output.rawValue, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Everything until it ends or closes its output; blocks.
    func text() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(output.rawValue, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
        }
    }

    /// Runs a program to its end, off the loop's thread.
    @concurrent
    static func run(_ arguments: [String]) async throws -> String {
        try ChildProcess(arguments).text()
    }
}
