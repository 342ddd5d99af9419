import AgentKit
import DBus
import Glibc
import Localization

/// A run of systemd-creds, the only program that writes credentials in systemd's format.
///
/// Secrets pass through pipes, never through a command line or an environment.
struct SystemdCreds: ~Copyable {
    private let pid: pid_t
    private let errors: Pipe

    init(
        _ arguments: [String],
        input: Int32? = nil,
        output: Int32? = nil
    ) throws(Failure) {
        var errors = try Pipe()
        errors.neverWait()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, descriptor) in [input, output, errors.writing].enumerated() {
            guard let descriptor else { continue }
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
        }
        var words = (["systemd-creds"] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, "systemd-creds", &actions, nil, &words, environ)
        guard code == 0 else {
            throw Failure(
                .refused,
                localized(
                    "%1$s can't be started: %2$s",
                    "systemd-creds",
                    String(cString: strerror(code))
                ),
                hint: localized("install systemd 250 or later")
            )
        }
        errors.closeWriting()
        self.pid = pid
        self.errors = errors
    }

    /// Waits until the program has exited.
    ///
    /// - Returns: The exit status (-1 after a signal) and the last line of standard error.
    func finish() -> (status: Int32, complaint: String) {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = max(0, read(errors.reading, &bytes, bytes.count))
        let lines = String(decoding: bytes[..<count], as: UTF8.self)
            .split(whereSeparator: \.isNewline)
        return (
            status & 0x7F == 0 ? status >> 8 & 0xFF : -1,
            plainText(String(lines.last ?? ""), limit: 512)
        )
    }
}

/// The two ends of a pipe, closed on exec.
struct Pipe: ~Copyable {
    let reading: Int32
    private(set) var writing: Int32

    init() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Failure(.refused, String(cString: strerror(errno)))
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        if writing >= 0 { close(writing) }
    }

    /// Makes both ends non-blocking: a full pipe drops the rest, an empty pipe reads as empty.
    func neverWait() {
        for end in [reading, writing] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    /// Closes the writing end, so that the reader sees the end of the data.
    mutating func closeWriting() {
        close(writing)
        writing = -1
    }
}
