import Linux

/// The authentication modules that a PAM service names, with all files that it includes.
///
/// Only their names count: PAM itself runs them.
struct PAMStack {
    /// File names without `.so`, in their order.
    private(set) var modules: [String] = []
    /// Whether the service has lines of `account`.
    private(set) var hasAccount = false
    /// The settings of `pam_faillock`, if the stack surely refuses a locked account.
    ///
    /// The first line with `preauth` must be `required` or `requisite`. No earlier line may end
    /// the stack or jump, and no line may reset a failure.
    var faillock: Faillock? {
        guard !canReset else { return nil }
        return lock.flatMap { Faillock(options: $0) }
    }

    private var lock: [String]?
    private var canEnd = false
    private var canReset = false

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
        var rest = Self.maximumFiles
        read(service, in: directory.map { [$0] } ?? Self.systemFolders, &rest)
    }

    private mutating func read(_ name: String, in folders: [String], _ rest: inout Int) {
        guard rest > 0 else { return }
        rest -= 1
        let paths = name.hasPrefix("/") ? [name] : folders.map { "\($0)/\(name)" }
        let file = paths.lazy.compactMap { SmallFile.read($0, limit: 1 << 16) }
        guard let bytes = file.first else { return }
        let text = String(decoding: bytes, as: UTF8.self).replacing("\\\n", with: " ")
        // A carriage return belongs to its line.
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            switch Self.entry(String(Substring(line))) {
            case .module(let name, let control, let options): add(name, control, options)
            case .account: hasAccount = true
            case .file(let included): read(included, in: folders, &rest)
            case nil: continue
            }
        }
    }

    private mutating func add(_ module: String, _ control: String, _ options: [String]) {
        modules.append(module)
        if control.contains("reset") { canReset = true }
        let canRefuse = ["required", "requisite"].contains(control)
        if module == "pam_faillock", canRefuse, !canEnd, lock == nil,
            options.contains("preauth"), Set(options).isDisjoint(with: ["authfail", "authsucc"])
        {
            lock = options
        }
        if !canRefuse, control != "optional" { canEnd = true }
    }

    /// Whether a module other than `pam_unix` may verify a password, such as `pam_sss`.
    var hasDirectory: Bool { modules.contains { !Self.others.contains($0) } }

    private enum Entry {
        case module(String, control: String, options: [String])
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
        var control = words[1].lowercased()
        if control.hasPrefix("["), let end = words.firstIndex(where: { $0.hasSuffix("]") }) {
            control = words[1...end].joined(separator: " ").lowercased()
            words.removeSubrange(1..<end)
        }
        guard words.count > 2 else { return nil }
        let file = words[2].split(separator: "/").last.map(String.init) ?? words[2]
        let name = file.hasSuffix(".so") ? String(file.dropLast(3)) : file
        return .module(name, control: control, options: Array(words[3...]))
    }
}
