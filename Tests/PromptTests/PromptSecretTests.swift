#if Prompt
import DBus
import LocalAuthBus
import TestSupport
import Testing

@Suite("The secret of a prompt", .serialized, .timeLimit(.minutes(10)))
struct PromptSecretTests {
    private static let secret = "longer than what free overwrites zqhorsexbattzq"

    @Test(
        "The agent's memory has a typed password once, and not at all after it was sent",
        .enabled(if: !isSanitized, "a sanitizer's memory takes long to search")
    )
    func memory() async throws {
        try await Stage.run { stage in
            let evaluation = stage.evaluate(2, "open it")
            try await stage.waitUntilTyping()
            try await stage.screen.type(Self.secret)
            try await eventually("the whole secret in memory", within: .seconds(60)) {
                try occurrences(of: Self.secret, in: stage.agent.pid) > 0
            }
            #expect(try occurrences(of: Self.secret, in: stage.agent.pid) == 1)
            // Delete a character in the middle too.
            for _ in 0..<6 { try await stage.screen.press("Left") }
            try await stage.screen.press("BackSpace")
            try await eventually("a character less", within: .seconds(60)) {
                let isWhole = try occurrences(of: Self.secret, in: stage.agent.pid) > 0
                let rest = "overwrites zqhorsebattzq"
                return try !isWhole && occurrences(of: rest, in: stage.agent.pid) == 1
            }
            try await stage.screen.type("x")
            try await stage.screen.press("Return")
            _ = try await stage.reader.wait(for: "status", "Wrong password. 4 attempts are left.")
            for part in [Self.secret, "overwrites zqhorsebattzq", "xbattzq"] {
                #expect(try occurrences(of: part, in: stage.agent.pid) == 0)
            }
            try await stage.waitUntilTyping()
            try await stage.screen.type(Self.secret)
            try await eventually("the secret again", within: .seconds(60)) {
                try occurrences(of: Self.secret, in: stage.agent.pid) == 1
            }
            try await stage.screen.press("Escape")
            try await expectError(.userCancel, of: "Escape") { _ = try await evaluation.value }
            // The reply may arrive before the window is closed.
            try await eventually("no trace of the secret", within: .seconds(60)) {
                try occurrences(of: Self.secret, in: stage.agent.pid) == 0
            }
        }
    }

    @Test(
        "The field's menu does not show the password",
        .enabled(if: !isSanitized, "a sanitizer's memory takes long to search")
    )
    func hidden() async throws {
        try await Stage.run { stage in
            let evaluation = stage.evaluate(2, "open it")
            try await stage.waitUntilTyping()
            try await stage.screen.type(Self.secret)
            try await eventually("the whole secret in memory", within: .seconds(60)) {
                try occurrences(of: Self.secret, in: stage.agent.pid) == 1
            }
            // “Show Text” is the last item.
            for key in ["shift+F10", "Up", "Return"] { try await stage.screen.press(key) }
            // The hint is shown only after those keys were handled.
            try await stage.daemon.sensor.queue(outcomes: ["hint:lift-and-retry"])
            _ = try await stage.reader.wait(for: "status", "Lift your finger and try again.")
            #expect(try occurrences(of: Self.secret, in: stage.agent.pid) == 1)
            try await stage.reader.press("Cancel")
            _ = try? await evaluation.value
        }
    }

    @Test("Other programs of the user cannot read the agent's memory")
    func undumpable() async throws {
        try await Stage.run { stage in
            let nobody = [
                "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
            ]
            let bus = stage.screen.bus
            let other = try bus.run(
                nobody + ["/usr/bin/dbus-monitor", "--address", bus.address]
            )
            try await eventually("a program of the user's", within: .seconds(60)) {
                other.output.contains("NameAcquired")
            }
            await stage.agent.end()
            let agent = try await stage.screen.startAgent(launcher: nobody)
            for (program, status) in [(other, Int32(0)), (agent, 1)] {
                let look = try ChildProcess(nobody + ["/bin/cat", "/proc/\(program.pid)/environ"])
                #expect(try await look.ended(within: .seconds(60)).status == status)
            }
        }
    }

