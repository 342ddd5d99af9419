#if Prompt
import DBus
import Glibc
import LocalAuthBus
import Passkeys
import TestSupport
import Testing

/// Tests the real settings on Xvfb, with the real daemon and agent and a simulated sensor.
@Suite("The settings", .serialized, .timeLimit(.minutes(10)))
struct SettingsTests {
    private static func labels(_ stage: Stage) async throws -> [String] {
        try await stage.daemon.device("Simulated").listTemplates(options: [:]).map(\.label).sorted()
    }

    /// Returns the label of the button that confirms a removal.
    @BusActor private static func answer(_ reader: ScreenReader) async throws -> String {
        let found = EventRecorder<String>()
        try await eventually("the question", within: ScreenReader.patience) {
            for element in try await reader.elements()
            where element.role == "button" && element.name.hasPrefix("Remove")
                && !element.name.contains("“")
            {
                found.record(element.name)
                return true
            }
            return false
        }
        return try await found.first("a button", within: .seconds(1)) { _ in true }
    }

    /// Opens the window that adds a fingerprint.
    ///
    /// GTK needs a quarter of a second for a press. A row that is redrawn meanwhile loses it, so
    /// the press is repeated.
    @BusActor private static func add(_ reader: ScreenReader) async throws {
        var pressed: ContinuousClock.Instant?
        try await eventually(
            "the window that adds a fingerprint among \(reader.seen)",
            within: ScreenReader.patience
        ) {
            if try await reader.find("button", "Add") != nil { return true }
            guard pressed.map({ .now - $0 > .seconds(5) }) != false else { return false }
            try await reader.press("Add Fingerprint")
            pressed = .now
            return false
        }
    }

    @Test("A fingerprint is added with a picture of each stage, renamed in its row, and removed")
    func adding() async throws {
        try await Stage.run { stage in
            let (program, reader) = try await stage.startSettings()
            try await Self.add(reader)
            _ = try await reader.wait(for: "image", "Stage 5: to come")
            try await reader.write("left thumb", into: "Name (optional)")
            try await reader.press("Add")
            try await stage.daemon.sensor.queue(outcomes: ["match", "hint:move-closer"])
            _ = try await reader.wait(for: "status", "Move closer.")
            _ = try await reader.wait(for: "image", "Stage 1: done")
            _ = try await reader.wait(for: "image", "Stage 2: to come")
            try await stage.daemon.sensor.queue(
                outcomes: Array(repeating: "match", count: 4)
            )
            _ = try await reader.wait(for: "status", "The fingerprint was added.")
            _ = try await reader.wait(for: "image", "Stage 5: done")
            try await reader.press("Done")
            #expect(try await Self.labels(stage) == ["left thumb", "right index"])

            // A removal needs a second press.
            try await reader.press("Remove “right index”")
            let answer = try await Self.answer(reader)
            #expect(try await Self.labels(stage) == ["left thumb", "right index"])
            try await reader.press(answer)
            try await eventually("one finger", within: .seconds(60)) {
                try await Self.labels(stage) == ["left thumb"]
            }
            try await eventually("it to go from the window", within: ScreenReader.patience) {
                try await reader.find("button", "Remove “right index”") == nil
            }

            // The row shows the name only in the field that changes it.
            let names = try await reader.elements().map(\.name)
            #expect(!names.contains("left thumb"))
            #expect(try await reader.texts() == ["left thumb"])
            // Use only the keyboard. Letters must press no button.
            try await eventually("another name in the row", within: ScreenReader.patience) {
                try await stage.screen.press("Tab")
                try await stage.screen.type("index")
                return try await reader.texts() == ["index"]
            }
            let spoken: Set = ["button", "label", "image", "text box"]
            for element in try await reader.elements() where spoken.contains(element.role) {
                #expect(!element.name.isEmpty, "\(element)")
            }
            try await reader.press("Apply")
            _ = try await reader.wait(for: "button", "Remove “index”")
            #expect(try await Self.labels(stage) == ["index"])
            #expect(program.isRunning)
        }
    }

    @Test("Closing the window ends an enrolment, and a sensor without a device has no row")
    func cancel() async throws {
        try await Stage.run { stage in
            let (_, reader) = try await stage.startSettings()
            try await Self.add(reader)
            try await reader.press("Add")
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            _ = try await reader.wait(for: "image", "Stage 1: done")
            try await reader.press("Cancel")
            // The sensor is free for another enrolment.
            try await Self.add(reader)
            try await reader.press("Add")
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            _ = try await reader.wait(for: "image", "Stage 1: done")
            try await stage.daemon.sensor.setPresent(present: false)
            try await reader.press("Cancel")
            _ = try await reader.wait(for: "label", "No sensor found")
            #expect(try await reader.find("button", "Add Fingerprint") == nil)
            try await stage.daemon.sensor.setPresent(present: true)
            _ = try await reader.wait(for: "button", "Remove “right index”")
        }
    }

