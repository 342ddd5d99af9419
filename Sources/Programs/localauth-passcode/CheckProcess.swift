import CLinux
import DBus
import Glibc
import Linux
import LocalAuthBus

/// A child process that checks one password, because PAM modules block, crash and leave processes
/// behind.
///
/// The child reports its verdict on a pipe and then lives on for a while. A local observer
/// therefore can't infer the verdict from the child's lifetime.
@BusActor final class CheckProcess {
    static let deadline = Duration.seconds(30)
    /// Children that have not been reaped.
    private(set) static var running: Set<pid_t> = []

    private let pid: pid_t
    private let descriptor: OwnedDescriptor
    private let pipe: OwnedDescriptor
    private let hasVerdict: @BusActor (CheckReport?) -> Void
    private let hasEnded: @BusActor () -> Void
    private var isRunning = true
    private var isTold = false
    private var report: CheckReport?
    private var reading: EventSource?
    private var ending: EventSource?
    private var timer: EventSource?
    private var delay: EventSource?

    /// Starts the child with the sealed password on descriptor 3 and its report pipe on 4.
    ///
    /// The child inherits no other descriptor. `hasVerdict` is called once: with nil if the child
    /// ended without a verdict or was killed, unless that counts, and for a wrong password after
    /// PAM's delay.
    /// `hasEnded` is called once, after `hasVerdict`, when the child has been reaped.
    ///
    /// - Throws: `Failed` when the child can't be started.
    init(
        _ check: PasscodeCheck,
        _ passcode: SealedPasscode,
        hasVerdict: @escaping @BusActor (CheckReport?) -> Void,
        hasEnded: @escaping @BusActor () -> Void
    ) throws(DBusError) {
        let (reader, writer) = try Self.pipe()
        let (input, passcodeEnd) = try Self.pipe()
        guard passcode.write(to: passcodeEnd) else {
            throw DBusError(.passcodeFailed, "The child process can't be given the password.")
        }
        pid = try Self.spawn(check.words, input: input.rawValue, pipe: writer.rawValue)
        pipe = reader
        self.hasVerdict = hasVerdict
        self.hasEnded = hasEnded
        let opened = pidfd_open(pid, 0)
        guard opened >= 0 else {
            Glibc.kill(-pid, SIGKILL)
            waitpid(pid, nil, 0)
            throw DBusError(.passcodeFailed, "The child process can't be watched.")
        }
        descriptor = OwnedDescriptor(adopting: opened)
        Self.running.insert(pid)
        reading = EventLoop.shared.watch(descriptor: reader.rawValue) { self.reported() }
        ending = EventLoop.shared.watch(descriptor: opened) { self.ended() }
        timer = EventLoop.shared.schedule(after: Self.deadline) {
            if self.report == nil { self.report = check.overdueReport }
            self.kill()
        }
    }

    /// Kills the child and its process group.
    ///
    /// ``OrphanReaper`` kills what has left the group.
    func kill() {
        if isRunning { Glibc.kill(-pid, SIGKILL) }
    }

    private func reported() {
        reading?.cancel()
        guard let report = CheckReport(from: pipe.rawValue) else { return }
        self.report = report
        guard report.verdict != .correct, report.delay > 0 else { return tell() }
        let rest = Duration.microseconds(report.delay)
        delay = EventLoop.shared.schedule(after: rest) { self.tell() }
    }

    private func tell() {
        guard !isTold else { return }
        isTold = true
        delay?.cancel()
        hasVerdict(report)
    }

    private func ended() {
        guard isRunning else { return }
        // Until the child is reaped, no other process can have its group's number.
        Glibc.kill(-pid, SIGKILL)
        guard waitpid(pid, nil, WNOHANG) == pid else { return }
        isRunning = false
        Self.running.remove(pid)
        ending?.cancel()
        timer?.cancel()
        // The report may still be in the pipe.
        if report == nil { reported() }
        tell()
        hasEnded()
    }

    private static func pipe() throws(DBusError) -> (OwnedDescriptor, OwnedDescriptor) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else {
            throw DBusError(.passcodeFailed, "No pipe can be made.")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (OwnedDescriptor(adopting: ends[0]), OwnedDescriptor(adopting: ends[1]))
    }

    private static func spawn(
        _ words: [String],
        input: Int32,
        pipe: Int32
    ) throws(DBusError) -> pid_t {
        // High numbers first, so that 3 and 4 are free to be assigned in the child.
        let high = [input, pipe].map { fcntl($0, F_DUPFD_CLOEXEC, 16) }
        defer { for descriptor in high { close(descriptor) } }
        guard !high.contains(-1) else {
            throw DBusError(.passcodeFailed, "There are no descriptors left.")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, high[0], PasscodeCheck.input)
        posix_spawn_file_actions_adddup2(&actions, high[1], PasscodeCheck.pipe)

        // The loop blocks signals and the program ignores some; reset both for the child. With a
        // process group of its own, one kill also reaches a module's processes unless they left the
        // group.
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
        // Resolve all symbols at start. Lazy binding saves vector registers on the stack, and they
        // may hold a copy of the password.
        var environment = Self.list([
            "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "LD_BIND_NOW=1",
        ])
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

    private static func list(_ words: [String]) -> [UnsafeMutablePointer<CChar>?] {
        words.map { strdup($0) } + [UnsafeMutablePointer<CChar>?.none]
    }
}
