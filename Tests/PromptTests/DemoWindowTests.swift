#if Prompt
import DBus
import Foundation
import TestSupport
import Testing

/// Tests the first promise of README on a display.
@Suite("Demo with a window", .timeLimit(.minutes(10)))
struct DemoWindowTests {
    @Test("On a display, the demo of README shows the prompt in a window")
    func demo() async throws {
        try await PrivateBus.run { bus in
            let screen = try await Screen(on: bus)
            do {
                try await Self.run(on: screen)
            } catch {
                await screen.end()
                throw error
            }
            await screen.end()
        }
    }

    @BusActor private static func run(on screen: Screen) async throws {
        let package = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let demo = try ChildProcess(
            [package.path + "/scripts/demo", ChildProcess.folder],
            environment: screen.environment,
            mergesErrors: true
        )
        #expect(try await demo.exitStatus(within: .seconds(300)) == 0, "\(demo.output)")
        #expect(demo.output.contains("in a window: a miss, then a match"))
        let titles = screen.titlesSoFar
        #expect(titles.contains("Authentication Required"), "\(titles)")
    }
}
#endif
