/// What a process runs, as far as the kernel tells it to this process.
package struct RunningProgram: Sendable {
    /// The file of its program; nil where the kernel doesn't tell, as of other users' processes.
    package let path: String?
    /// What the process calls itself: anything that it likes.
    package let ownName: String

    /// Looks a process up.
    package init(pid: Int32) {
        path = SmallFile.link("/proc/\(pid)/exe")
        let name = SmallFile.read("/proc/\(pid)/comm", limit: 64) ?? []
        ownName = String(decoding: name, as: UTF8.self)
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
    /// like.
    package var desktopFile: DesktopFile? {
        guard let path, path.hasPrefix("/usr/"), let fileName else { return nil }
        return DesktopFile(identifier: fileName)
    }
}

/// What the menus of a desktop say of a program.
package struct DesktopFile {
    /// Its name, in English.
    package let name: String
    /// The name of its icon, or its path; empty when it has none.
    package let icon: String

    /// Reads the file of that name; nil when there is none.
    init?(identifier: String) {
        let isPlain = identifier.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 > 0x20 }
        let path = "/usr/share/applications/\(identifier).desktop"
        guard isPlain, let bytes = SmallFile.read(path, limit: 65_536) else { return nil }
        var (name, icon) = ("", "")
        // Most lines are translations: none of them is made a string.
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if line.first == UInt8(ascii: "["), !line.elementsEqual("[Desktop Entry]".utf8) {
                break
            }
            name = Self.value(of: "Name=", in: line) ?? name
            icon = Self.value(of: "Icon=", in: line) ?? icon
        }
        (self.name, self.icon) = (name, icon)
    }

    private static func value(of key: String, in line: ArraySlice<UInt8>) -> String? {
        guard line.starts(with: key.utf8) else { return nil }
        let value = line.dropFirst(key.utf8.count)
        return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
    }
}
