#if Prompt
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// What a resident agent keeps between prompts.
@Suite("The memory of the agent", .serialized, .timeLimit(.minutes(10)))
struct PromptMemoryTests {
    @Test("What a window needed of GTK is given back when it has gone, and taken again by the next")
    func givenBack() async throws {
        try await Stage.run { stage in
            let first = try await Self.ask(stage)
            // Nobody looks meanwhile: a screen reader's questions need code as well.
            try await eventually("half of GTK's pages to be given back", within: .seconds(60)) {
                try Self.library(of: stage.agent) < first / 2
            }
            let second = try await Self.ask(stage)
            #expect(second > first / 2)
        }
    }

    /// One prompt, from Begin to its end; how much of GTK was in memory while it was shown.
    @BusActor private static func ask(_ stage: Stage) async throws -> Int {
        let evaluation = stage.evaluate(1, "open it")
        try await stage.waitUntilSettled()
        let shown = try library(of: stage.agent)
        try await stage.screen.press("Escape")
        try await expectError(.userCancel, of: "Escape") { _ = try await evaluation.value }
        return shown
    }

    /// The pages of GTK's own file that a process has in memory, in KiB.
    @BusActor private static func library(of program: ChildProcess) throws -> Int {
        let file = try TemporaryFolder.read("/proc/\(program.pid)/smaps")
        let text = String(decoding: file, as: UTF8.self)
        var (isGTK, isThere, sum) = (false, false, 0)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            // The first line of a mapping begins with its addresses.
            if words[0].contains("-") {
                isGTK = line.contains("/libgtk-4.so") && words[1] == "r-xp"
                isThere = isThere || isGTK
            } else if isGTK, words[0] == "Rss:" {
                sum += Int(words[1]) ?? 0
            }
        }
        try expect(isThere, "GTK's pages to be told")
        return sum
    }
}
#endif
