import AgentKit
import DBus
import TestSupport
import Testing

/// Tests of an agent on a terminal, with a user who types and a stand-in service.
@Suite(.serialized) struct TerminalPromptTests {
    private let bus: PrivateBus
    private let pty: Pty
    private let service: StandInService
    private let view: TerminalPrompt
    private let keeper: Keeper

    init() async throws {
        let (bus, pty) = (try PrivateBus(), try Pty())
        let path = pty.path
        (self.bus, self.pty) = (bus, pty)
        (service, view, keeper) = try await onBus {
            let service = try StandInService(bus)
            let view = TerminalPrompt(path: path)
            let keeper = Keeper(view)
            PromptAgent(try bus.connect(), serving: .session, view: keeper) { _ in }.start()
            _ = await service.next()
            return (service, view, keeper)
        }
    }

    private func begin(_ policy: UInt32, _ more: [String: Variant] = [:]) async throws -> String {
        try await onBus { [service] in
            let stage = policy == 2 ? "passcode" : "biometry"
            let details: [String: Variant] = [
                "sandboxed": .bool(true), "sandbox-id": .string("org.example.Notes"),
                "app-name": .string("Notes"), "reason": .string("open the diary"),
                "policy": .uint32(policy), "stage": .string(stage), "user": .string("jo"),
            ]
            return try await service.begin(details.merging(more) { $1 })
        }
    }

    private func happened() async throws -> ClientAction? {
        try await onBus { [service] in await service.next() }
    }

    private func update(
        _ handle: String,
        _ kind: String,
        _ detail: [String: Variant] = [:]
    )
        async throws
    {
        try await onBus { [service] in try await service.update(handle, kind, detail) }
    }

    private func end(_ handle: String, _ outcome: String) async throws {
        try await onBus { [service] in try await service.end(handle, outcome) }
    }

    /// Types a text, and waits until the agent has read it before the bus brings more.
    private func typeFirst(_ text: String) async {
        pty.type(text)
        for _ in 0..<6000 where pty.isUnread { await pause(.milliseconds(10)) }
        #expect(!pty.isUnread)
    }

    @Test("A typed password is sent and never shown")
    func passcode() async throws {
        let handle = try await begin(2)
        #expect(pty.shows("The sandboxed app “Notes” is trying to open the diary"))
        #expect(pty.shows("Password of jo: "))
        #expect(!pty.isPlain)
        pty.type("hunter2é\n")
        #expect(try await happened() == .passcode(Array("hunter2é".utf8)))
        try await end(handle, "success")
        #expect(pty.shows("Done."))
        #expect(pty.isPlain)
        #expect(!pty.screen.contains("hunter2"))
    }

    @Test("Backspace removes a character, Ctrl-U the whole line, cursor keys none")
    func editing() async throws {
        _ = try await begin(2)
        pty.type("wrong\u{15}aé\u{7F}\u{1B}[Db\n")
        #expect(try await happened() == .passcode(Array("ab".utf8)))
    }

    @Test("A wrong password shows the attempts left, and the prompt asks again")
    func rejected() async throws {
        let handle = try await begin(2)
        pty.type("one\nlost")
        #expect(try await happened() == .passcode(Array("one".utf8)))
        #expect(pty.shows("Checking"))
        try await update(handle, "passcode-rejected", ["attempts-left": .uint32(2)])
        #expect(pty.shows("Wrong password. 2 attempts are left."))
        #expect(pty.shows("Password of jo: ", times: 2))
        pty.type("two\n")
        #expect(try await happened() == .passcode(Array("two".utf8)))
    }

    @Test("L22: A half-typed login password is not sent as an item's password")
    func applicationPassword() async throws {
        let handle = try await begin(2)
        await typeFirst("hunt")
        try await onBus { [service] in try await service.askPassword(handle) }
        #expect(pty.shows("Enter the password of this item."))
        #expect(pty.shows("Password of the item: "))
        pty.type("er2\n")
        #expect(try await happened() == .password(Array("er2".utf8)))
    }

    @Test("A password that the service refuses is asked for again")
    func refused() async throws {
        try await onBus { [service] in
            service.submitError = DBusError(.invalidArgs, "Not now.")
        }
        _ = try await begin(2)
        pty.type("one\n")
        #expect(try await happened() == .passcode(Array("one".utf8)))
        #expect(pty.shows("The service did not take the password. Enter it again."))
        #expect(pty.shows("Password of jo: ", times: 2))
        pty.type("two\n")
        #expect(try await happened() == .passcode(Array("two".utf8)))
    }

    /// A prompt that asks for the login password.
    @BusActor private func shown() async throws -> Prompt {
        _ = try await service.begin([
            "reason": .string("open"), "policy": .uint32(2), "stage": .string("passcode"),
        ])
        return try #require(keeper.last)
    }

