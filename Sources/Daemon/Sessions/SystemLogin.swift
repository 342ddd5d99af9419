import CSystemd
import Glibc

/// What sd-login reads from the system's files, for answers that can't wait for the bus.
enum SystemLogin {
    /// Whether a login manager runs, or is about to: its folder is there.
    static var isRunning: Bool { access("/run/systemd/seats", F_OK) == 0 }

    /// The session of a process; nil: it is in none.
    static func session(of pid: Int32) -> String? {
        // sd-login allocates the name for us.
        var name: UnsafeMutablePointer<CChar>?
        defer { free(name) }
        return sd_pid_get_session(pid, &name) >= 0 ? name.map { String(cString: $0) } : nil
    }

    /// Whether a session comes over the network.
    static func isRemote(_ session: String) -> Bool { sd_session_is_remote(session) > 0 }
}
