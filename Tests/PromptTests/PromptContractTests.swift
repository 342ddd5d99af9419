#if Prompt
import DBus
import SensorContract
import TestSupport
import Testing

/// Runs the checks of `localauth-sensor-check --agent` on the window.
///
/// A simulated user acts with a keyboard and a screen reader.
@Suite("The window and the contract", .serialized, .timeLimit(.minutes(60)))
struct WindowContractTests {
    /// Checks that apply only to a terminal.
    private static let others = [
        "Letters typed before a prompt are no part of a password",
        "A terminal is given back as it was",
        "Control characters in a text move no cursor and ring no bell",
    ]

    @Test("localauth-agent passes every check of prompts that applies to a window")
    func contract() async throws {
        try await PrivateBus.run { bus in
            let screen = try await Screen(on: bus)
            // Turn off key repeat: a busy machine would repeat keys that are released late.
            try await screen.run("/usr/bin/xset", "r", "off")
            // Map these letters to keys in advance. Otherwise xdotool changes the layout for each
            // of them and back, and a window that reads the new layout too late gets no letter.
            for (number, key) in ["adiaeresis", "odiaeresis", "U5BC6", "U7801"].enumerated() {
                try await screen.run("/usr/bin/xmodmap", "-e", "keycode \(248 + number) = \(key)")
            }
            let reader = try await ScreenReader(on: screen)
            let person = WindowPerson(screen: screen, reader: reader)
            var fixture = PromptFixture(
                program: [ChildProcess.folder + "/localauth-agent", "--resident"],
                environment: screen.environment,
                // Allow for a busy machine.
                patience: .seconds(20)
            )
            fixture.act = { try await person.act($0, isAsked: $1) }
            fixture.seen = { try await person.seen(isAsked: $0) }
            var left: [String] = []
            for check in PromptContractSuite.checks {
                switch await check.outcome(fixture) {
                case .passed: break
                case .notApplicable: left.append(check.description)
                case .failed(let why): Issue.record("\(check): \(why)")
                }
                try await screen.waitForManager()
            }
            #expect(left == Self.others)
            reader.connection.close()
            await screen.end()
        }
    }
}

/// A simulated user who waits until the window accepts input.
@BusActor private struct WindowPerson {
    let screen: Screen
    let reader: ScreenReader

    func act(_ act: PersonAct, isAsked: Bool) async throws {
        if isAsked { try await waitUntilSettled() }
        switch act {
        case .type(let text):
            try await type(text)
            try await screen.press("Return")
        case .begin(let text): try await type(text)
        case .send: try await screen.press("Return")
        case .cancel: try await screen.press("Escape")
        case .fallback: try await press("Use a code")
        case .confirm: try await press("Confirm")
        }
        try await waitUntilDone()
    }

    func seen(isAsked: Bool) async throws -> String {
        if isAsked { try await waitUntilSettled() }
        return try await reader.labels().joined(separator: " ")
    }

    private func type(_ text: String) async throws {
        guard !text.isEmpty else { return }
        try await screen.type(text)
    }

    /// Presses a button, or Enter if the button does not exist.
    private func press(_ button: String) async throws {
        guard try await reader.find("button", button) != nil else {
            return try await screen.press("Return")
        }
        try await reader.press(button)
    }

    /// Waits until the window accepts keys, and until its field has the focus.
    ///
    /// The first button cancels and may have any label.
    private func waitUntilSettled() async throws {
        do {
            try await eventually("a prompt that takes keys", within: .seconds(60)) {
                // Check this first: the window ignores keys again after it becomes active.
                guard try await self.reader.isActive() else { return false }
                let isTaking = try await self.reader.elements()
                    .contains {
                        $0.role == "button" && $0.name != "Details" && $0.has(.sensitive)
                    }
                guard isTaking else { return false }
                guard let field = try await self.reader.find("text box"), field.has(.editable)
                else { return true }
                return field.has(.focused)
            }
        } catch {
            throw TestFailure("\(error): \(reader.seen); \(try await screen.focus())")
        }
    }

    /// Waits for an answer of the window.
    ///
    /// Calls are answered in order, after earlier keys.
    private func waitUntilDone() async throws { _ = try await reader.find("label") }
}
#endif