    @Test("Unread keys do not answer the next question")
    @BusActor func unreadKeys() async throws {
        let cases = [
            ("\n", PromptProgress.confirmationRequired), ("er2\n", .applicationPasswordRequired),
        ]
        for (keys, progress) in cases {
            let prompt = try await shown()
            // The agent reads no keys before this test suspends.
            pty.type(keys)
            view.update(prompt, progress)
            pty.type("\u{3}")
            #expect(await service.next() == .canceled)
            try await service.end(prompt.handle, "canceled")
        }
    }

    @Test("Unread keys at the end of a prompt do not reach the shell")
    @BusActor func keysAtTheEnd() async throws {
        let prompt = try await shown()
        pty.type("late\n")
        #expect(pty.isUnread)
        view.end(prompt, .canceled)
        #expect(!pty.isUnread && pty.isPlain)
    }

    @Test("Keys typed before the prompt are not part of the password")
    func typedBefore() async throws {
        pty.type("early")
        #expect(pty.shows("early"))
        _ = try await begin(2)
        #expect(pty.shows("Password of jo: "))
        pty.type("now\n")
        #expect(try await happened() == .passcode(Array("now".utf8)))
    }

    @Test("Keys typed while no password is asked for are ignored")
    func ignored() async throws {
        let handle = try await begin(1)
        try await update(handle, "confirmation-required")
        #expect(pty.shows("Press Enter to confirm."))
        // The reply to Enter proves that the earlier keys have been read.
        pty.type("early\n")
        #expect(try await happened() == .confirmed)
        try await update(handle, "passcode-required", ["cause": .string("hours")])
        #expect(pty.shows("The last unlock was long ago: enter your password."))
        #expect(pty.shows("Password of jo: "))
        pty.type("now\n")
        #expect(try await happened() == .passcode(Array("now".utf8)))
    }

    @Test("Events of the sensors are shown as they happen")
    func live() async throws {
        let handle = try await begin(1)
        try await update(
            handle,
            "sensor-ready",
            ["sensor": .string("F"), "biometry-type": .uint32(1)]
        )
        #expect(pty.shows("Touch the fingerprint sensor (F is ready)."))
        try await update(handle, "hint", ["hint": .string("clean-sensor")])
        #expect(pty.shows("Clean the sensor."))
        try await update(handle, "no-match", ["attempts-left": .uint32(1)])
        #expect(pty.shows("Not recognized. 1 attempt is left."))
        try await end(handle, "lockout")
        #expect(pty.shows("Too many failed attempts: enter your password next time."))
        #expect(pty.isPlain)
    }

