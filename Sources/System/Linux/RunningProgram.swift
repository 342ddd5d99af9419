import Glibc

/// The program that a process runs, if the kernel proves it to this process (L33).
package struct RunningProgram: Sendable {
    package let path: String

    /// Returns nil if the program cannot be proven, as for processes of other users.
    ///
    /// A process in a mount namespace of its own, or with a replaced file, could be at the path of
    /// any other program. The name that a process gives itself is never read.
    package init?(pid: Int32) {
        guard let own = SmallFile.link("/proc/self/ns/mnt"),
            SmallFile.link("/proc/\(pid)/ns/mnt") == own,
            let path = Self.path(of: pid), Self.isSameFile(path, "/proc/\(pid)/exe")
        else { return nil }
        self.path = path
    }

    /// The file that a process was started from, without proof; nil if the kernel does not tell.
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

    /// The parent of a process; nil for the first process, or if the kernel does not tell.
    package static func parent(of pid: Int32) -> Int32? {
        guard let bytes = SmallFile.read("/proc/\(pid)/stat", limit: 1024) else { return nil }
        // The second field is a name in parentheses that may itself contain any character.
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?
            .split(separator: " ")
        guard let fields, fields.count > 1, let parent = Int32(fields[1]) else { return nil }
        return parent > 0 ? parent : nil
    }

    package var fileName: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The desktop file with the program's name.
    ///
    /// Only a program installed for all users has one, because users may name their own files as
    /// they like. An interpreter has none, because the caller is its script.
    package var desktopFile: DesktopFile? { namesake(in: Self.applications, []) }

    /// The desktop file with the program's name, else the first that starts the program.
    ///
    /// The second search reads every file of the folder. `languages` lists the preferred language
    /// first.
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

    /// The file name of an installed program that is no interpreter.
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
