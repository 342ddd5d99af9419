import Linux

/// The authentication modules that a PAM service names, with all files that it includes.
///
/// Only their names count: PAM itself runs them.
struct PAMStack {
    /// File names without `.so`, in their order.
    let modules: [String]
    /// Whether the service has lines of `account`.
    let hasAccount: Bool

    /// Modules that verify no password, or only the passwords of shadow.
    private static let others: Set<String> = [
        "pam_access", "pam_cap", "pam_cgfs", "pam_deny", "pam_echo", "pam_env", "pam_faildelay",
        "pam_faillock", "pam_fprintd", "pam_group", "pam_keyinit", "pam_lastlog", "pam_limits",
        "pam_listfile", "pam_localauth", "pam_localuser", "pam_motd", "pam_namespace",
        "pam_nologin", "pam_permit", "pam_rootok", "pam_securetty", "pam_shells",
        "pam_succeed_if", "pam_time", "pam_u2f", "pam_umask", "pam_unix", "pam_usertype",
        "pam_warn", "pam_wheel",
    ]
    private static let systemFolders = ["/etc/pam.d", "/usr/lib/pam.d"]
    /// Bounds a file that includes itself.
    private static let maximumFiles = 32

    init(service: String, directory: String?) {
        let folders = directory.map { [$0] } ?? Self.systemFolders
        var modules: [String] = []
        var hasAccount = false
        var waiting = [service]
        var count = 0
        while let name = waiting.popLast(), count < Self.maximumFiles {
            count += 1
            let file = folders.lazy.compactMap { SmallFile.read("\($0)/\(name)", limit: 1 << 16) }
            guard let bytes = file.first else { continue }
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                switch Self.entry(String(line)) {
                case .module(let module): modules.append(module)
                case .account: hasAccount = true
                case .file(let included): waiting.append(included)
                case nil: continue
                }
            }
        }
        (self.modules, self.hasAccount) = (modules, hasAccount)
    }

    /// Whether a module other than `pam_unix` may verify a password, such as `pam_sss`.
    var hasDirectory: Bool { modules.contains { !Self.others.contains($0) } }

    /// Whether the stack locks accounts itself.
    var hasFaillock: Bool { modules.contains("pam_faillock") }

    private enum Entry {
        case module(String)
        case account
        case file(String)
    }

    /// Parses a line of a service file; nil for a line that names no module to authenticate with.
    private static func entry(_ line: String) -> Entry? {
        let code = line.prefix { $0 != "#" }
        var words = code.split { $0 == " " || $0 == "\t" }.map(String.init)
        if words.first == "@include", words.count > 1 { return .file(words[1]) }
        guard words.count > 2 else { return nil }
        if ["account", "-account"].contains(words[0].lowercased()) { return .account }
        guard ["auth", "-auth"].contains(words[0].lowercased()) else { return nil }
        if ["include", "substack"].contains(words[1].lowercased()) { return .file(words[2]) }
        // A control in brackets may contain blanks.
        if words[1].hasPrefix("["), let end = words.firstIndex(where: { $0.hasSuffix("]") }) {
            words.removeSubrange(1..<end)
        }
        guard words.count > 2 else { return nil }
        let file = words[2].split(separator: "/").last.map(String.init) ?? words[2]
        return .module(file.hasSuffix(".so") ? String(file.dropLast(3)) : file)
    }
}
