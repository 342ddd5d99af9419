import Glibc

/// An entry of a desktop's application menu.
package struct DesktopFile {
    /// The file name without its suffix.
    package let identifier: String
    /// The program's name in the first available of the wanted languages, else in English.
    package let name: String
    /// The name or the path of the icon; empty without an icon.
    package let icon: String
    /// The command line of `Exec`, split into words.
    private let command: [Substring]

    /// Reads a file; nil when it does not exist.
    package init?(_ identifier: String, in folder: String, languages: [String] = []) {
        let path = "\(folder)/\(identifier).desktop"
        guard let bytes = SmallFile.read(path, limit: 65_536) else { return nil }
        // A lower rank is a better language. The name without a language is English.
        let keys = languages.map { "Name[\($0)]=" }
        var rank = languages.firstIndex(of: "en") ?? languages.count
        var (name, icon, command) = ("", "", "")
        // Most lines are translations: only wanted lines become strings.
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            // The groups after the first describe single actions.
            if line.first == UInt8(ascii: "["), !line.elementsEqual("[Desktop Entry]".utf8) {
                break
            }
            for (index, key) in keys.prefix(rank).enumerated() {
                guard let found = Self.value(of: key, in: line) else { continue }
                (name, rank) = (found, index)
                break
            }
            if name.isEmpty { name = Self.value(of: "Name=", in: line) ?? name }
            icon = Self.value(of: "Icon=", in: line) ?? icon
            if command.isEmpty { command = Self.value(of: "Exec=", in: line) ?? command }
        }
        (self.identifier, self.name, self.icon) = (identifier, name, icon)
        self.command = command.split(separator: " ")
    }

    /// The desktop files of a folder, at most 4096, short names first.
    ///
    /// Files with longer names often are for single actions of a program.
    package static func all(
        in folder: String,
        languages: [String] = []
    ) -> some Sequence<DesktopFile> {
        SmallFile.names(in: folder).filter { $0.hasSuffix(".desktop") }
            .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
            .lazy
            .compactMap {
                DesktopFile(String($0.dropLast(".desktop".count)), in: folder, languages: languages)
            }
    }

    package func starts(_ path: String) -> Bool {
        guard let word = command.first else { return false }
        let program = word.drop { $0 == "\"" }.prefix { $0 != "\"" }
        let folders = ["/usr/bin", "/usr/local/bin", "/bin"]
        let places = program.hasPrefix("/") ? [String(program)] : folders.map { "\($0)/\(program)" }
        return places.contains { Self.resolved($0) == path }
    }

    /// Whether the command has only options and placeholders for files.
    ///
    /// A command that names a script or another program belongs to that program.
    package var isOfProgramItself: Bool {
        command.dropFirst().allSatisfy { $0.hasPrefix("-") || $0.hasPrefix("%") }
    }

    private static func resolved(_ place: String) -> String {
        guard let path = realpath(place, nil) else { return place }
        defer { free(path) }
        return String(cString: path)
    }

    private static func value(of key: String, in line: ArraySlice<UInt8>) -> String? {
        guard line.starts(with: key.utf8) else { return nil }
        let value = line.dropFirst(key.utf8.count)
        return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
    }
}
