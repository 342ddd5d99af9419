import Foundation
import TestSupport

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

/// Runs a tool in the project's folder and waits for its end.
func run(_ tool: String, _ arguments: [String]) throws -> ChildProcess.Ended {
    let words = ["/usr/bin/env", "--chdir=\(Project.root.path)", tool] + arguments
    return try ChildProcess.run(words, mergesErrors: true)
}

/// The catalogues, compiled into a folder that goes with the object.
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

    /// Variables of a person who reads a language.
    func environment(_ language: String) -> [String: String] {
        ["LC_ALL": "C.UTF-8", "LANGUAGE": language, "TEXTDOMAINDIR": folder]
    }
}