    @Test("No message on the bus contains the password")
    func bus() async throws {
        try await Stage.run { stage in
            let monitor = try stage.screen.bus.run(
                ["/usr/bin/dbus-monitor", "--address", stage.screen.bus.address],
                environment: stage.screen.environment
            )
            try await eventually("a monitor", within: .seconds(60)) {
                monitor.output.contains("NameLost")
            }
            let evaluation = stage.evaluate(2, "open it")
            try await stage.waitUntilTyping()
            try await stage.screen.type(PAMService.passcode + Self.secret)
            try await stage.screen.press("Return")
            _ = try await stage.reader.wait(for: "status", "Wrong password. 4 attempts are left.")
            try await stage.waitUntilTyping()
            try await stage.screen.type(PAMService.passcode)
            try await stage.screen.press("Return")
            #expect(try await evaluation.value["mechanism"]?.asString == "passcode")
            try await eventually("the end of the prompt on the bus", within: .seconds(60)) {
                monitor.output.contains("member=End")
            }
            #expect(monitor.output.contains("passcode-rejected"))
            #expect(!monitor.output.contains(Self.secret))
        }
    }

    @Test("Assistive technologies see stars instead of the password")
    func stars() async throws {
        try await Stage.run { stage in
            let monitor = try stage.screen.bus.run(
                ["/usr/bin/dbus-monitor", "--address", stage.reader.address],
                environment: stage.screen.environment
            )
            try await eventually("a monitor", within: .seconds(60)) {
                monitor.output.contains("NameLost")
            }
            let evaluation = stage.evaluate(2, "open it")
            try await stage.waitUntilTyping()
            try await stage.screen.type(Self.secret)
            try await eventually("the whole secret in memory", within: .seconds(60)) {
                try occurrences(of: Self.secret, in: stage.agent.pid) == 1
            }
            let stars = String(repeating: "*", count: Self.secret.count)
            let texts = try await stage.reader.texts()
            #expect(!texts.isEmpty)
            #expect(texts.allSatisfy { $0 == stars }, "\(texts)")
            try await stage.screen.press("BackSpace")
            try await stage.screen.press("Return")
            _ = try await stage.reader.wait(for: "status", "Wrong password. 4 attempts are left.")
            #expect(monitor.output.contains("string \"*\""))
            // The bus shows neither a single letter nor the whole password.
            #expect(!monitor.output.contains("string \"q\""))
            #expect(!monitor.output.contains(Self.secret.dropLast()))
            try await stage.reader.press("Cancel")
            _ = try? await evaluation.value
        }
    }

    @Test("On X11 no key reaches another window, even if that window has the focus")
    func grab() async throws {
        try await Stage.run { stage in
            let other = try stage.screen.bus.run(
                ["/usr/bin/xev", "-event", "keyboard"],
                environment: stage.screen.environment
            )
            var window = ""
            try await eventually("another window", within: .seconds(60)) {
                window =
                    try await stage.screen
                    .run(
                        "/usr/bin/xdotool",
                        "search",
                        "--name",
                        "Event Tester"
                    )
                    .split(separator: "\n").first.map(String.init) ?? ""
                return !window.isEmpty
            }
            try await stage.screen.run("/usr/bin/xdotool", "windowfocus", "--sync", window)
            try await stage.screen.press("x")
            try await eventually("a key in the other window", within: .seconds(60)) {
                other.output.contains("KeyPress")
            }
            let evaluation = stage.evaluate(2, "open it")
            try await stage.waitUntilTyping()
            let before = other.output.ranges(of: "KeyPress").count
            try await stage.screen.run("/usr/bin/xdotool", "windowfocus", window)
            try await stage.screen.type(PAMService.passcode)
            try await stage.screen.press("Return")
            #expect(try await evaluation.value["mechanism"]?.asString == "passcode")
            // After the prompt, keys reach the other window again.
            try await stage.reader.waitForNothing()
            try await stage.screen.run("/usr/bin/xdotool", "windowfocus", "--sync", window)
            try await stage.screen.press("y")
            try await eventually("its keys again", within: .seconds(60)) {
                other.output.ranges(of: "KeyPress").count > before
            }
            // The keys of the password were not among them.
            #expect(other.output.ranges(of: "KeyPress").count <= before + 1)
        }
    }
}
#endif
