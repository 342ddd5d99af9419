import ClientTestSupport
import Foundation
import LocalAuthentication
import SourceCompatibility6
import TestSupport
import Testing

/// Tests that all code in the article about moving an app compiles and runs.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct ArticleTests {
    private static let top = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOf: top.appending(path: path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test("Every code block of the article is in the compiled file")
    func blocks() throws {
        let folder = "Sources/Clients/LocalAuthentication/LocalAuthentication.docc"
        let compiled = try Self.lines("Tests/SourceCompatibility/Swift6/Article.swift")
            .joined(separator: "\n")
        var blocks: [[String]] = []
        var isCode = false
        for line in try Self.lines("\(folder)/MovingFromApple.md") {
            if line.hasPrefix("```") {
                isCode.toggle()
                if isCode { blocks.append([]) }
            } else if isCode {
                blocks[blocks.count - 1].append(line)
            }
        }
        #expect(blocks.count == 4)
        for block in blocks {
            let text = block.joined(separator: "\n")
            #expect(compiled.contains("\n" + text + "\n"), "not compiled: \(text)")
        }
    }

    @Test("The article's login grants, refuses, and falls back")
    func logIn() async throws {
        try await ClientDesk.run { desk in
            try await desk.queue("match")
            #expect(await Article.logIn() == .granted)
            await desk.agent.will(.cancel)
            #expect(await Article.logIn() == .refused)
            await desk.agent.will(.fallBack)
            try await desk.queue("no-match")
            #expect(await Article.logIn() == .password(because: "You chose the password."))
        }
    }
}
