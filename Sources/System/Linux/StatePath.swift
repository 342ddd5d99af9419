import Glibc

/// The folders for a program's state, as its environment sets them.
package enum StatePath {
    /// The first folder of `$STATE_DIRECTORY`, else a default; nil without a home.
    ///
    /// The default is `/var/lib/<system>` for root, and `$XDG_STATE_HOME/<user>` or
    /// `~/.local/state/<user>` for other users. Relative paths are ignored.
    package static func folder(system: String, user: String) -> String? {
        if let given = path(in: "STATE_DIRECTORY") { return String(given.prefix { $0 != ":" }) }
        if geteuid() == 0 { return "/var/lib/\(system)" }
        if let state = path(in: "XDG_STATE_HOME") { return "\(state)/\(user)" }
        return path(in: "HOME").map { "\($0)/.local/state/\(user)" }
    }

    /// The absolute path in an environment variable; nil for a relative path.
    package static func path(in variable: String) -> String? {
        guard let value = getenv(variable) else { return nil }
        let path = String(cString: value)
        return path.hasPrefix("/") ? path : nil
    }
}
