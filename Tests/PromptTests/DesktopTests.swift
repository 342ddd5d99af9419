#if Prompt
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Tests how a prompt treats the rest of the desktop.
///
/// Covers other prompts, keys meant for other windows, monitors and large text.
@Suite("The prompt among others", .serialized, .timeLimit(.minutes(10)))
struct DesktopTests {
    @Test("L9: prompts appear one after another, in order")
    func queue() async throws {
        try await Stage.run { stage in
            let first = stage.evaluate(1, "open the first")
            try await stage.reader.waitForLabel(ending: "is trying to open the first")
            let other = try stage.screen.bus.connect()
            let second = stage.evaluate(1, "open the second", on: other)
            _ = try await stage.daemon.manager(other).canEvaluate(policy: 1)
            let labels = try await stage.reader.labels()
            #expect(!labels.contains { $0.hasSuffix("is trying to open the second") })
            try await stage.reader.press("Cancel")
            try await expectError(.userCancel, of: "the first") { _ = try await first.value }
            try await stage.reader.waitForLabel(ending: "is trying to open the second")
            try await stage.reader.press("Cancel")
            try await expectError(.userCancel, of: "the second") { _ = try await second.value }
            try await stage.reader.waitForNothing()
        }
    }

    @Test(
        "A prompt that has just appeared ignores keys meant for another window",
        .enabled(if: !isSanitized, "with a sanitizer a window takes longer than keys are ignored")
    )
    func settling() async throws {
        try await Stage.run { stage in
            // On a loaded machine the test stops some prompts too late, so try several times.
            try await eventually("a prompt to outlive an early key", within: .seconds(300)) {
                try await Self.outlivesEarlyKey(stage)
            }
        }
    }

    /// Returns whether a new prompt survives a key pressed in its first moment.
    ///
    /// The agent is stopped as soon as its window appears. Keys pressed meanwhile then count as
    /// pressed in that moment, even on a slow machine.
    @BusActor private static func outlivesEarlyKey(_ stage: Stage) async throws -> Bool {
        let screen = stage.screen
        let before = screen.windowsSoFar
        let evaluation = stage.evaluate(2, "open it")
        let ended = EventRecorder<Bool>()
        onLoop {
            _ = try? await evaluation.value
            ended.record(true)
        }
        try await eventually("the window") { screen.windowsSoFar > before || !ended.seen.isEmpty }
        stage.agent.signal(SIGSTOP)
        defer { stage.agent.signal(SIGCONT) }
        try await eventually("the window to have the keys") {
            let focused = try await screen.run("/usr/bin/xdotool", "getwindowfocus")
            let prompt = try await screen.window("class", "localauth-agent")
            let isFocused = focused.split(separator: "\n").first.map(String.init) == prompt
            return prompt != nil && isFocused || !ended.seen.isEmpty
        }
        try await screen.press("Escape")
        stage.agent.signal(SIGCONT)
        try await eventually("a prompt that takes keys, or its end") {
            if try await stage.isTyping() { return true }
            return !ended.seen.isEmpty
        }
        // If the agent was stopped for too long, its prompt has ended as well.
        _ = try await stage.daemon.manager.canEvaluate(policy: 1)
        let isThere = ended.seen.isEmpty
        if isThere {
            try await screen.press("Escape")
            try await expectError(.userCancel, of: "Escape") { _ = try await evaluation.value }
        }
        try await stage.reader.waitForNothing()
        return isThere
    }

    @Test("Under policy 1 only Escape acts, until Tab has chosen a button")
    func typing() async throws {
        try await Stage.run { stage in
            let evaluation = stage.evaluate(1, "open it")
            try await stage.waitUntilSettled()
            try await stage.screen.type("a word ")
            try await stage.screen.press("Return")
            // The hint is shown only after those keys were handled.
            try await stage.daemon.sensor.queue(outcomes: ["hint:lift-and-retry"])
            _ = try await stage.reader.wait(for: "status", "Lift your finger and try again.")
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            #expect(try await evaluation.value["mechanism"]?.asString == "biometry")
            try await stage.reader.waitForNothing()

            let second = stage.evaluate(1, "open it")
            try await stage.waitUntilSettled()
            try await eventually("a button with the focus", within: .seconds(60)) {
                // Cancel is the only button.
                try await stage.screen.press("Tab")
                return try await stage.reader.find("button", "Cancel")?.has(.focused) == true
            }
            try await stage.screen.press("space")
            try await expectError(.userCancel, of: "the space bar") { _ = try await second.value }
        }
    }

