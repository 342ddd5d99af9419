#if Prompt
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@Suite("The memory of the agent", .serialized, .timeLimit(.minutes(10)))
struct PromptMemoryTests {
    @Test("GTK's memory is released after a prompt, and loaded again for the next")
    func givenBack() async throws {
        try await Stage.run { stage in
            let first = try await Self.ask(stage)
            // Query nothing meanwhile, because answers to a screen reader also load pages.
            try await eventually("half of GTK's pages to be given back", within: .seconds(60)) {
                try Self.library(of: stage.agent) < first / 2
            }
            let second = try await Self.ask(stage)
            #expect(second > first / 2)
        }
    }

    /// Runs a prompt and returns GTK's resident memory while it was visible.
    @BusActor private static func ask(_ stage: Stage) async throws -> Int {
        let evaluation = stage.evaluate(1, "open it")
        try await stage.waitUntilSettled()
        let shown = try library(of: stage.agent)
        try await stage.screen.press("Escape")
        try await expectError(.userCancel, of: "Escape") { _ = try await evaluation.value }
        return shown
    }

    /// Returns the resident code pages of GTK's library in a process, in KiB.
    @BusActor private static func library(of program: ChildProcess) throws -> Int {
        let file = try TemporaryFolder.read("/proc/\(program.pid)/smaps")
        let text = String(decoding: file, as: UTF8.self)
        var (isGTK, isThere, sum) = (false, false, 0)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            // A mapping starts with a line of addresses.
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
