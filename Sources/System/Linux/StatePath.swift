import Glibc

/// Where a program keeps its state, and what its environment says.
package enum StatePath {
    /// The first folder of `$STATE_DIRECTORY`, else `/var/lib/<system>` for root and
    /// `$XDG_STATE_HOME/<user>` or `~/.local/state/<user>` for others; nil: there is no home.
    ///
    /// Only whole paths count.
    package static func folder(system: String, user: String) -> String? {
        if let given = path(in: "STATE_DIRECTORY") { return String(given.prefix { $0 != ":" }) }
        if geteuid() == 0 { return "/var/lib/\(system)" }
        if let state = path(in: "XDG_STATE_HOME") { return "\(state)/\(user)" }
        return path(in: "HOME").map { "\($0)/.local/state/\(user)" }
    }

    /// The whole path that a variable of the environment has.
    package static func path(in variable: String) -> String? {
        guard let value = getenv(variable) else { return nil }
        let path = String(cString: value)
        return path.hasPrefix("/") ? path : nil
    }
}
