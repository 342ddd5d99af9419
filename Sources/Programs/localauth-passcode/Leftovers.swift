import CLinux
import DBus
import Glibc
import Linux

/// Ends what PAM modules leave running, whatever session or group it has moved to.
///
/// The kernel hands it to the process of its check, and when that ends to this one: each child of
/// this process that is no check was left behind. The number of a child is its own until it is
/// waited for, so that no other process is hit.
@BusActor final class Leftovers {
    /// Those that were killed and are not gone yet, and what tells that they are.
    private var ending: [pid_t: (descriptor: OwnedDescriptor, watch: EventSource)] = [:]

    /// To be made once, by a process whose children are all checks.
    init() { adopt_orphans() }

    /// Kills what ended checks left; what that leaves in turn is killed when it is gone.
    func end() {
        for pid in Self.left where ending[pid] == nil {
            kill(pid, SIGKILL)
            let opened = pidfd_open(pid, 0)
            // It stays a child, and the next check's end finds it again.
            guard opened >= 0 else { continue }
            let watch = EventLoop.shared.watch(descriptor: opened) { self.ended(pid) }
            ending[pid] = (OwnedDescriptor(adopting: opened), watch)
        }
    }

    private func ended(_ pid: pid_t) {
        guard waitpid(pid, nil, WNOHANG) == pid else { return }
        ending.removeValue(forKey: pid)?.watch.cancel()
        end()
    }

    /// Kills all that is left; returns when that and the checks have ended, or it took too long.
    ///
    /// Nothing else is done meanwhile. None of them is collected: their numbers stay theirs until
    /// this process has ended as well.
    func endNow(within limit: Duration) {
        let end = ContinuousClock.now + limit
        while let next = Self.children.first(where: Self.isRunning), ContinuousClock.now < end {
            for pid in Self.left { kill(pid, SIGKILL) }
            let process = OwnedDescriptor(adopting: pidfd_open(next, 0))
            var ended = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
            // Others may leave something meanwhile.
            poll(&ended, 1, 20)
        }
    }

    private static var left: [pid_t] { children.filter { !CheckProcess.running.contains($0) } }

    /// The first thread has the loop, which starts checks; the kernel hands it what others leave.
    private static var children: [pid_t] {
        let list = SmallFile.read("/proc/self/task/\(getpid())/children", limit: 65_536) ?? []
        // Each number ends with a space: one that was cut would be somebody else's.
        guard let end = list.lastIndex(of: UInt8(ascii: " ")) else { return [] }
        return String(decoding: list[..<end], as: UTF8.self).split(separator: " ")
            .compactMap { pid_t($0) }
    }

    private nonisolated static func isRunning(_ pid: pid_t) -> Bool {
        var information = siginfo_t()
        let options = WEXITED | WNOHANG | WNOWAIT
        return waitid(P_PID, id_t(pid), &information, options) == 0 && information.si_signo == 0
    }
}
