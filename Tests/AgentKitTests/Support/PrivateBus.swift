package import DBus
package import Glibc

/// What went wrong in a test's own machinery.
package struct SupportError: Error, CustomStringConvertible {
    /// One sentence.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// A bus of a test's own, ended with the object.
package final class PrivateBus: Sendable {
    /// Where it listens, for `--bus`.
    package let address: String
    private let daemon: ChildProcess

    /// Starts a bus and waits until it listens.
    package init() throws {
        var ends: [Int32] = [0, 0]
        try streamPair(&ends)
        defer { close(ends[0]) }
        daemon = try ChildProcess(
            "/usr/bin/dbus-daemon",
            ["--session", "--nofork", "--nopidfile", "--print-address=1"],
            descriptors: [1: ends[1]]
        )
        close(ends[1])
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while read(ends[0], &byte, 1) == 1, byte != 0x0A { text.append(byte) }
        address = String(decoding: text, as: UTF8.self)
        guard !address.isEmpty else { throw SupportError("dbus-daemon did not start.") }
    }

    /// A connection to it.
    @BusActor package func connect() throws -> Connection {
        try Connection(.address(address))
    }
}

/// A process that a test started; killed, by its pid, when nobody holds it any more.
package final class ChildProcess: Sendable {
    /// Its number.
    package let pid: pid_t

    /// Starts a program.
    /// - Parameters:
    ///   - path: its file.
    ///   - arguments: without the name.
    ///   - environment: variables beside the tests' own; texts are English unless it says more.
    ///   - descriptors: what each of its descriptors is.
    ///   - terminal: becomes its controlling terminal, input and output.
    ///   - hasSession: it gets a session of its own, and with it no controlling terminal.
    ///   - isSilent: its output goes nowhere.
    /// - Throws: when it can't be started.
    package init(
        _ path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        descriptors: [Int32: Int32] = [:],
        terminal: String? = nil,
        hasSession: Bool = false,
        isSilent: Bool = false
    ) throws {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if terminal != nil || hasSession {
            let setsid: Int16 = 0x80
            posix_spawnattr_setflags(&attributes, setsid)
        }
        if let file = terminal ?? (isSilent ? "/dev/null" : nil) {
            for descriptor in 0...2 {
                posix_spawn_file_actions_addopen(&actions, Int32(descriptor), file, O_RDWR, 0)
            }
        }
        for (target, source) in descriptors {
            posix_spawn_file_actions_adddup2(&actions, source, target)
        }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = Self.variables(environment).map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, path, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw SupportError("\(path) did not start: \(code)") }
        self.pid = pid
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
        var status: Int32 = 0
        waitpid(pid, &status, 0)
    }

    /// Sends it a signal.
    package func signal(_ number: Int32) { kill(pid, number) }

    /// Waits for its end.
    /// - Returns: its exit status, or 128 and the signal that ended it.
    package func status() -> Int32 {
        var status: Int32 = 0
        var information = siginfo_t()
        // The process stays waitable, so that its number is never another's in deinit.
        guard waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) == 0 else { return -1 }
        status = information._sifields._sigchld.si_status
        return information.si_code == Int32(CLD_EXITED) ? status : 128 + status
    }
}

/// Makes two connected ends that no other child inherits.
package func streamPair(_ ends: inout [Int32]) throws {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard ends.count == 2, socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
        throw SupportError("No sockets.")
    }
}
