import AgentKit
import Glibc
import Linux
import Localization

/// The PAM service of a lock screen that asks for a finger apart from the password.
///
/// A line of `pam_fprintd` becomes a comment, above a line of `pam_localauth`, so that it can be
/// restored.
struct PAMFile {
    enum State: String {
        case on
        case off
        /// The lock screen or its service is not installed.
        case absent
    }

    /// The lock screen that asks, by the name of its desktop.
    let title: String
    let service: String
    var options = "biometry-only"
    /// The administrator's folder, and the folder of packages.
    var folders = ["/etc/pam.d", "/usr/lib/pam.d"]

    static let all = [
        PAMFile(title: "GNOME", service: "gdm-fingerprint"),
        PAMFile(
            title: "KDE",
            service: "kde-fingerprint",
            // KDE's runs as its user, and never looks again after the module gave up.
            options: "biometry-only lock-screen timeout=120 wait=10"
        ),
    ]

    private static let kept = "# localauth: "
    private static let copied = "# A copy by localauthctl lock-screens"
    private var line: String { "auth\trequired\tpam_localauth.so \(options)" }

    var path: String { "\(folders[0])/\(service)" }

    var state: State {
        guard let text = content else { return .absent }
        return text.split(separator: "\n").contains { Self.names("pam_localauth", $0) } ? .on : .off
    }

    /// The file that PAM reads: the administrator's before the package's.
    private var content: String? {
        folders.lazy.compactMap { SmallFile.read("\($0)/\(service)", limit: 1 << 16) }.first
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private var isOwn: Bool { access(path, F_OK) == 0 }

    /// Returns the lines of `doctor` for the installed lock screens.
    static func findings() -> [DiagnosisLine] {
        all.compactMap { file in
            let message: String
            switch file.state {
            case .absent: return nil
            case .on: message = localized("Sensors open the lock screen of %1$s.", file.title)
            case .off: message = localized("The lock screen of %1$s uses no sensors.", file.title)
            }
            return DiagnosisLine(name: "lock-screen \(file.title)", state: "ok", message: message)
        }
    }

    /// Replaces the lines of `pam_fprintd`.
    ///
    /// - Throws: A refusal if the file lacks the line, or can't be written.
    func enable() throws(Failure) {
        guard state == .off, let text = content else { return }
        var isFound = false
        var lines = isOwn ? [] : [Self.copied]
        for old in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if Self.names("pam_fprintd", old) {
                isFound = true
                lines += [Self.kept + old, line]
            } else {
                lines.append(String(old))
            }
        }
        guard isFound else {
            throw Failure(
                .refused,
                localized("%1$s has no line of pam_fprintd to replace.", path),
                hint: localized("add “%1$s” by hand", line.replacing("\t", with: " "))
            )
        }
        try write(lines)
    }

    /// Restores the lines of `pam_fprintd`, and removes a file that ``enable()`` made.
    func disable() throws(Failure) {
        guard state == .on, isOwn, let text = content else { return }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.first == Self.copied {
            guard unlink(path) == 0 else { throw unwritable }
            return
        }
        while let index = lines.firstIndex(where: { $0.hasPrefix(Self.kept) }) {
            lines[index].removeFirst(Self.kept.count)
            let next = index + 1
            // The administrator may have changed the options.
            if next < lines.count, Self.names("pam_localauth", lines[next][...]) {
                lines.remove(at: next)
            }
        }
        try write(lines)
    }

    /// Replaces the file at once, because a login may read it at any time.
    private func write(_ lines: [String]) throws(Failure) {
        let fresh = path + ".localauth-new"
        unlink(fresh)
        let descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw unwritable }
        let file = OwnedDescriptor(adopting: descriptor)
        let bytes = Array(lines.joined(separator: "\n").utf8)
        guard file.write(bytes), fsync(descriptor) == 0, rename(fresh, path) == 0 else {
            let failure = unwritable
            unlink(fresh)
            throw failure
        }
    }

    private var unwritable: Failure {
        Failure(
            .refused,
            localized("%1$s can't be written: %2$s", path, String(cString: strerror(errno))),
            hint: localized("run it as root")
        )
    }

    /// Whether a line is an entry of `auth` with this module.
    private static func names(_ module: String, _ line: Substring) -> Bool {
        let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
        guard words.count > 2, words[0] == "auth" || words[0] == "-auth" else { return false }
        return words.contains { $0 == module + ".so" || $0.hasSuffix("/\(module).so") }
    }
}
