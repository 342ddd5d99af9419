import Contract
import Glibc
import Linux

/// Facts about a caller's process, for display and choice of an agent only, because a pid is no
/// proof.
struct CallerProcess {
    /// The file name of the program; nil if the daemon can't prove it (L33).
    let name: String?
    private let program: RunningProgram?

    /// The app's identity as far as it does not rest on the process's own claim.
    ///
    /// Reads the program's desktop file, which may be long. The program is the executable at the
    /// time of `init`.
    var identity: AppIdentity { AppIdentity(program) }

    init(pid: Int32) {
        program = RunningProgram(pid: pid)
        let name = DisplayText.cleaned(program?.fileName ?? "", limit: DisplayText.titleLimit)
        self.name = name.isEmpty ? nil : name
    }

    /// Returns a process and its ancestors, nearest first, at most 32.
    static func lineage(of pid: Int32) -> [Int32] {
        var result: [Int32] = []
        var next = pid
        while next > 0, result.count < 32 {
            result.append(next)
            next = ProcessStatus.field(.parent, of: next).flatMap(Int32.init) ?? 0
        }
        return result
    }

    /// Returns the uid of a process, or nil if it has ended.
    static func owner(of pid: Int32) -> UInt32? {
        var status = stat()
        guard stat("/proc/\(pid)", &status) == 0 else { return nil }
        return status.st_uid
    }
}

enum ProcessStatus {
    /// Indices after the name, which itself may contain any characters.
    enum Field: Int {
        case parent = 1
        case terminal = 4
        case startTime = 19
    }

    /// Returns the controlling terminal with logind's name, such as `tty2` or `pts/0`.
    ///
    /// Empty without a terminal. Nil for a terminal of another kind, or if the process has ended.
    static func terminal(of pid: Int32) -> String? {
        guard let number = field(.terminal, of: pid).flatMap(Int32.init) else { return nil }
        return name(ofTerminal: UInt32(bitPattern: number))
    }

    /// Returns the name of a terminal by its device number: 12 bits of major and 20 bits of minor
    /// number, interleaved.
    static func name(ofTerminal device: UInt32) -> String? {
        let (major, minor) = (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xF_FF00)
        if device == 0 { return "" }
        switch major {
        case 4 where minor < 64: return "tty\(minor)"
        case 136: return "pts/\(minor)"
        default: return nil
        }
    }

    /// Returns a field, or nil if the process has ended.
    static func field(_ field: Field, of pid: Int32) -> String? {
        guard let stat = SmallFile.read("/proc/\(pid)/stat", limit: 4096),
            let end = stat.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = stat[(end + 1)...]
            .split(separator: UInt8(ascii: " "), maxSplits: field.rawValue + 1)
        guard fields.count > field.rawValue else { return nil }
        return String(decoding: fields[field.rawValue], as: UTF8.self)
    }
}

/// The app of a process according to its desktop file.
///
/// All fields are empty if the program is unproven.
///
/// For display only (L14).
struct AppIdentity {
    /// The app's name in the prompt.
    let name: String
    /// The name of the app's icon; empty if unknown.
    let icon: String
    /// The desktop file's name without its ending; empty without a file.
    let identifier: String

    /// Uses the desktop file that Flatpak or snapd exports for the app.
    init(sandboxID id: String) {
        let places = [
            ("/var/lib/flatpak/exports/share/applications", id),
            ("/var/lib/snapd/desktop/applications", "\(id)_\(id)"),
        ]
        let file = places.lazy.compactMap { DesktopFile($0.1, in: $0.0) }.first
        let title = DisplayText.cleaned(file?.name ?? "", limit: DisplayText.titleLimit)
        name = title.isEmpty ? id : title
        icon = DisplayText.cleaned(file?.icon ?? "", limit: DisplayText.titleLimit)
        identifier = file?.identifier ?? id
    }

    fileprivate init(_ program: RunningProgram?) {
        let file = program?.desktopFile
        let fileName = program?.fileName ?? ""
        let title = DisplayText.cleaned(file?.name ?? "", limit: DisplayText.titleLimit)
        name =
            title.isEmpty
            ? DisplayText.cleaned(fileName, limit: DisplayText.titleLimit) : title
        icon = DisplayText.cleaned(file?.icon ?? "", limit: DisplayText.titleLimit)
        identifier = file?.identifier ?? ""
    }
}
