import CLinux
import DBus
import Glibc
import Linux

/// Kills processes that PAM modules leave running, whatever session or group they moved to.
///
/// Orphans are reparented to their check, and to this process when the check ends. So each child of
/// this process that is not a check was left behind. A child's pid can't be reused before this
/// process reaps it, so the kill hits no other process.
@BusActor final class OrphanReaper {
    /// Processes killed but not yet reaped, with a watch that fires at their exit.
    private var ending: [pid_t: (descriptor: OwnedDescriptor, watch: EventSource)] = [:]

    /// Makes this process adopt orphans.
    ///
    /// Call it once, in a process whose children are all checks.
    init() { adopt_orphans() }

    /// Kills what ended checks left behind; their own orphans follow when they are reaped.
    func end() {
        for pid in Self.left where ending[pid] == nil {
            kill(pid, SIGKILL)
            let opened = pidfd_open(pid, 0)
            // The process stays a child, so the end of the next check finds it again.
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

    /// Kills all leftovers and waits until they and the checks have exited, at most for `limit`.
    ///
    /// Blocks the loop. Reaps no process: pids can't be reused until this process has exited.
    func endNow(within limit: Duration) {
        let end = ContinuousClock.now + limit
        while let next = Self.children.first(where: Self.isRunning), ContinuousClock.now < end {
            for pid in Self.left { kill(pid, SIGKILL) }
            let process = OwnedDescriptor(adopting: pidfd_open(next, 0))
            var ended = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
            // Wait briefly only: meanwhile another process may leave orphans.
            poll(&ended, 1, 20)
        }
    }

    private static var left: [pid_t] { children.filter { !CheckProcess.running.contains($0) } }

    /// Children of the first thread, which runs the loop and starts checks.
    ///
    /// The kernel reparents orphans to it.
    private static var children: [pid_t] {
        let list = SmallFile.read("/proc/self/task/\(getpid())/children", limit: 65_536) ?? []
        // Each number ends with a space; a truncated number would be another process.
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
