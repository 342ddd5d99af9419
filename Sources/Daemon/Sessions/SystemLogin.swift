import CSystemd
import Glibc

/// Facts that sd-login reads from the system's files, for answers that can't wait for the bus.
enum SystemLogin {
    /// Whether a login manager runs or is about to, according to its folder.
    static var isRunning: Bool { access("/run/systemd/seats", F_OK) == 0 }

    /// Returns the session of a process; nil if it is in none.
    static func session(of pid: Int32) -> String? {
        // SAFETY: sd-login allocates the name, and `free` accepts nil.
        var name: UnsafeMutablePointer<CChar>?
        defer { free(name) }
        return sd_pid_get_session(pid, &name) >= 0 ? name.map { String(cString: $0) } : nil
    }

    static func isRemote(_ session: String) -> Bool { sd_session_is_remote(session) > 0 }
}
