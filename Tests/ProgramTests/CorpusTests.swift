import BusBench
import Foundation
import Testing

/// Replays the inputs of `scripts/fuzz` through its readers.
@Suite("Untrusted bytes")
struct CorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Corpora")

    static let readers =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? []

    @Test("Every reader of untrusted bytes has a corpus")
    func all() async throws {
        let usage = try await ChildProcess(["fuzzers"], mergesErrors: true)
            .ended(within: .seconds(120))
        #expect(usage.status == 64)
        let names = usage.output.split { $0 == " " || $0 == "|" }.map(String.init)
        #expect(Set(Self.readers) == Set(names).subtracting(["usage:", "fuzzers", "FILE...\n"]))
    }

    @Test("Fuzzed messages reach every interface of the project")
    func interfaces() throws {
        let root = Self.folder.deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "Tests/Fuzz/Refuser.swift")
        let refuser = try String(contentsOf: file, encoding: .utf8)
        let served = refuser.matches(of: /(\w+)Interface\(self\)/)
            .map { "org.localauth.\($0.output.1)" }
        let folder = root.appending(path: "dbus")
        let described = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".xml") }
            .flatMap { name in
                try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                    .matches(of: #/<interface name="([^"]+)"/#).map { String($0.output.1) }
            }
        #expect(!described.isEmpty && Set(served) == Set(described))
    }

    @Test("Readers accept or refuse files of arbitrary bytes", arguments: readers)
    func corpus(_ reader: String) async throws {
        let folder = Self.folder.appending(path: reader)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .map { folder.appending(path: $0).path }
        #expect(!files.isEmpty && files.count <= 40)
        let ended = try await ChildProcess(["fuzzers", reader] + files, mergesErrors: true)
            .ended(within: .seconds(120))
        #expect(ended.status == 0, "\(ended.output + ended.errors)")
    }
}
