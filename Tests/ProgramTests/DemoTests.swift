import Foundation
import TestSupport
import Testing

@Suite("Demo", .timeLimit(.minutes(10)))
struct DemoTests {
    @Test("README's demo exits with status 0 and reports success")
    func demo() async throws {
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let demo = try ChildProcess(
            [package.path + "/scripts/demo", ChildProcess.folder],
            mergesErrors: true
        )
        #expect(try await demo.exitStatus(within: .seconds(300)) == 0, "\(demo.output)")
        #expect(demo.output.contains("nothing is left running"), "\(demo.output)")
    }
}
