import Foundation
import TestSupport
import Testing

/// The page of planted faults is compared with the entries, line by line.
struct MutantPageTests {
    /// The project with a page of its own.
    private struct Tree {
        private let folder: TemporaryFolder
        let page: [String]

        init() throws {
            folder = try TemporaryFolder()
            for name in ["Sources", "Tests", "dbus", "pam", "po"] {
                try folder.link(name, to: Project.root.appending(path: name).path)
            }
            for name in ["scripts/mutants", "scripts/installation", "docs/mutants.md"] {
                let file = Project.root.appending(path: name)
                try folder.write(name, Data(contentsOf: file), mode: 0o755)
            }
            let text = try String(contentsOfFile: folder.path + "/docs/mutants.md", encoding: .utf8)
            page = text.components(separatedBy: "\n")
        }

        /// What is run on a page; the words of what it says.
        func run(_ argument: String, on page: [String]) async throws -> ChildProcess.Ended {
            try folder.write("docs/mutants.md", page.joined(separator: "\n").utf8)
            let words = [folder.path + "/scripts/mutants", argument]
            return try await ChildProcess(words, mergesErrors: true).ended(within: .seconds(120))
        }

        func written() throws -> [String] {
            try String(contentsOfFile: folder.path + "/docs/mutants.md", encoding: .utf8)
                .components(separatedBy: "\n")
        }
    }

    private static let row = "| row-without-its-code | KeychainStore/KeychainStore.swift | "
    private static let counts = "| stores | "

    @Test("A page of planted faults that says anything else than the entries is refused")
    func refused() async throws {
        let tree = try Tree()
        let place = try #require(tree.page.firstIndex { $0.hasPrefix(Self.row) })
        let line = tree.page[place]
        let cells = line.components(separatedBy: " | ")
        let seen = try #require(cells.last?.dropLast(2))
        let entry = try #require(cells.dropLast().last)
        let changes: [(String, String)] = [
            ("no such entry", line + "\n| no-such-fault | SQLite/A.swift | without `a()` | Seen |"),
            ("another file", line.replacing("KeychainStore.swift", with: "KeyRing.swift")),
            ("another change", line.replacing("→ `true`", with: "→ `false`")),
            ("another entry", line.replacing(" \(entry) ", with: " 00000000 ")),
            ("a test that is gone", line.replacing(seen, with: "No test says this")),
            ("seen by nothing", line.replacing(seen, with: "")),
        ]
        #expect(Set(changes.map(\.1)).count == changes.count)
        for (change, lines) in changes {
            #expect(lines != line, "\(change)")
            var page = tree.page
            page[place] = lines
            try await expectRefused(page, naming: lines.components(separatedBy: "\n"), change, tree)
        }
        var page = tree.page
        page.remove(at: place)
        try await expectRefused(page, naming: [Self.row], "an entry is missing", tree)
        // The last area's table ends with the page.
        page.insert(line, at: page.count - 1)
        try await expectRefused(page, naming: [line], "another area", tree)
        page = tree.page
        let total = try #require(page.firstIndex { $0.hasPrefix(Self.counts) })
        page[total] = Self.counts + "1 | 1 (100 %) | 0 | 0 |"
        try await expectRefused(page, naming: [page[total]], "another count", tree)
        #expect(try await tree.run("--check", on: tree.page).status == 0)
    }

    /// Expects a refusal that says at least one of these lines.
    private func expectRefused(
        _ page: [String],
        naming lines: [String],
        _ change: String,
        _ tree: Tree
    ) async throws {
        let said = try await tree.run("--check", on: page)
        #expect(said.status == 1, "\(change)")
        #expect(said.output.contains("scripts/mutants --page"), "\(change): \(said.output)")
        #expect(lines.contains { said.output.contains($0) }, "\(change): \(said.output)")
    }

    @Test("The page is written without a build, and a result of another test or entry is none")
    func written() async throws {
        let tree = try Tree()
        var page = tree.page
        let place = try #require(page.firstIndex { $0.hasPrefix(Self.row) })
        let cells = page[place].components(separatedBy: " | ")
        page[place] = (cells.dropLast() + ["No test says this |"]).joined(separator: " | ")
        let other = try #require(page.firstIndex { $0.hasPrefix("| ledger-without-its-code | ") })
        page.remove(at: other)
        let third = try #require(page.firstIndex { $0.hasPrefix("| array-of-any-length | ") })
        var changedEntry = page[third].components(separatedBy: " | ")
        changedEntry[changedEntry.count - 2] = "00000000"
        page[third] = changedEntry.joined(separator: " | ")
        let said = try await tree.run("--page", on: page)
        #expect(said.status == 0, "\(said.output)")
        let written = try tree.written()
        for name in ["row-without-its-code", "ledger-without-its-code", "array-of-any-length"]
            .map({ "| \($0) | " })
        {
            let row = written.first { $0.hasPrefix(name) }
            #expect(row?.hasSuffix(" | not run |") == true, "\(name): \(row ?? "none")")
        }
        // All else is as it was.
        let counts = try #require(written.firstIndex { $0.hasPrefix("## ") })
        let (changed, meant) = (
            written.indices.filter { !tree.page.contains(written[$0]) }, [place, other, third]
        )
        #expect(changed.allSatisfy { $0 < counts || meant.contains($0) }, "\(changed)")
        #expect(written.count == tree.page.count)
        #expect(try await tree.run("--check", on: written).status == 0)
    }
}
