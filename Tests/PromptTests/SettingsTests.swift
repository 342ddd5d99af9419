#if Prompt
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// The real settings under Xvfb, beside the real daemon, sensor and agent.
@Suite("The settings", .serialized, .timeLimit(.minutes(10)))
struct SettingsTests {
    private static func labels(_ stage: Stage) async throws -> [String] {
        try await stage.daemon.device("Simulated").listTemplates(options: [:]).map(\.label).sorted()
    }

    /// What the button is called that removes something, once it is asked about.
    @BusActor private static func answer(_ reader: ScreenReader) async throws -> String {
        let found = Witness<String>()
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

    /// Opens the window in which a sensor learns.
    ///
    /// GTK takes a quarter of a second for a press; on a row that is drawn anew meanwhile there was
    /// none.
    @BusActor private static func teach(_ reader: ScreenReader) async throws {
        var pressed: ContinuousClock.Instant?
        try await eventually(
            "the window that teaches among \(reader.seen)",
            within: ScreenReader.patience
        ) {
            if try await reader.find("button", "Start") != nil { return true }
            guard pressed.map({ .now - $0 > .seconds(5) }) != false else { return false }
            try await reader.press("Add…")
            pressed = .now
            return false
        }
    }

    @Test("A finger is taught with a picture of each stage, renamed, and removed")
    func teaching() async throws {
        try await Stage.run { stage in
            let (program, reader) = try await stage.startSettings()
            try await Self.teach(reader)
            _ = try await reader.wait(for: "image", "Stage 5: to come")
            try await reader.write("left thumb", into: "A name for it, such as “right thumb”:")
            try await reader.press("Start")
            try await stage.daemon.sensor.queue(outcomes: ["match", "hint:move-closer"])
            _ = try await reader.wait(for: "status", "Move closer.")
            _ = try await reader.wait(for: "image", "Stage 1: done")
            _ = try await reader.wait(for: "image", "Stage 2: to come")
            try await stage.daemon.sensor.queue(
                outcomes: Array(repeating: "match", count: 4)
            )
            _ = try await reader.wait(for: "status", "It is learned.")
            _ = try await reader.wait(for: "image", "Stage 5: done")
            try await reader.press("Done")
            #expect(try await Self.labels(stage) == ["left thumb", "right index"])

            try await reader.write("left index", into: "Name of “left thumb”")
            try await reader.press("Rename “left thumb”")
            _ = try await reader.wait(for: "text box", "Name of “left index”")
            #expect(try await Self.labels(stage) == ["left index", "right index"])

            // Nothing is removed by one press.
            try await reader.press("Remove “right index”")
            let answer = try await Self.answer(reader)
            #expect(try await Self.labels(stage) == ["left index", "right index"])
            try await reader.press(answer)
            try await eventually("one finger", within: .seconds(60)) {
                try await Self.labels(stage) == ["left index"]
            }
            try await eventually("it to go from the window", within: ScreenReader.patience) {
                try await reader.find("text box", "Name of “right index”") == nil
            }
            let spoken: Set = ["button", "label", "image", "text box"]
            for element in try await reader.elements() where spoken.contains(element.role) {
                #expect(!element.name.isEmpty, "\(element)")
            }
            #expect(program.isRunning)
        }
    }

    @Test("An enrolment ends with its window, and a sensor that is gone can't be taught")
    func cancel() async throws {
        try await Stage.run { stage in
            let (_, reader) = try await stage.startSettings()
            try await Self.teach(reader)
            try await reader.press("Start")
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            _ = try await reader.wait(for: "image", "Stage 1: done")
            try await reader.press("Cancel")
            // Another one finds the sensor free.
            try await Self.teach(reader)
            try await reader.press("Start")
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            _ = try await reader.wait(for: "image", "Stage 1: done")
            try await stage.daemon.sensor.setPresent(present: false)
            try await reader.press("Cancel")
            try await eventually("nothing to add to", within: ScreenReader.patience) {
                try await reader.find("button", "Add…")?.has(.sensitive) == false
            }
        }
    }

    @Test("What the diagnosis finds is shown with its remedy")
    func findings() async throws {
        try await Stage.run { stage in
            let (_, reader) = try await stage.startSettings()
            let findings = try await stage.daemon.manager.diagnose()
            #expect(findings.count > 3)
            for finding in findings {
                let name = finding["name"]?.asString ?? ""
                let message = finding["message"]?.asString ?? ""
                let remedy = finding["remedy"]?.asString ?? ""
                var words = message
                if finding["state"]?.asString != "ok", !remedy.isEmpty {
                    words += "\nNext: \(remedy)"
                }
                _ = try await reader.wait(for: "label", words)
                _ = try await reader.wait(for: "label", name)
            }
            #expect(findings.contains { $0["state"]?.asString != "ok" })
        }
    }

    @Test("The test asks as an app does, and says by what it was granted")
    func test() async throws {
        try await Stage.run { stage in
            let (_, reader) = try await stage.startSettings()
            try await reader.press("Start Test")
            _ = try await stage.reader.wait(for: "image", "Fingerprint sensor")
            let words = try await stage.reader.elements().map(\.name)
            #expect(words.contains { $0.hasSuffix("is trying to test the sensors") })
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            _ = try await reader.wait(for: "label", "Yes: biometry (Simulated, strong).")
            try await reader.press("Start Test")
            try await stage.reader.press("Cancel")
            try await eventually("another answer", within: ScreenReader.patience) {
                try await reader.find("button", "Start Test")?.has(.sensitive) == true
            }
            #expect(try await reader.find("label", "Yes: biometry (Simulated, strong).") == nil)
        }
    }

    @Test("The prompt of the test belongs to the window of the settings")
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

    @Test("A sensor forgets everything at once, when that is said twice")
    func forgetting() async throws {
        try await Stage.run { stage in
            let (_, reader) = try await stage.startSettings()
            _ = try await reader.wait(for: "text box", "Name of “right index”")
            let title = try await stage.daemon.device("Simulated").description()
            // One thing is removed in its own row.
            #expect(try await reader.find("button", "Remove all of “\(title)”") == nil)
            _ = try await stage.daemon.sensor.addTemplate(uid: getuid(), label: "left thumb")
            try await reader.press("Look Again")
            try await reader.press("Remove all of “\(title)”")
            let answer = try await Self.answer(reader)
            #expect(try await Self.labels(stage) == ["left thumb", "right index"])
            try await reader.press(answer)
            try await eventually("nothing to be known", within: .seconds(60)) {
                try await Self.labels(stage).isEmpty
            }
            _ = try await reader.wait(for: "label", "Nothing yet: add a finger or a face above.")
        }
    }

    @Test("What a sensor learned by itself is forgotten without what it was taught")
    func learned() async throws {
        try await PrivateBus.run { bus in
            let screen = try await Screen(on: bus)
            do {
                try await Self.forgetLearned(on: screen)
            } catch {
                await screen.end()
                throw error
            }
            await screen.end()
        }
    }

    @BusActor private static func forgetLearned(on screen: Screen) async throws {
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
        // Plain text: what looks like markup is shown as it is.
        _ = try await reader.wait(for: "label", label)
        try await reader.press("Remove “Learned of \(label)”")
        try await reader.press(try await Self.answer(reader))
        try await eventually("it to be forgotten", within: .seconds(60)) { sensor.learned.isEmpty }
        #expect(sensor.templates.map(\.id) == [id])
    }

    @Test("Where nobody shows prompts the settings have the bus start the agent")
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
            try await eventually("somebody to show prompts", within: .seconds(60)) {
                try await stage.daemon.manager.interactive()
            }
            try await reader.press("Start Test")
            _ = try await stage.reader.wait(for: "image", "Fingerprint sensor")
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            _ = try await reader.wait(for: "label", "Yes: biometry (Simulated, strong).")
        }
    }
}
#endif
