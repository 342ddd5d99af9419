import Glibc

/// What the kernel says of a caller's process.
///
/// For display and agent choice only: a pid is no proof.
struct CallerProcess {
    /// The process and its parents, nearest first, at most 32.
    let lineage: [Int32]
    /// The file name of its program, or its short name.
    let name: String

    /// Looks the process up in /proc.
    init(pid: Int32) {
        lineage = Self.lineage(of: pid)
        name = Self.name(of: pid)
    }

    private static func lineage(of pid: Int32) -> [Int32] {
        var result: [Int32] = []
        var next = pid
        while next > 0, result.count < 32 {
            result.append(next)
            next = parent(of: next) ?? 0
        }
        return result
    }

    /// The parent's pid: the second field behind the name in /proc/PID/stat, which may hold
    /// anything.
    private static func parent(of pid: Int32) -> Int32? {
        guard let stat = SmallFile.read("/proc/\(pid)/stat", limit: 4096),
            let end = stat.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 1 else { return nil }
        return Int32(String(decoding: fields[1], as: UTF8.self))
    }

    private static func name(of pid: Int32) -> String {
        if let path = SmallFile.link("/proc/\(pid)/exe"), let last = path.split(separator: "/").last
        {
            return DisplayText.cleaned(String(last), limit: DisplayText.titleLimit)
        }
        let short = SmallFile.read("/proc/\(pid)/comm", limit: 64) ?? []
        let text = DisplayText.cleaned(
            String(decoding: short, as: UTF8.self),
            limit: DisplayText.titleLimit
        )
        return text.isEmpty ? "process \(pid)" : text
    }

    /// Whether the process lives in a sandbox (Flatpak, Snap), by what its own root shows.
    static func isSandboxed(pid: Int32) -> Bool {
        if access("/proc/\(pid)/root/.flatpak-info", F_OK) == 0 { return true }
        guard let groups = SmallFile.read("/proc/\(pid)/cgroup", limit: 8192) else { return false }
        return String(decoding: groups, as: UTF8.self).contains("/snap.")
    }

    /// The uid that a process runs as, or nil when it is gone.
    static func owner(of pid: Int32) -> UInt32? {
        var status = stat()
        guard stat("/proc/\(pid)", &status) == 0 else { return nil }
        return status.st_uid
    }
}

/// The app behind a process, as its desktop file names it.
///
/// Display only (L14).
struct AppIdentity {
    /// What the prompt calls the app.
    let name: String
    /// The name of its icon; empty when none is known.
    let icon: String
    /// The desktop file's name without its ending; empty when there is none.
    let identifier: String

    /// Looks for a desktop file with the program's name.
    init(process: CallerProcess) {
        let isPlain = process.name.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 > 0x20 }
        let path = "/usr/share/applications/\(process.name).desktop"
        guard isPlain, let bytes = SmallFile.read(path, limit: 65_536) else {
            name = process.name
            icon = ""
            identifier = ""
            return
        }
        var entries: [String: String] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("["), line != "[Desktop Entry]" { break }
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { entries[String(parts[0])] = String(parts[1]) }
        }
        let title = DisplayText.cleaned(entries["Name"] ?? "", limit: DisplayText.titleLimit)
        name = title.isEmpty ? process.name : title
        icon = DisplayText.cleaned(entries["Icon"] ?? "", limit: DisplayText.titleLimit)
        identifier = process.name
    }
}

/// Bounded reads of small files.
enum SmallFile {
    /// The first `limit` bytes of a file, or nil when it can't be read.
    static func read(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var result: [UInt8] = []
        while result.count < limit {
            let wanted = min(4096, limit - result.count)
            var got = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                got = Glibc.read(descriptor, buffer.baseAddress, wanted)
                count = max(got, 0)
            }
            if got <= 0 { return got < 0 && result.isEmpty ? nil : result }
            result += chunk
        }
        return result
    }

    /// Where a symbolic link points, or nil.
    static func link(_ path: String) -> String? {
        var length = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { text in
                if let base = text.baseAddress { length = readlink(path, base, 4096) }
            }
            count = max(length, 0)
        }
        return length > 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
