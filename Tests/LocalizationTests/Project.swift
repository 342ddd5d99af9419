import Foundation
import ToolSupport

/// The project that this file is part of.
enum Project {
    static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The Swift files below a folder.
    static func sources(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
    }
}

/// What a tool said.
struct Said {
    let status: Int32
    let output: String
}

/// Runs a tool in the project's folder and waits for its end.
func run(_ tool: String, _ arguments: [String]) throws -> Said {
    let (status, output) = try Tool.run(
        "/usr/bin/\(tool)",
        arguments,
        withErrors: true,
        directory: Project.root.path
    )
    return Said(status: status, output: String(decoding: output, as: UTF8.self))
}

/// The catalogues, compiled into a folder that goes with the object.
final class CompiledCatalogues: Sendable {
    let folder = NSTemporaryDirectory() + "localauth-locale-" + UUID().uuidString

    init() throws {
        for language in Catalogue.languages {
            let target = "\(folder)/\(language)/LC_MESSAGES"
            try FileManager.default.createDirectory(
                atPath: target,
                withIntermediateDirectories: true
            )
            let arguments = ["--output-file=\(target)/localauth.mo", "po/\(language).po"]
            guard try run("msgfmt", arguments).status == 0 else {
                throw CocoaError(.fileWriteUnknown)
            }
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Variables of a person who reads a language.
    func environment(_ language: String) -> [String: String] {
        ["LC_ALL": "C.UTF-8", "LANGUAGE": language, "TEXTDOMAINDIR": folder]
    }
}
