import DBusModel
import Foundation
import Testing

@Suite("Foreign bytes")
struct CorpusTests {
    @Test("Files that a fuzzer found are read, or refused with their place")
    func introspection() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let folder = tests.appending(path: "Corpora/introspection")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        var read = 0
        for file in files {
            let bytes = Array(try Data(contentsOf: folder.appending(path: file)))
            do throws(SourceError) {
                _ = try Interface(xml: bytes, file: file)
                read += 1
            } catch {
                #expect("\(error)".hasPrefix(file), "\(error)")
            }
        }
        #expect(read > 0 && read < files.count)
    }
}