    @Test("On X11 the app's window is the prompt's parent, and the prompt has the app's token")
    func parent() async throws {
        try await Stage.run { stage in
            let screen = stage.screen
            let app = try await screen.startApp()
            let number = String(try #require(UInt32(app)), radix: 16)
            let evaluation = stage.evaluate(
                1,
                "open it",
                [
                    "parent-window": .string("x11:\(number)"),
                    "activation-token": .string("app-7-host_TIME4711"),
                ]
            )
            try await stage.waitUntilSettled()
            let prompt = try #require(try await screen.window("class", "localauth-agent"))
            let parent = try await screen.run("/usr/bin/xprop", "-id", prompt, "WM_TRANSIENT_FOR")
            #expect(parent.contains("window id # 0x\(number)\n"))
            let token = try await screen.run("/usr/bin/xprop", "-id", prompt, "_NET_STARTUP_ID")
            #expect(token.contains("\"app-7-host_TIME4711\""))
            try await stage.reader.press("Cancel")
            try await expectError(.userCancel, of: "Cancel") { _ = try await evaluation.value }
        }
    }

    @Test("R26: on X11 a raised window of an app does not cover the prompt")
    func above() async throws {
        try await Stage.run { stage in
            let screen = stage.screen
            let evaluation = stage.evaluate(1, "open it")
            try await stage.waitUntilSettled()
            let prompt = try #require(try await screen.window("class", "localauth-agent"))
            let covering = try await screen.startApp()
            try await screen.run("/usr/bin/xdotool", "windowraise", covering)
            // The topmost window is the last in the list.
            let order = "_NET_CLIENT_LIST_STACKING"
            func hexadecimal(_ window: String) -> String {
                "0x" + String(UInt32(window) ?? 0, radix: 16)
            }
            try await eventually("both in the order of windows", within: .seconds(60)) {
                let stack = try await screen.run("/usr/bin/xprop", "-root", order)
                return stack.contains(hexadecimal(covering))
                    && stack.contains(hexadecimal(prompt))
            }
            let stack = try await screen.run("/usr/bin/xprop", "-root", order)
            let last = stack.split(whereSeparator: { ", \n".contains($0) }).last
            #expect(last.map(String.init) == hexadecimal(prompt), "\(stack)")
            try await stage.reader.press("Cancel")
            try await expectError(.userCancel, of: "Cancel") { _ = try await evaluation.value }
        }
    }

    @Test("With two monitors the prompt is entirely on one of them")
    func monitors() async throws {
        try await Stage.run { stage in
            let screen = stage.screen
            let xrandr = "/usr/bin/xrandr"
            try await screen.run(xrandr, "--setmonitor", "left", "500/130x900/240+0+0", "screen")
            try await screen.run(xrandr, "--setmonitor", "right", "500/130x900/240+500+0", "none")
            let list = try await screen.run(xrandr, "--listmonitors")
            try expect(list.contains("Monitors: 2"), "there are no two monitors: \(list)")
            let evaluation = stage.evaluate(1, "open it")
            try await stage.waitUntilSettled()
            let prompt = try #require(try await screen.window("class", "localauth-agent"))
            let place = try await screen.run("/usr/bin/xwininfo", "-id", prompt)
            let left = Self.number("Absolute upper-left X:", place)
            let right = left + Self.number("Width:", place) - 1
            // A window centred on the whole screen would span both monitors.
            #expect(left >= 0 && left / 500 == right / 500, "\(place)")
            try await stage.reader.press("Cancel")
            _ = try? await evaluation.value
        }
    }

    private static func number(_ label: String, _ text: String) -> Int {
        let line = text.split(separator: "\n").first { $0.contains(label) }
        return line.flatMap { $0.split(separator: " ").last.flatMap { Int($0) } } ?? -1
    }

    @Test("With text twice as large, no text is cut off and the buttons stay on the screen")
    func largeText() async throws {
        let usual = try await Self.sizes(textScale: 1)
        let large = try await Self.sizes(textScale: 2)
        #expect(usual.keys == large.keys)
        let line = "Password of root: "
        let height = try #require(large[line]).height
        #expect(try height >= #require(usual[line]).height * 19 / 10)
        for (name, size) in usual {
            let new = try #require(large[name])
            // A text with new line breaks is even higher. A button has room for more than a line.
            #expect(new.height >= min(size.height * 19 / 10, height), "\(name): \(size), \(new)")
        }
    }

    @BusActor private static func sizes(
        textScale: Int
    ) async throws -> [String: (width: Int32, height: Int32)] {
        let found = EventRecorder<[String: (width: Int32, height: Int32)]>()
        try await Stage.run(textScale: textScale) { stage in
            let reason = Array(repeating: "open what is kept", count: 20).joined(separator: ", ")
            let evaluation = stage.evaluate(2, reason)
            try await stage.waitUntilTyping()
            let prompt = try #require(try await stage.screen.window("class", "localauth-agent"))
            let place = try await stage.screen.run("/usr/bin/xwininfo", "-id", prompt)
            let top = number("Absolute upper-left Y:", place)
            #expect(top >= 0 && top + number("Height:", place) <= 900, "\(place)")
            var sizes: [String: (width: Int32, height: Int32)] = [:]
            for element in try await stage.reader.elements() where element.role == "label" {
                sizes[element.name] = try await stage.reader.size(of: element)
            }
            found.record(sizes)
            try await stage.reader.press("Cancel")
            _ = try? await evaluation.value
        }
        return try await found.first("sizes", within: .seconds(1)) { _ in true }
    }
}
#endif
