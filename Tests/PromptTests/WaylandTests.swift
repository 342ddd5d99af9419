#if Prompt
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Tests the agent as a client of Weston, and of sway, which supports parents in other programs.
@Suite("The prompt on Wayland", .serialized, .timeLimit(.minutes(10)))
struct WaylandTests {
    @Test("On Wayland the user types a password into the prompt, and Escape cancels")
    func typing() async throws {
        try await Stage.run(compositor: .weston) { stage in
            let evaluation = stage.evaluate(2, "open it")
            try await stage.waitUntilTyping()
            try await stage.screen.type(PAMService.passcode)
            try await stage.screen.press("Return")
            #expect(try await evaluation.value["mechanism"]?.asString == "passcode")
            try await stage.reader.waitForNothing()
            let second = stage.evaluate(2, "open it again")
            try await stage.waitUntilTyping()
            try await stage.screen.press("Escape")
            try await expectError(.userCancel, of: "Escape") { _ = try await second.value }
            try await stage.reader.waitForNothing()
        }
    }

    @Test("On Wayland an invalid parent window and an invalid token do no harm")
    func parent() async throws {
        try await Stage.run(compositor: .weston) { stage in
            let evaluation = stage.evaluate(
                1,
                "open it",
                [
                    "parent-window": .string("wayland:nobody"),
                    "activation-token": .string("nobody"),
                ]
            )
            try await stage.reader.press("Cancel")
            try await expectError(.userCancel, of: "Cancel") { _ = try await evaluation.value }
            #expect(stage.agent.isRunning)
        }
    }

    @Test("On Wayland an agent exits if the compositor does not answer when it shows a prompt")
    func silence() async throws {
        // Use sway: GTK waits for its tokens, which Weston lacks.
        try await Stage.run(compositor: .sway) { stage in
            let compositor = try #require(stage.screen.composes)
            compositor.signal(SIGSTOP)
            defer { compositor.signal(SIGCONT) }
            let evaluation = stage.evaluate(2, "open it")
            let agent = try await stage.agent.ended(within: .seconds(90))
            #expect(agent.status == 1)
            #expect(agent.errors.contains("The compositor answered nothing for 20 s"))
            evaluation.cancel()
        }
    }

    @Test("On Wayland the app's window is the prompt's parent, even if it is full-screen")
    func foreign() async throws {
        try await Stage.run(["WAYLAND_DEBUG": "1"], compositor: .sway) { stage in
            let app = try await WaylandApp(on: stage.screen)
            let parent = try await app.handle
            try await stage.screen.sway("[app_id=app] fullscreen enable")
            for (window, isSeen) in [("", false), ("wayland:" + parent, true)] {
                let evaluation = stage.evaluate(
                    1,
                    "open it",
                    ["parent-window": .string(window)]
                )
                try await stage.waitUntilSettled()
                try await eventually("a window that \(isSeen ? "is" : "isn't") seen") {
                    try await stage.screen.swayWindow("localauth-agent")?.isVisible == isSeen
                }
                try await stage.reader.press("Cancel")
                try await expectError(.userCancel, of: "Cancel") { _ = try await evaluation.value }
                try await stage.reader.waitForNothing()
            }
            // Sway supports both versions of the protocol. Mutter may support only the first, and
            // KWin only the second.
            for version in 1...2 {
                let line = try Regex(
                    "zxdg_imported_v\(version)@[0-9]+\\.set_parent_of\\(wl_surface"
                )
                #expect(stage.agent.errors.contains(line), "version \(version)")
            }
        }
    }

    @Test("On Wayland a resident agent restarts itself, because GTK keeps pictures of its windows")
    func pictures() async throws {
        try await Stage.run(compositor: .weston) { stage in
            func pictures() throws -> Int {
                let maps = try TemporaryFolder.read("/proc/\(stage.agent.pid)/maps")
                return String(decoding: maps, as: UTF8.self).ranges(of: "gdk-wayland").count
            }
            for _ in 1...7 { try await cancel(stage) }
            #expect(try pictures() > 0)
            try await cancel(stage)
            try await eventually("no picture", within: .seconds(120)) { try pictures() == 0 }
            // The agent serves again, with an unchanged process id.
            try await eventually("an agent", within: .seconds(60)) {
                try await stage.daemon.manager.canInteract().available
            }
            try await cancel(stage)
            #expect(stage.agent.isRunning)
        }
    }

