internal import Foundation
internal import Linux

/// The access group of this program: what keeps its items apart from those of others.
///
/// It is what the program is called, so it protects nothing from a program that lies. It depends on
/// what is installed alone, never on how the program was started: one that is started from a
/// terminal today finds what it stored when it was started from a menu.
package enum AccessGroup {
    /// The group of items and queries that name none.
    package static let ofProgram = of(
        RunningProgram.path(of: getpid()) ?? "",
        bundleIdentifier: Bundle.main.bundleIdentifier,
        sandbox: sandboxedApplication(SmallFile.read("/.flatpak-info", limit: 65_536) ?? []),
        desktopFolders: desktopFolders(
            home: FileManager.default.homeDirectoryForCurrentUser.path
        )
    )

    /// The first of these that there is: the identifier of the bundle, of the sandboxed
    /// application, of the desktop file that starts the program; the name of the program's file.
    ///
    /// - Parameters:
    ///   - path: The program's file.
    ///   - bundleIdentifier: What `Info.plist` beside it says.
    ///   - sandbox: The application that the sandbox is for.
    ///   - desktopFolders: Where desktop files are installed.
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

    /// Where desktop files are, those of the system first: a launcher that a user makes for a
    /// program that is installed doesn't give it another group.
    static func desktopFolders(
        home: String,
        system: [String] = ["/usr/local/share", "/usr/share"]
    ) -> [String] {
        (system + ["\(home)/.local/share"]).map { "\($0)/applications" }
    }

    /// What `/.flatpak-info` says, which the sandbox puts there.
    static func sandboxedApplication(_ bytes: [UInt8]) -> String? {
        var isApplication = false
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("[") { isApplication = line == "[Application]" }
            if isApplication, line.hasPrefix("name=") { return String(line.dropFirst(5)) }
        }
        return nil
    }
}
