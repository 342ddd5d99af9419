import Foundation
import SensorContract
import Testing

/// Checks that the suites quote the contract correctly.
struct ContractLineTests {
    private static let project = #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" }

    @Test(
        "Each check quotes a line of the place that it names",
        arguments: SensorContractSuite.checks
    )
    func line(_ check: SensorCheck) throws {
        let line = try #require(check.line)
        let text = try Self.text(of: line.place)
        #expect(text.contains(Self.joined(line.text)), "\(line)")
    }

    @Test(
        "Each check of a prompt quotes a line of the place that it names",
        arguments: PromptContractSuite.checks
    )
    func line(ofPrompt check: PromptCheck) throws {
        let line = try #require(check.line)
        let text = try Self.text(of: line.place)
        #expect(text.contains(Self.joined(line.text)), "\(line)")
    }

    @Test("No two checks share a sentence")
    func sentences() {
        let sentences = SensorContractSuite.checks.map(\.description)
        #expect(Set(sentences).count == sentences.count && sentences.count >= 50)
        let prompts = PromptContractSuite.checks.map(\.description)
        #expect(Set(prompts).count == prompts.count && prompts.count >= 40)
    }

    /// Returns a page, an interface's file, or its part about a member.
    private static func text(of place: String) throws -> String {
        guard !place.contains("/") else { return try file(place) }
        let parts = place.split(separator: ".")
        let all = try file("dbus/" + parts.prefix(3).joined(separator: ".") + ".xml")
        guard parts.count > 3 else { return all }
        let start = try #require(all.firstRange(of: "name=\"\(parts[3])\"")).upperBound
        let ends = ["</method>", "</signal>", "</property>"]
        let end = ends.compactMap { all[start...].firstRange(of: $0)?.lowerBound }.min()
        return String(all[start..<(try #require(end))])
    }

    private static func file(_ path: String) throws -> String {
        joined(try String(contentsOfFile: "\(project)/\(path)", encoding: .utf8))
    }

    /// Joins the words, without line ends and list marks.
    private static func joined(_ text: String) -> String {
        text.split { $0.isWhitespace }.joined(separator: " ")
    }
}