    @Test("Ctrl-C cancels, sends no typed text and restores the terminal")
    func cancel() async throws {
        _ = try await begin(2)
        #expect(pty.shows("Password of jo: "))
        pty.type("half\u{3}")
        #expect(try await happened() == .canceled)
        #expect(pty.shows("Canceled."))
        try await onBus { [view] in #expect(!view.isShowing) }
        #expect(pty.isPlain)
        #expect(!pty.screen.contains("half"))
    }

    @Test("Enter takes the fallback once it is on offer, and not before")
    func fallback() async throws {
        let handle = try await begin(1, ["fallback-title": .string("Use PIN")])
        #expect(pty.shows("Ctrl-C"))
        await typeFirst("\n")
        try await update(handle, "fallback-available")
        #expect(pty.shows("Enter: Use PIN"))
        pty.type("\n")
        #expect(try await happened() == .fellBack)
    }

    @Test("R22: An empty title means no fallback")
    func noFallback() async throws {
        let handle = try await begin(1, ["fallback-title": .string("")])
        try await update(handle, "fallback-available")
        pty.type("\n\u{3}")
        #expect(try await happened() == .canceled)
    }

    @Test("L7: Enter confirms a match")
    func confirmation() async throws {
        let handle = try await begin(1)
        try await update(handle, "confirmation-required")
        #expect(pty.shows("Press Enter to confirm."))
        pty.type("\n")
        #expect(try await happened() == .confirmed)
    }

    @Test("L7: Enter confirms a match, and the half-typed password is not sent")
    func confirmationWhileTyping() async throws {
        let handle = try await begin(2)
        await typeFirst("erased\u{15}hunt")
        try await update(handle, "confirmation-required")
        #expect(pty.shows("Press Enter to confirm."))
        pty.type("\n")
        #expect(try await happened() == .confirmed)
    }

    @Test("L7: The rest of a password typed across a match is not sent, and Enter confirms")
    func confirmationInPassword() async throws {
        let handle = try await begin(2)
        await typeFirst("erased\u{15}hunt")
        try await update(handle, "confirmation-required")
        #expect(pty.shows("Press Enter to confirm."))
        pty.type("er2\n")
        #expect(try await happened() == .confirmed)
    }

    @Test("L7: A password typed while a match awaits confirmation is sent")
    func passcodeInsteadOfConfirmation() async throws {
        let handle = try await begin(2)
        try await update(handle, "confirmation-required")
        #expect(pty.shows("Press Enter to confirm."))
        pty.type("hunter2\n")
        #expect(try await happened() == .passcode(Array("hunter2".utf8)))
    }

    @Test("A second prompt waits for the first, and keeps its own events")
    func second() async throws {
        let first = try await begin(2)
        let second = try await begin(1, ["app-name": .string("Mail")])
        try await update(second, "fallback-available")
        #expect(pty.shows("Password of jo: "))
        try await end(first, "canceled")
        // Prompts on a terminal appear in order.
        #expect(pty.shows("Canceled."))
        #expect(pty.shows("The sandboxed app “Mail” is trying to open the diary"))
        #expect(pty.shows("Enter: use another way."))
        pty.type("\n")
        #expect(try await happened() == .fellBack)
    }

    @Test("Ctrl-C cancels the current prompt, and the next prompt is shown")
    func cancelFirst() async throws {
        _ = try await begin(1)
        _ = try await begin(2, ["app-name": .string("Mail")])
        #expect(pty.shows("The sandboxed app “Notes” is trying to open the diary"))
        pty.type("\u{3}")
        #expect(try await happened() == .canceled)
        #expect(pty.shows("The sandboxed app “Mail” is trying to open the diary"))
        pty.type("a\n")
        #expect(try await happened() == .passcode([0x61]))
    }

    @Test("Once the password is asked for, Enter alone takes no fallback")
    func noFallbackLater() async throws {
        let prompt = try await begin(1)
        try await update(prompt, "fallback-available")
        try await update(prompt, "passcode-required", ["cause": .string("attempts")])
        #expect(pty.shows("Password of jo: "))
        pty.type("\na\n")
        #expect(try await happened() == .passcode([0x61]))
    }

    @Test("When the service exits, the terminal is given back")
    func serviceGone() async throws {
        _ = try await begin(2)
        #expect(pty.shows("Password of jo: "))
        try await onBus { [service] in service.leave() }
        #expect(pty.shows("Interrupted."))
        try await onBus { [view] in #expect(!view.isShowing) }
        #expect(pty.isPlain)
    }

    @Test("A delay counts down in one line, and then the prompt asks for the password again")
    func delay() async throws {
        let handle = try await begin(2)
        pty.type("one\n")
        #expect(try await happened() == .passcode(Array("one".utf8)))
        let detail: [String: Variant] = ["attempts-left": .uint32(0), "delay": .uint64(60_000)]
        try await update(handle, "passcode-rejected", detail)
        #expect(pty.shows("\r\u{1B}[KToo many wrong passwords: wait ", times: 3))
        let told = pty.screen.matches(of: /wait ([0-9]+) seconds\./).compactMap { Int($0.output.1) }
        #expect(told.first == 60 && told == told.sorted(by: >) && Set(told).count == told.count)
        #expect(!pty.screen.contains("seconds.\r\n"))
        try await update(handle, "passcode-required", ["cause": .string("delay-over")])
        #expect(pty.shows("You can enter your password again."))
        pty.type("two\n")
        #expect(try await happened() == .passcode(Array("two".utf8)))
    }

    @Test("Sentences break between words at the width of the terminal")
    func width() async throws {
        pty.resize(columns: 30)
        let handle = try await begin(1)
        #expect(pty.shows("The sandboxed app “Notes” is\r\ntrying to open the diary\r\n"))
        let ready: [String: Variant] = ["sensor": .string("F"), "biometry-type": .uint32(1)]
        try await update(handle, "sensor-ready", ready)
        #expect(pty.shows("Touch the fingerprint sensor\r\n(F is ready)."))
        pty.resize(columns: 200)
        try await update(handle, "sensor-ready", ready)
        #expect(pty.shows("Touch the fingerprint sensor (F is ready)."))
    }

    @Test("A sensor's own instructions are quoted with its name, and move no cursor")
    func ownWords() async throws {
        let words = Variant.texts(["en": "Hold your palm\u{1B}[2J over it"])
        let handle = try await begin(
            1,
            [
                "sensors": .strings(["Palm"]),
                "sensor-types": .array(element: .uint32, [.uint32(1)]),
                "biometry-types": .array(element: .uint32, [.uint32(1)]),
                "instructions": .dictionary(["Palm": words]),
            ]
        )
        #expect(pty.shows("Palm: “Hold your palm [2J over it”"))
        try await update(
            handle,
            "sensor-ready",
            ["sensor": .string("Palm"), "biometry-type": .uint32(1)]
        )
        #expect(pty.shows("“Hold your palm [2J over it” (Palm is ready)."))
        #expect(!pty.screen.contains("fingerprint"))
    }

    @Test("Without a terminal a prompt is refused")
    func noTerminal() async throws {
        try await onBus { #expect(!TerminalPrompt(path: "/dev/null").isUsable) }
    }
}

/// Records the last prompt on the terminal.
@BusActor private final class Keeper: PromptView {
    private(set) var last: Prompt?
    private let view: TerminalPrompt

    init(_ view: TerminalPrompt) { self.view = view }

    func begin(_ prompt: Prompt) throws(DBusError) {
        last = prompt
        try view.begin(prompt)
    }

    func update(_ prompt: Prompt, _ progress: PromptProgress) { view.update(prompt, progress) }

    func end(_ prompt: Prompt, _ outcome: PromptOutcome) { view.end(prompt, outcome) }
}
