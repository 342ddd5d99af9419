import CLinux
import DBus
import Glibc
import Linux

/// A descriptor of a process, which never refers to a later process with a reused pid.
enum ProcessDescriptor {
    /// - Throws: InvalidArgs if the process does not exist.
    static func open(_ pid: Int32) throws(DBusError) -> OwnedDescriptor {
        let descriptor = pidfd_open(pid, 0)
        guard descriptor >= 0 else { throw .invalid("there is no process \(pid)") }
        return OwnedDescriptor(adopting: descriptor)
    }

    /// Whether the process has ended, so that its pid may belong to another process.
    static func hasEnded(_ process: OwnedDescriptor) -> Bool {
        var state = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) != 0
    }
}
