#if Prompt
import DBus
import SensorContract
import TestSupport
import Testing

/// What `localauth-sensor-check --agent` asks of any prompt, asked of the window: a person with a
/// keyboard and a screen reader acts.
@Suite("The window and the contract", .serialized, .timeLimit(.minutes(60)))
struct WindowContractTests {
    /// Checks of a terminal.
    private static let others = [
        "What was typed before a prompt is no part of a password",
        "A terminal is given back as it was",
        "Control characters in a text move no cursor and ring no bell",
    ]

    @Test("localauth-agent keeps the contract of prompts, each line that a window can be put to")
    func contract() async throws {
        try await PrivateBus.run { bus in
            let screen = try await Screen(on: bus)
            // A busy machine would repeat keys that are released late.
            try await screen.run("/usr/bin/xset", "r", "off")
            // Where a letter has no key xdotool changes the layout for it and back again, and a
            // window that reads the new one too late gets nothing.
            for (number, key) in ["adiaeresis", "odiaeresis", "U5BC6", "U7801"].enumerated() {
                try await screen.run("/usr/bin/xmodmap", "-e", "keycode \(248 + number) = \(key)")
            }
            let reader = try await ScreenReader(on: screen)
            let person = WindowPerson(screen: screen, reader: reader)
            var fixture = PromptFixture(
                program: [ChildProcess.folder + "/localauth-agent", "--resident"],
                environment: screen.environment,
                // The machine is busy.
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

/// Somebody at the window, who waits until it takes what they do.
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

    /// What a screen reader would read out.
    func seen(isAsked: Bool) async throws -> String {
        if isAsked { try await waitUntilSettled() }
        return try await reader.labels().joined(separator: " ")
    }

    private func type(_ text: String) async throws {
        guard !text.isEmpty else { return }
        try await screen.type(text)
    }

    /// A button that isn't there can't be pressed, and Enter means none.
    private func press(_ button: String) async throws {
        guard try await reader.find("button", button) != nil else {
            return try await screen.press("Return")
        }
        try await reader.press(button)
    }

    /// The window takes keys a moment after it has appeared, and its field only when it has the
    /// focus.
    ///
    /// The first button, whatever an app calls it, cancels.
    private func waitUntilSettled() async throws {
        do {
            try await eventually("a prompt that takes keys", within: .seconds(60)) {
                // Once it is active it settles again.
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

    /// Answers come in the order of calls: when this one has come, the keys before it were read.
    private func waitUntilDone() async throws { _ = try await reader.find("label") }
}
#endif
