import Foundation
import TestSupport

enum Project {
    static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    static func sources(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
    }
}

/// Runs a tool in the project's folder and waits for its exit.
func run(_ tool: String, _ arguments: [String]) throws -> ChildProcess.Ended {
    let words = ["/usr/bin/env", "--chdir=\(Project.root.path)", tool] + arguments
    return try ChildProcess.run(words, mergesErrors: true)
}

/// The compiled catalogues in a temporary folder.
final class CompiledCatalogues: Sendable {
    private let temporary: TemporaryFolder
    var folder: String { temporary.path }

    init() throws {
        temporary = try TemporaryFolder()
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

    /// The environment of a user with this language.
    func environment(_ language: String) -> [String: String] {
        ["LC_ALL": "C.UTF-8", "LANGUAGE": language, "TEXTDOMAINDIR": folder]
    }
}
