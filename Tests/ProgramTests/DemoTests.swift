import Foundation
import Testing

/// What README promises first.
@Suite("Demo", .timeLimit(.minutes(2)))
struct DemoTests {
    @Test("The demo of README ends by itself with status 0 and says so")
    func demo() async throws {
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let log = NSTemporaryDirectory() + "localauth-demo-\(UUID().uuidString).log"
        defer { try? FileManager.default.removeItem(atPath: log) }
        let demo = try Program(
            package.path + "/scripts/demo",
            [Program.folder],
            log: log
        )
        #expect(await demo.end() == 0)
        #expect(demo.said.contains("nothing is left running"), "\(demo.said)")
    }
}