    @BusActor private func cancel(_ stage: Stage) async throws {
        let evaluation = stage.evaluate(1, "open it")
        try await stage.reader.press("Cancel")
        try await expectError(.userCancel, of: "Cancel") { _ = try await evaluation.value }
        try await stage.reader.waitForNothing()
    }

    @Test(
        "On Wayland the settings' window is the parent of their prompt, which may take the focus",
        arguments: [Screen.Compositor.sway, .weston]
    )
    func settings(_ compositor: Screen.Compositor) async throws {
        try await Stage.run(["WAYLAND_DEBUG": "1"], compositor: compositor) { stage in
            let (program, reader) = try await stage.startSettings()
            try await reader.press("Start Test")
            try await stage.waitUntilSettled()
            // Weston supports neither protocol.
            if compositor == .sway {
                let parent = /zxdg_imported_v1@[0-9]+\.set_parent_of\(wl_surface/
                #expect(stage.agent.errors.contains(parent))
                #expect(stage.agent.errors.contains(/xdg_activation_v1@[0-9]+\.activate\(/))
            }
            try await stage.reader.press("Cancel")
            _ = try await reader.wait(for: "label", "The user canceled.")
            #expect(program.isRunning)
        }
    }

    @Test("On a low screen the prompt leaves room for panels")
    func lowScreen() async throws {
        // The points of a 1920x1080 screen at scale 2; the display is 100 larger.
        try await Stage.run(compositor: .weston, size: (1060, 640)) { stage in
            let reason = Array(repeating: "open what is kept", count: 28).joined(separator: ", ")
            let evaluation = stage.evaluate(2, reason)
            try await stage.waitUntilTyping()
            let window = try await stage.reader.wait(for: "window")
            #expect(try await stage.reader.size(of: window).height <= 540 - 64)
            try await stage.reader.press("Cancel")
            _ = try? await evaluation.value
        }
    }

    @Test("On Wayland the password passes through no input method")
    func inputMethod() async throws {
        try await Stage.run(["WAYLAND_DEBUG": "1"], compositor: .sway) { stage in
            let app = try await WaylandApp(on: stage.screen)
            let token = try await app.token()
            let evaluation = stage.evaluate(2, "open it", ["activation-token": .string(token)])
            try await stage.waitUntilTyping()
            try await stage.screen.type(PAMService.passcode)
            try await stage.screen.press("Return")
            #expect(try await evaluation.value["mechanism"]?.asString == "passcode")
            // A field would join the compositor's input method by this protocol.
            #expect(!stage.agent.errors.contains(try Regex("zwp_text_input_v3@[0-9]+\\.")))
        }
    }

    @Test("On Wayland only the token of a click lets the prompt take the focus")
    func activation() async throws {
        try await Stage.run(compositor: .sway) { stage in
            let app = try await WaylandApp(on: stage.screen)
            var others = ["", "of-nobodys"]
            for isFocused in [false, false, true] {
                try await eventually("the app to have the keys", within: .seconds(60)) {
                    try await stage.screen.swayWindow("app")?.isFocused == true
                }
                // A click's token is valid for half a minute.
                let text = isFocused ? try await app.token() : others.removeFirst()
                let evaluation = stage.evaluate(
                    1,
                    "open it",
                    ["activation-token": .string(text)]
                )
                try await stage.waitUntilSettled()
                if isFocused {
                    try await eventually("the focus", within: .seconds(60)) {
                        try await stage.screen.swayWindow("localauth-agent")?.isFocused == true
                    }
                } else {
                    let prompt = try await stage.screen.swayWindow("localauth-agent")
                    #expect(prompt?.isFocused == false, "with “\(text)”")
                }
                try await stage.reader.press("Cancel")
                try await expectError(.userCancel, of: "Cancel") { _ = try await evaluation.value }
                try await stage.reader.waitForNothing()
            }
        }
    }
}
#endif
