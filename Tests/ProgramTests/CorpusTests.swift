import BusBench
import Foundation
import Testing

/// What `scripts/fuzz` begins with and has found, through the same readers as there.
@Suite("Foreign bytes")
struct CorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Corpora")

    static let readers =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? []

    @Test("Every reader of foreign bytes has a corpus")
    func all() throws {
        let usage = try ChildProcess.run(["fuzzers"], mergesErrors: true)
        #expect(usage.status == 64)
        let names = usage.output.split { $0 == " " || $0 == "|" }.map(String.init)
        #expect(Set(Self.readers) == Set(names).subtracting(["usage:", "fuzzers", "FILE...\n"]))
    }

    @Test("Files of any bytes are read, or refused", arguments: readers)
    func corpus(_ reader: String) throws {
        let folder = Self.folder.appending(path: reader)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .map { folder.appending(path: $0).path }
        #expect(!files.isEmpty && files.count <= 40)
        let ended = try ChildProcess.run(["fuzzers", reader] + files, mergesErrors: true)
        #expect(ended.status == 0, "\(ended.output + ended.errors)")
    }
}
