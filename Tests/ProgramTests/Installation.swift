import Foundation
import TestSupport
import Testing

/// The result of `make install` below a folder, which is deleted with the object.
final class Installation: Sendable {
    private let temporary: TemporaryFolder
    var folder: String { temporary.path }

    private static let project = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// Installs with DESTDIR, as for a package with the given prefix.
    init(staged prefix: String) async throws {
        temporary = try TemporaryFolder()
        try await install(staged: prefix)
    }

    /// Installs again with DESTDIR, over the existing files.
    func install(staged prefix: String) async throws {
        try await Self.make("install", "DESTDIR=\(folder)", "PREFIX=\(prefix)")
    }

    /// Installs with the prefix inside the folder, so that the installed paths are valid.
    init(_ targets: String...) async throws {
        temporary = try TemporaryFolder()
        for target in targets {
            try await Self.make(
                target,
                "PREFIX=\(folder)/usr",
                "PAMDIR=\(folder)/etc/pam.d",
                "AUTOSTARTDIR=\(folder)/etc/xdg/autostart",
                "PAMMODULEDIR=\(folder)/usr/lib/security",
                "PAMPROFILEDIR=\(folder)/usr/share/pam-configs",
                "POLICYDIR=\(folder)/usr/share/dbus-1/system.d",
                "POLKITDIR=\(folder)/usr/share/polkit-1/rules.d",
                "POLKITACTIONDIR=\(folder)/usr/share/polkit-1/actions",
                "SENSORDIR=\(folder)/usr/share/localauth/sensors",
                "UDEVDIR=\(folder)/usr/lib/udev/rules.d"
            )
        }
    }

    private static func make(_ arguments: String...) async throws {
        try await extras.value
        let said = try await run("/usr/bin/make", options + arguments)
        #expect(said.status == 0, "\(said.output)")
    }

    /// Generated files that an installation needs, made once because dozens of tests install.
    ///
    /// Takes seconds. Uses a separate folder, because programs would find catalogues next to them.
    private static let extras = Task {
        let made = try await run("/usr/bin/make", options + ["extras"])
        try expect(made.status == 0, "expected what is installed: \(made.output)")
    }
    private static let options = [
        "--directory", project, "BUILD=\(ChildProcess.folder)/installation",
        "RELEASE=\(ChildProcess.folder)",
    ]

    static func run(_ path: String, _ arguments: [String]) async throws -> ChildProcess.Ended {
        try await ChildProcess([path] + arguments, mergesErrors: true).ended(within: .seconds(120))
    }

    func files() throws -> Set<String> {
        let all = try FileManager.default.subpathsOfDirectory(atPath: folder)
        return Set(
            try all.filter { path in
                let attributes = try FileManager.default
                    .attributesOfItem(atPath: "\(folder)/\(path)")
                return attributes[.type] as? FileAttributeType == .typeRegular
            }
        )
    }

    func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
    }

    /// The first value of a key in a unit or an activation file.
    static func value(_ key: String, in text: String) -> String? { values(key, in: text).first }

    /// All values of a key.
    static func values(_ key: String, in text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("\(key)=") }
            .map { String($0.dropFirst(key.count + 1)) }
    }
}
