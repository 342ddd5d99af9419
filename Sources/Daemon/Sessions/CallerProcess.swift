import Contract
import Glibc
import Linux

/// What the kernel says of a caller's process.
///
/// For display and agent choice only: a pid is no proof.
struct CallerProcess {
    /// The file name of the program; nil where the daemon can't prove it (L33).
    let name: String?
    private let program: RunningProgram?

    /// What it is called where that doesn't rest on its own word.
    ///
    /// Reads the program's desktop file, which may be long; the program is the one that ran when
    /// this was made.
    var identity: AppIdentity { AppIdentity(program) }

    /// Looks the process up in /proc.
    init(pid: Int32) {
        program = RunningProgram(pid: pid)
        let name = DisplayText.cleaned(program?.fileName ?? "", limit: DisplayText.titleLimit)
        self.name = name.isEmpty ? nil : name
    }

    /// A process and its parents, nearest first, at most 32.
    static func lineage(of pid: Int32) -> [Int32] {
        var result: [Int32] = []
        var next = pid
        while next > 0, result.count < 32 {
            result.append(next)
            next = ProcessStatus.field(.parent, of: next).flatMap(Int32.init) ?? 0
        }
        return result
    }

    /// The uid that a process runs as, or nil when it is gone.
    static func owner(of pid: Int32) -> UInt32? {
        var status = stat()
        guard stat("/proc/\(pid)", &status) == 0 else { return nil }
        return status.st_uid
    }
}

/// `/proc/PID/stat`.
enum ProcessStatus {
    /// Places behind the name, which may hold anything.
    enum Field: Int {
        case parent = 1
        case terminal = 4
        case startTime = 19
    }

    /// The controlling terminal, as the login manager calls it: `tty2`, `pts/0`; empty: it has
    /// none; nil: another one, or the process is gone.
    static func terminal(of pid: Int32) -> String? {
        guard let number = field(.terminal, of: pid).flatMap(Int32.init) else { return nil }
        return name(ofTerminal: UInt32(bitPattern: number))
    }

    /// The name of a terminal by its device: 12 bits of major and 20 of minor number, interleaved.
    static func name(ofTerminal device: UInt32) -> String? {
        let (major, minor) = (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xF_FF00)
        if device == 0 { return "" }
        switch major {
        case 4 where minor < 64: return "tty\(minor)"
        case 136: return "pts/\(minor)"
        default: return nil
        }
    }

    /// One field; nil when the process is gone.
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

/// The app behind a process, as its desktop file names it; all empty without proof of the program.
///
/// Display only (L14).
struct AppIdentity {
    /// What the prompt calls the app.
    let name: String
    /// The name of its icon; empty when none is known.
    let icon: String
    /// The desktop file's name without its ending; empty when there is none.
    let identifier: String

    /// The app of a Flatpak or a snap, by the desktop file that its system exports.
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
