import Foundation
import TestSupport
import Testing

/// Checks that the pages describe the project's files correctly.
struct PageTests {
    @Test("ARCHITECTURE has the graph that make graph draws")
    func drawing() async throws {
        let said = try await Self.check("scripts/graph")
        #expect(said.status == 0, "\(said.text)")
    }

    @Test("Each planted fault's text is found once in its file")
    func mutants() async throws {
        let said = try await Self.check("scripts/mutants")
        #expect(said.status == 0, "\(said.text)")
    }

    @Test("The generated sources match dbus/*.xml; if not, run make generate")
    func generated() async throws {
        let folder = Project.root.appending(path: "dbus")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".xml") }.map { folder.appending(path: $0).path }
        let made = Project.root.appending(path: "Sources/Bus/LocalAuthBus/Generated").path
        let said = try await Self.check("scripts/dbus-codegen", ["--check", made] + files)
        #expect(said.status == 0, "\(said.text)")
    }

    @Test("Every rule has a test")
    func rules() async throws {
        let said = try await Self.check("scripts/rules", ["--missing"])
        #expect(said.status == 0, "\(said.text)")
    }

    @Test("The tables for authors match the sources")
    func tables() async throws {
        let said = try await Self.check("scripts/reference")
        #expect(said.status == 0, "\(said.text)")
    }

    @Test("The reference has every member of every interface, and all tables")
    func reference() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).html")
        defer { try? FileManager.default.removeItem(at: file) }
        let said = try await Self.check("scripts/reference", [file.path])
        try #require(said.status == 0, "\(said.text)")
        let page = try String(contentsOf: file, encoding: .utf8)
        let interfaces = try Project.files().filter { $0.path.hasPrefix("dbus/org") }
            .filter { $0.path.hasSuffix(".xml") }
        #expect(interfaces.count > 8)
        for interface in interfaces {
            let name = interface.path.dropFirst("dbus/".count).dropLast(".xml".count)
            let members = Self.matches(
                of: /^ {4}<(?:method|signal|property) name="(\w+)"/,
                in: interface
            )
            #expect(!members.isEmpty)
            for (member, _) in members {
                #expect(page.contains("id=\"\(name).\(member)\""), "\(name).\(member)")
            }
        }
        for word in ["org.localauth.Error.UserCancel", "sensor-ready", "userPresence", "akpu"] {
            #expect(page.contains("<code>\(word)</code></td>"), "\(word)")
        }
    }

    private static func check(
        _ script: String,
        _ arguments: [String] = ["--check"]
    ) async throws -> (status: Int32, text: String) {
        let words = [Project.root.appending(path: script).path] + arguments
        let ended = try await ChildProcess(words, mergesErrors: true).ended(within: .seconds(120))
        return (ended.status, ended.output)
    }

    @Test("Links on the pages lead to files of the project")
    func links() throws {
        let pages = try Project.files().filter { $0.path.hasSuffix(".md") }
        #expect(pages.contains { $0.path == "docs/clients/swift.md" })
        for page in pages {
            for (link, line) in Self.links(in: page) where !Self.exists(link, from: page) {
                Issue.record("\(page.path):\(line): nothing is at \(link)")
            }
        }
    }

    @Test("Sources that ARCHITECTURE and CONTRIBUTING name exist")
    func sources() throws {
        let files = try Project.files()
        let pages = files.filter { ["ARCHITECTURE.md", "CONTRIBUTING.md"].contains($0.path) }
        for page in pages {
            for (name, line) in Self.matches(of: /`([^` ]*\/[^` ]+\.(?:swift|xml|md))`/, in: page) {
                let isThere = files.contains { ("/" + $0.path).hasSuffix("/" + name) }
                #expect(isThere || name.contains("*"), "\(page.path):\(line): no \(name)")
            }
        }
    }

    /// The links to files, without the part after `#`.
    private static func links(in page: SourceFile) -> [(text: String, line: Int)] {
        matches(of: /\]\(([^)#:\s]+)[^):\s]*\)/, in: page)
    }

    private static func matches(
        of pattern: Regex<(Substring, Substring)>,
        in page: SourceFile
    ) -> [(text: String, line: Int)] {
        page.lines.enumerated()
            .flatMap { index, line in
                line.matches(of: pattern).map { (String($0.output.1), index + 1) }
            }
    }

    private static func exists(_ link: String, from page: SourceFile) -> Bool {
        let folder = Project.root.appending(path: page.path).deletingLastPathComponent()
        return FileManager.default.fileExists(atPath: folder.appending(path: link).path)
    }
}
