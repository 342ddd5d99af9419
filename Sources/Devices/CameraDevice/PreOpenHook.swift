import CLinux
import Glibc

/// A program to run before the camera is opened, for example to switch an infrared emitter on.
///
/// The program's argument is the device node.
package struct PreOpenHook: Hashable, Sendable {
    /// The time limit, in milliseconds.
    package static let limit: Int32 = 5_000

    private static let searchPath = "PATH=/usr/sbin:/usr/bin:/sbin:/bin"

    private let program: String

    /// - Parameter program: The absolute path. No shell runs it, and PATH is not searched.
    /// - Throws: ``CameraFault/failed(_:)`` if the file is not executable.
    package init(_ program: String) throws(CameraFault) {
        guard program.hasPrefix("/"), access(program, X_OK) == 0 else {
            throw .failed("The hook '\(program)' is not the whole path of a program.")
        }
        self.program = program
    }

    /// Runs the program and waits.
    ///
    /// After 5 s, it is killed with all processes of its group.
    ///
    /// - Throws: ``CameraFault/failed(_:)`` unless it exits with status 0.
    package func run(
        _ device: String,
        _ interruption: Interruption,
        limit: Int32 = Self.limit
    ) throws(CameraFault) {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Reset the mask: the calling thread blocks every signal.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // Reset handlers: the hook must not inherit ignored signals.
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // Use a separate process group, so that all processes that the hook starts are killed with
        // it.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP)
        )
        // SAFETY: copies, which the `defer` below frees after the spawn.
        var words: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(device), nil]
        var environment: [UnsafeMutablePointer<CChar>?] = [strdup(Self.searchPath), nil]
        defer { for word in words + environment { free(word) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, program, nil, &attributes, &words, &environment)
        guard code == 0 else {
            throw .failed("The hook can't be run: \(String(cString: strerror(code))).")
        }
        let isInTime = wait(for: child, interruption, limit)
        // Kill the group before reaping the child: until then its pid cannot be reused.
        kill(-child, SIGKILL)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        if interruption.isRaised { throw .interrupted }
        guard isInTime else { throw .failed("The hook took longer than \(limit) ms.") }
        guard status == 0 else {
            let how = status & 0x7F == 0 ? "status \(status >> 8)" : "signal \(status & 0x7F)"
            throw .failed("The hook ended with \(how).")
        }
    }

    /// Returns false if the hook is still running or the interruption was raised.
    private func wait(for child: pid_t, _ interruption: Interruption, _ limit: Int32) -> Bool {
        let descriptor = pidfd_open(child, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var waiting = [descriptor, interruption.descriptor]
            .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = poll(&waiting, nfds_t(waiting.count), limit)
        return waiting[0].revents != 0
    }
}