    @Test("A problem has a sentence, a remedy without commands and a button that acts")
    func problems() async throws {
        try await Stage.run { stage in
            try await stage.daemon.manager.requirePasscode(uid: getuid(), cause: "")
            let (_, reader) = try await stage.startSettings()
            try await reader.press("Enter Password")
            try await stage.waitUntilTyping()
            try await stage.screen.type(PAMService.passcode)
            try await stage.screen.press("Return")
            _ = try await reader.wait(for: "label", "Your password was accepted.")
            try await eventually("the problem to go", within: ScreenReader.patience) {
                try await reader.find("button", "Enter Password") == nil
            }
            _ = try await reader.wait(for: "label", "Ask an administrator for help.")
        }
    }

    @Test("The window shows no remedy that names a command")
    func commands() async throws {
        try await PrivateBus.run { bus in
            let screen = try await Screen(on: bus)
            do {
                try await Self.readRemedies(on: screen)
            } catch {
                await screen.end()
                throw error
            }
            await screen.end()
        }
    }

    @BusActor private static func readRemedies(on screen: Screen) async throws {
        let service = try StandInService(screen.bus)
        let sensor = StandInSensor("Fingerprint", at: service)
        let problems = [
            ("policy", "Install it in /usr/share/dbus-1/system.d, then reload the bus."),
            ("passcode", "Set a password with passwd."),
            (
                "agent",
                "Start a prompt: localauthctl "
                    + "agent."
            ),
            ("sensor Fingerprint", "Try again; what else it said: journalctl -u unit."),
            ("state", "Give your password once (localauthctl evaluate --policy 2)."),
            ("later", "Name a camera with the sensor's option --camera."),
        ]
        let hidden = [("enrolment", "Run localauthctl enroll."), ("options", "man 5 it.")]
        service.checks = (problems + hidden)
            .map { name, remedy in
                [
                    "name": .string(name), "state": .string("failed"),
                    "message": .string("About \(name)."), "remedy": .string(remedy),
                ]
            }
        let (_, reader) = try await screen.startSettings()
        _ = try await reader.wait(for: "label", "Nothing added yet")
        for (name, _) in problems where !["agent", "passcode", "policy"].contains(name) {
            _ = try await reader.wait(for: "label", "About \(name).")
        }
        let elements = try await reader.elements()
        let words = elements.map(\.name)
        for (_, remedy) in problems + hidden { #expect(!words.contains { $0.contains(remedy) }) }
        #expect(words.contains("Start it now, or log out and in again."))
        #expect(!words.contains("About enrolment.") && !words.contains("About options."))
        #expect(elements.count { $0.role == "button" && $0.name == "Try Again" } == 3)
        sensor.remove()
        _ = try await reader.wait(for: "label", "No sensor found")
        service.leave()
        _ = try await reader.wait(for: "label", "Service not found")
    }

    @Test("The test calls as an app does, and says which sensor recognized the user")
    func test() async throws {
        try await Stage.run { stage in
            let (_, reader) = try await stage.startSettings()
            try await reader.press("Start Test")
            _ = try await stage.reader.wait(for: "image", "Fingerprint sensor")
            let words = try await stage.reader.elements().map(\.name)
            #expect(words.contains { $0.hasSuffix("is trying to test the sensors") })
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            _ = try await reader.wait(for: "label", "Simulated sensor recognized you.")
            try await reader.press("Start Test")
            try await stage.reader.press("Cancel")
            try await eventually("another answer", within: ScreenReader.patience) {
                try await reader.find("button", "Start Test")?.has(.sensitive) == true
            }
            #expect(try await reader.find("label", "Simulated sensor recognized you.") == nil)
        }
    }

    @Test("The settings' window is the parent of the test's prompt")
    func parent() async throws {
        try await Stage.run { stage in
            let (_, reader) = try await stage.startSettings()
            try await reader.press("Start Test")
            try await stage.waitUntilSettled()
            let screen = stage.screen
            let settings = try #require(try await screen.window("class", "localauth-settings"))
            let number = String(try #require(UInt32(settings)), radix: 16)
            let prompt = try #require(try await screen.window("class", "localauth-agent"))
            let parent = try await screen.run("/usr/bin/xprop", "-id", prompt, "WM_TRANSIENT_FOR")
            #expect(parent.contains("window id # 0x\(number)\n"))
            try await stage.reader.press("Cancel")
            _ = try await reader.wait(for: "label", "The user canceled.")
        }
    }

    @Test("All templates of a sensor are removed together after a question")
    func removingAll() async throws {
        try await Stage.run { stage in
            let (_, reader) = try await stage.startSettings()
            _ = try await reader.wait(for: "button", "Remove “right index”")
            let title = try await stage.daemon.device("Simulated").description()
            // A single template has its own button in its row.
            #expect(try await reader.find("button", "Remove all of “\(title)”") == nil)
            _ = try await stage.daemon.sensor.addTemplate(uid: getuid(), label: "left thumb")
            try await reader.press("Check again")
            try await reader.press("Remove all of “\(title)”")
            let answer = try await Self.answer(reader)
            #expect(try await Self.labels(stage) == ["left thumb", "right index"])
            try await reader.press(answer)
            try await eventually("no template", within: .seconds(60)) {
                try await Self.labels(stage).isEmpty
            }
            _ = try await reader.wait(for: "label", "Nothing added yet")
            try await Self.add(reader)
        }
    }

    @Test("An automatic addition is removed without its template")
    func learned() async throws {
        try await PrivateBus.run { bus in
            let screen = try await Screen(on: bus)
            do {
                try await Self.removeLearned(on: screen)
            } catch {
                await screen.end()
                throw error
            }
            await screen.end()
        }
    }

    @BusActor private static func removeLearned(on screen: Screen) async throws {
        let service = try StandInService(screen.bus)
        service.isInteractive = true
        let sensor = StandInSensor("Face", at: service)
        let device = Device1Proxy(
            try screen.bus.connect(),
            destination: TestDaemon.name,
            path: TestDaemon.devicePath("Face")
        )
        let label = "a <b> & c"
        let id = try await device.enroll(label: label, options: [:])
        sensor.learned = [LearnedEntry(id: "seen", template: id, learned: 1_800_000_000)]
        let (_, reader) = try await screen.startSettings()
        // Markup is shown as plain text.
        _ = try await reader.wait(for: "label", "Automatic addition to \(label)")
        try await reader.press("Remove “Automatic addition to \(label)”")
        try await reader.press(try await Self.answer(reader))
        try await eventually("no addition", within: .seconds(60)) { sensor.learned.isEmpty }
        #expect(sensor.templates.map(\.id) == [id])
    }

    @Test("Passkeys are listed with their sites, accounts and days, and removed after a question")
    func passkeys() async throws {
        try await Stage.run { stage in
            let keychain = stage.daemon.keychain()
            for (number, account) in ["ann", "a <b>"].enumerated() {
                let passkey = Passkey(
                    id: [UInt8](repeating: UInt8(number), count: 32),
                    site: "example.org",
                    account: account,
                    isDiscoverable: true,
                    protection: .none,
                    isExportable: false,
                    counter: 1
                )
                let options: [String: Variant] = [:]
                _ = try await keychain.createKey(
                    attributes: passkey.keyAttributes,
                    accessControl: options,
                    options: options
                )
                _ = try await keychain.add(
                    attributes: passkey.attributes,
                    secret: [],
                    accessControl: options,
                    options: options
                )
            }
            let (_, reader) = try await stage.startSettings()
            _ = try await reader.wait(for: "button", "Remove “example.org, ann”")
            let names = try await reader.elements().map(\.name)
            #expect(names.contains { $0.hasPrefix("a <b> · Created on 20") })
            try await reader.press("Remove “example.org, a <b>”")
            let answer = try await Self.answer(reader)
            let all = ["agrp": Variant.string(Passkey.group)]
            #expect(try await keychain.search(query: all, options: [:]).count == 4)
            try await reader.press(answer)
            try await eventually("one passkey", within: .seconds(60)) {
                try await keychain.search(query: all, options: [:]).count == 2
            }
            try await eventually("it to go from the window", within: ScreenReader.patience) {
                try await reader.find("button", "Remove “example.org, a <b>”") == nil
            }
            _ = try await reader.wait(for: "button", "Remove “example.org, ann”")
        }
    }

    @Test("Without an agent the settings make the bus start it")
    func agent() async throws {
        try await Stage.run { stage in
            await stage.agent.end()
            try await eventually("nobody to show prompts", within: .seconds(60)) {
                try await !stage.daemon.manager.interactive()
            }
            let variables = stage.screen.environment.map { "\($0)=\($1)" }
            let program = ChildProcess.folder + "/localauth-agent"
            let words = ["/usr/bin/env"] + variables + [program]
            try await stage.screen.bus.offer("org.localauth.Agent1", words)
            let (_, reader) = try await stage.startSettings()
            try await eventually("an agent", within: .seconds(60)) {
                try await stage.daemon.manager.interactive()
            }
            try await reader.press("Start Test")
            _ = try await stage.reader.wait(for: "image", "Fingerprint sensor")
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            _ = try await reader.wait(for: "label", "Simulated sensor recognized you.")
        }
    }

    @Test("Start Prompts makes the bus start the agent")
    func prompts() async throws {
        try await Stage.run { stage in
            await stage.agent.end()
            let (_, reader) = try await stage.startSettings()
            _ = try await reader.wait(for: "button", "Start Prompts")
            let variables = stage.screen.environment.map { "\($0)=\($1)" }
            let program = ChildProcess.folder + "/localauth-agent"
            let words = ["/usr/bin/env"] + variables + [program]
            try await stage.screen.bus.offer("org.localauth.Agent1", words)
            try await reader.press("Start Prompts")
            try await eventually("an agent, and no problem", within: ScreenReader.patience) {
                try await reader.find("button", "Start Prompts") == nil
            }
            #expect(try await stage.daemon.manager.interactive())
        }
    }
}
#endif
