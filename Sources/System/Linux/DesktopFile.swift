import Glibc

/// What the menus of a desktop say of a program.
package struct DesktopFile {
    /// The name of the file, without its ending.
    package let identifier: String
    /// The program's name, in the first of the wanted languages that it has; else in English.
    package let name: String
    /// The name of its icon, or its path; empty when it has none.
    package let icon: String
    /// What starts the program, word by word.
    private let command: [Substring]

    /// Reads a file; nil when there is none.
    package init?(_ identifier: String, in folder: String, languages: [String] = []) {
        let path = "\(folder)/\(identifier).desktop"
        guard let bytes = SmallFile.read(path, limit: 65_536) else { return nil }
        // The lower the number, the better a name; the one without a language is English.
        let keys = languages.map { "Name[\($0)]=" }
        var rank = languages.firstIndex(of: "en") ?? languages.count
        var (name, icon, command) = ("", "", "")
        // Most lines are translations: none of them is made a string.
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            // What follows the first group are single actions.
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

    /// Those in a folder, at most 4096, the ones with short names first: others are for single
    /// actions of the same programs.
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

    /// Whether it starts the program at a path.
    package func starts(_ path: String) -> Bool {
        guard let word = command.first else { return false }
        let program = word.drop { $0 == "\"" }.prefix { $0 != "\"" }
        let folders = ["/usr/bin", "/usr/local/bin", "/bin"]
        let places = program.hasPrefix("/") ? [String(program)] : folders.map { "\($0)/\(program)" }
        return places.contains { Self.resolved($0) == path }
    }

    /// Whether it says no more to the program than what to open and how: one that names a script or
    /// another program is the desktop file of that.
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
