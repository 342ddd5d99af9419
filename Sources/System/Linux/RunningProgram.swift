/// What a process runs, as far as the kernel tells it to this process.
package struct RunningProgram: Sendable {
    /// The file of its program; nil where the kernel doesn't tell, as of other users' processes.
    package let path: String?
    /// What the process calls itself: anything that it likes.
    package let ownName: String

    package init(pid: Int32) {
        path = SmallFile.link("/proc/\(pid)/exe").map(Self.withoutMark)
        let name = SmallFile.read("/proc/\(pid)/comm", limit: 64) ?? []
        ownName = String(decoding: name, as: UTF8.self)
    }

    /// Where a program was started from; the kernel marks a file that was replaced since.
    private static func withoutMark(_ link: String) -> String {
        link.hasSuffix(" (deleted)") ? String(link.dropLast(" (deleted)".count)) : link
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
    package var fileName: String? { path?.split(separator: "/").last.map(String.init) }

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
        guard let path, path.hasPrefix("/usr/"), let fileName,
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
        guard let path, ownFileName != nil else { return nil }
        return DesktopFile.all(in: folder, languages: languages)
            .first { $0.isOfProgramItself && $0.starts(path) }
    }
}
