import Glibc

/// The program that a process runs, where the kernel proves it to this process (L33).
package struct RunningProgram: Sendable {
    /// The file of the program.
    package let path: String

    /// Returns nil where the program can't be proven, as for processes of other users.
    ///
    /// A process in a mount namespace of its own, or with a file that was replaced, could be at the
    /// path of any other program. The name that a process gives itself is never read.
    package init?(pid: Int32) {
        guard let own = SmallFile.link("/proc/self/ns/mnt"),
            SmallFile.link("/proc/\(pid)/ns/mnt") == own,
            let path = Self.path(of: pid), Self.isSameFile(path, "/proc/\(pid)/exe")
        else { return nil }
        self.path = path
    }

    /// The file that a process was started from, without proof; nil where the kernel doesn't tell.
    package static func path(of pid: Int32) -> String? {
        guard let link = SmallFile.link("/proc/\(pid)/exe") else { return nil }
        // The kernel marks a file that was replaced since.
        let mark = " (deleted)"
        return link.hasSuffix(mark) ? String(link.dropLast(mark.count)) : link
    }

    private static func isSameFile(_ path: String, _ other: String) -> Bool {
        var (file, program) = (stat(), stat())
        guard stat(path, &file) == 0, stat(other, &program) == 0 else { return false }
        return file.st_dev == program.st_dev && file.st_ino == program.st_ino
    }

    /// The process that started a process, or took it over; nil for the first one, and where the
    /// kernel doesn't tell.
    package static func parent(of pid: Int32) -> Int32? {
        guard let bytes = SmallFile.read("/proc/\(pid)/stat", limit: 1024) else { return nil }
        // The second field is a name that may contain anything, in the last parentheses.
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?
            .split(separator: " ")
        guard let fields, fields.count > 1, let parent = Int32(fields[1]) else { return nil }
        return parent > 0 ? parent : nil
    }

    /// The last part of the program's path.
    package var fileName: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The desktop file of the program's name.
    ///
    /// Only of one that was installed for everybody: anybody may call a file of theirs as they
    /// like. What a script asks is not asked by the language that it is written in.
    package var desktopFile: DesktopFile? { namesake(in: Self.applications, []) }

    /// The desktop file of the program's name, else one that starts the program, which is looked
    /// for in every file; with its name in one of these languages, the preferred one first.
    package func desktopFile(
        in folder: String = Self.applications,
        languages: [String]
    ) -> DesktopFile? {
        namesake(in: folder, languages) ?? starter(in: folder, languages)
    }

    package static let applications = "/usr/share/applications"

    private static let interpreters: Set = [
        "bash", "dash", "fish", "gjs", "guile", "java", "ksh", "lua", "mono", "node", "perl",
        "php", "python", "ruby", "tclsh", "wish", "zsh",
    ]

    /// The name of its file, of one that has a desktop file for what it does itself.
    private var ownFileName: String? {
        guard path.hasPrefix("/usr/"),
            !Self.interpreters.contains(String(fileName.prefix { $0.isLetter }))
        else { return nil }
        return fileName
    }

    private func namesake(in folder: String, _ languages: [String]) -> DesktopFile? {
        guard let name = ownFileName,
            name.utf8.allSatisfy({ $0 != UInt8(ascii: "/") && $0 > 0x20 })
        else { return nil }
        return DesktopFile(name, in: folder, languages: languages)
    }

    private func starter(in folder: String, _ languages: [String]) -> DesktopFile? {
        guard ownFileName != nil else { return nil }
        return DesktopFile.all(in: folder, languages: languages)
            .first { $0.isOfProgramItself && $0.starts(path) }
    }
}
