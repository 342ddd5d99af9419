import Glibc

/// Where labels are kept.
enum StateFolder {
    /// What systemd says, else a folder of root's or of the user's.
    static var path: String {
        let variable = { (name: String) in getenv(name).map { String(cString: $0) } }
        if let folder = variable("STATE_DIRECTORY")?.split(separator: ":").first {
            return String(folder)
        }
        if geteuid() == 0 { return "/var/lib/localauth-sensor-fingerprint" }
        let home = variable("XDG_STATE_HOME") ?? "\(variable("HOME") ?? "")/.local/state"
        return home + "/localauth"
    }
}
