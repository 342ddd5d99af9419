#if Prompt
import DBus
import LocalAuthBus
import TestSupport
import Testing

/// The same agent as a client of Weston.
@Suite("The prompt on Wayland", .serialized, .timeLimit(.minutes(10)))
struct WaylandTests {
    @Test("On Wayland a password is typed into the prompt, and Escape cancels")
    func typing() async throws {
        try await Stage.run(hasWayland: true) { stage in
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

    @Test("On Wayland a window of another app that is gone, and a token of nobody's, do no harm")
    func parent() async throws {
        try await Stage.run(hasWayland: true) { stage in
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
}
#endif
