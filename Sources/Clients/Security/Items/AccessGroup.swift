internal import Foundation
internal import Linux

/// The access group of this program, which separates its items from other programs' items.
///
/// Security: a program chooses its own name, so the group is no protection from a program that
/// lies. The group depends on the installed files only. A program started from a terminal finds the
/// items that it stored when started from a menu.
package enum AccessGroup {
    /// The group of items and queries without an explicit group.
    package static let ofProgram = of(
        RunningProgram.path(of: getpid()) ?? "",
        bundleIdentifier: Bundle.main.bundleIdentifier,
        sandbox: sandboxedApplication(SmallFile.read("/.flatpak-info", limit: 65_536) ?? []),
        desktopFolders: desktopFolders(
            home: FileManager.default.homeDirectoryForCurrentUser.path
        )
    )

    /// Returns the first existing name of four.
    ///
    /// The order is: bundle identifier, sandboxed application, desktop file, file name of the
    /// program.
    ///
    /// - Parameters:
    ///   - path: The program's file.
    ///   - bundleIdentifier: The identifier in `Info.plist` beside the program.
    ///   - sandbox: The application of the sandbox.
    ///   - desktopFolders: Folders with desktop files.
    /// - Returns: The group.
    static func of(
        _ path: String,
        bundleIdentifier: String?,
        sandbox: String?,
        desktopFolders: [String]
    ) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? "unknown"
        let candidates = [bundleIdentifier, sandbox].compactMap(\.self)
        if let known = candidates.first(where: { !$0.isEmpty }) { return known }
        let files = desktopFolders.lazy.compactMap { folder in
            DesktopFile.all(in: folder).first { $0.starts(path) }
        }
        return files.first?.identifier ?? name
    }

    /// Returns the folders with desktop files, system folders first.
    ///
    /// A user's own launcher for an installed program must not change the program's group.
    static func desktopFolders(
        home: String,
        system: [String] = ["/usr/local/share", "/usr/share"]
    ) -> [String] {
        (system + ["\(home)/.local/share"]).map { "\($0)/applications" }
    }

    /// Parses the application's name from `/.flatpak-info`, a file that the sandbox creates.
    static func sandboxedApplication(_ bytes: [UInt8]) -> String? {
        var isApplication = false
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("[") { isApplication = line == "[Application]" }
            if isApplication, line.hasPrefix("name=") { return String(line.dropFirst(5)) }
        }
        return nil
    }
}
