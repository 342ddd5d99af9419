import CLinux
import DBus
import Glibc
import Linux
import LocalAuthBus

/// One child process that checks one passcode: PAM modules block, crash and leave things behind.
@BusActor final class CheckProcess {
    static let deadline = Duration.seconds(30)

    private let pid: pid_t
    private let descriptor: OwnedDescriptor
    private var isRunning = true
    private var result: Verdict?
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var ending: EventSource?
    private var timer: EventSource?

    /// Starts the child, which inherits `socket` as descriptor 3 and no other descriptor.
    init(_ check: PasscodeCheck, socket: OwnedDescriptor) throws(DBusError) {
        pid = try Self.spawn(check.words, socket: socket.rawValue)
        let opened = pidfd_open(pid, 0)
        guard opened >= 0 else {
            Glibc.kill(-pid, SIGKILL)
            waitpid(pid, nil, 0)
            throw DBusError(.passcodeFailed, "The child process can't be watched.")
        }
        descriptor = OwnedDescriptor(adopting: opened)
        ending = EventLoop.shared.watch(descriptor: opened) { self.ended() }
        timer = EventLoop.shared.schedule(after: Self.deadline) { self.kill() }
    }

    /// The verdict that the child exited with; nil when it was killed or exited otherwise.
    func verdict() async -> Verdict? {
        if isRunning { await withCheckedContinuation { waiters.append($0) } }
        return result
    }

    /// Kills the child and every process that it started.
    func kill() {
        if isRunning { Glibc.kill(-pid, SIGKILL) }
    }

    private func ended() {
        var status: Int32 = 0
        guard isRunning else { return }
        // What a module left running goes with it; while it is not waited for, the number is its
        // own.
        Glibc.kill(-pid, SIGKILL)
        guard waitpid(pid, &status, WNOHANG) == pid else { return }
        isRunning = false
        ending?.cancel()
        timer?.cancel()
        // The low seven bits are the signal that ended it.
        if status & 0x7f == 0 { result = Verdict(rawValue: (status >> 8) & 0xff) }
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    private static func spawn(_ words: [String], socket: Int32) throws(DBusError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, socket, PasscodeCheck.socket)

        // The loop blocks signals and the program ignores some: the child starts with neither. A
        // group of its own lets one kill reach what a module starts.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var arguments = Self.list(words)
        var environment = Self.list(["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"])
        defer { for text in arguments + environment { free(text) } }
        var pid: pid_t = 0
        let error = posix_spawn(
            &pid,
            "/proc/self/exe",
            &actions,
            &attributes,
            &arguments,
            &environment
        )
        guard error == 0 else {
            throw DBusError(.passcodeFailed, "The child process can't be started.")
        }
        return pid
    }

    /// A list of C strings that ends with NULL.
    private static func list(_ words: [String]) -> [UnsafeMutablePointer<CChar>?] {
        words.map { strdup($0) } + [UnsafeMutablePointer<CChar>?.none]
    }
}

extension CheckProcess: Hashable {
    nonisolated static func == (one: CheckProcess, other: CheckProcess) -> Bool { one === other }
    nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
