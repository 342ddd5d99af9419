#if Prompt
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Tests the real agent on Xvfb, with the real daemon and verifier and a simulated sensor.
///
/// A simulated user acts with a keyboard and a screen reader.
@Suite("The prompt on the desktop", .serialized, .timeLimit(.minutes(10)))
struct PromptWindowTests {
    @Test("L6: under policy 2 the user can type a password while the sensor scans")
    func passcode() async throws {
        try await Stage.run { stage in
            let evaluation = stage.evaluate(2, "open the <b>vault</b>")
            let field = try await stage.reader.wait(for: "text box", "Password of root: ")
            try await stage.waitUntilTyping()
            let focused = try await stage.reader.wait(for: "text box")
            #expect(focused.place == field.place)
            _ = try await stage.reader.wait(for: "image", "Fingerprint sensor")
            let words = try await stage.reader.elements().map(\.name)
            // Markup is shown as plain text.
            #expect(words.contains { $0.hasSuffix("is trying to open the <b>vault</b>") })
            #expect(words.contains("Authentication Required"))
            #expect(words.contains("Touch the fingerprint sensor or enter your password."))
            #expect(!words.contains("Warning"))
            try await stage.screen.type("1111")
            try await stage.screen.press("Return")
            _ = try await stage.reader.wait(for: "status", "Wrong password. 4 attempts are left.")
            try await stage.waitUntilTyping()
            try await stage.screen.type(PAMService.passcode)
            try await stage.screen.press("Return")
            #expect(try await evaluation.value["mechanism"]?.asString == "passcode")
            try await stage.reader.waitForNothing()
        }
    }

    @Test("A sensor's hint changes neither the typed text nor the focus")
    func hintWhileTyping() async throws {
        try await Stage.run { stage in
            let evaluation = stage.evaluate(2, "open it")
            try await stage.waitUntilTyping()
            try await stage.screen.type(String(PAMService.passcode.prefix(2)))
            try await stage.daemon.sensor.queue(outcomes: ["hint:lift-and-retry"])
            _ = try await stage.reader.wait(for: "status", "Lift your finger and try again.")
            try await stage.screen.type(String(PAMService.passcode.dropFirst(2)))
            try await stage.screen.press("Return")
            try await stage.reader.waitForNothing()
            #expect(try await evaluation.value["mechanism"]?.asString == "passcode")

            let second = stage.evaluate(2, "open it")
            try await stage.waitUntilTyping()
            try await stage.screen.press("Tab")
            try await eventually("the focus on Cancel", within: .seconds(60)) {
                try await stage.reader.find("button", "Cancel")?.has(.focused) == true
            }
            try await stage.daemon.sensor.queue(outcomes: ["hint:lift-and-retry"])
            _ = try await stage.reader.wait(for: "status", "Lift your finger and try again.")
            #expect(try await stage.reader.find("button", "Cancel")?.has(.focused) == true)
            try await stage.screen.press("Return")
            try await expectError(.userCancel, of: "Cancel") { _ = try await second.value }
        }
    }

    @Test("R23, R24: a screen reader can press Cancel by the app's title, and Escape cancels")
    func cancel() async throws {
        try await Stage.run { stage in
            for isByHand in [false, true] {
                let title = "Not _now"
                let options: [String: Variant] = isByHand ? [:] : ["cancel-title": .string(title)]
                let evaluation = stage.evaluate(1, "open it", options)
                if isByHand {
                    try await stage.waitUntilSettled()
                    try await stage.screen.press("Escape")
                } else {
                    try await stage.reader.press(title)
                }
                try await expectError(.userCancel, of: "a cancel") {
                    _ = try await evaluation.value
                }
                try await stage.reader.waitForNothing()
            }
        }
    }

    @Test("A window that becomes visible late ignores keys at first")
    func seenLate() async throws {
        try await Stage.run { stage in
            stage.screen.holdWindows(true)
            defer { stage.screen.holdWindows(false) }
            let evaluation = stage.evaluate(1, "open it")
            try await eventually("a button that can be pressed", within: .seconds(60)) {
                try await stage.reader.find("button", "Cancel")?.has(.sensitive) == true
            }
            #expect(try await !stage.reader.isActive())
            let button = try await stage.reader.wait(for: "button", "Cancel")
            let heard = EventRecorder<String>()
            let listening = stage.reader.listen(to: button) { heard.record($0) }
            defer { listening.cancel() }
            let start = ContinuousClock.now
            stage.screen.holdWindows(false)
            try await eventually("a button that can't be pressed, and then can") {
                heard.seen.count { $0 == "StateChanged" } >= 2
            }
            try await stage.waitUntilSettled()
            #expect(ContinuousClock.now - start >= .milliseconds(350))
            try await stage.screen.press("Escape")
            try await expectError(.userCancel, of: "a cancel") { _ = try await evaluation.value }
        }
    }

    @Test("R2, R22: the fallback button appears after the first miss and can be pressed")
    func fallback() async throws {
        try await Stage.run { stage in
            let evaluation = stage.evaluate(1, "open it", ["fallback-title": .string("Use _PIN")])
            _ = try await stage.reader.wait(for: "image", "Fingerprint sensor")
            #expect(try await stage.reader.find("button", "Use _PIN") == nil)
            try await stage.daemon.sensor.queue(outcomes: ["no-match"])
            _ = try await stage.reader.wait(for: "status", "Not recognized. 2 attempts are left.")
            try await stage.reader.press("Use _PIN")
            try await expectError(.userFallback, of: "the fallback") {
                _ = try await evaluation.value
            }
            try await stage.reader.waitForNothing()
            // Without the app's title the button has a default title.
            let second = stage.evaluate(1, "open it")
            _ = try await stage.reader.wait(for: "image", "Fingerprint sensor")
            try await stage.daemon.sensor.queue(outcomes: ["no-match"])
            try await stage.reader.press("Use Another Way")
            try await expectError(.userFallback, of: "the fallback") { _ = try await second.value }
        }
    }

    @Test("L7: the user confirms a face with a button")
    func confirmation() async throws {
        try await Stage.run { stage in
            try await Self.useFace(stage)
            let evaluation = stage.evaluate(1, "open it")
            _ = try await stage.reader.wait(for: "image", "Camera")
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            try await stage.reader.press("Confirm")
            #expect(try await evaluation.value["mechanism"]?.asString == "biometry")
        }
    }

    @Test("L7: Enter confirms a face, and a partly typed password is not sent")
    func confirmationWhileTyping() async throws {
        try await Stage.run { stage in
            try await Self.useFace(stage)
            let evaluation = stage.evaluate(2, "open it")
            try await stage.waitUntilTyping()
            try await stage.screen.type("11")
            _ = try await stage.reader.wait(for: "image", "Camera")
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            try await Self.waitForConfirm(stage)
            try await stage.screen.press("Return")
            try await stage.reader.waitForNothing()
            #expect(try await evaluation.value["mechanism"]?.asString == "biometry")
        }
    }

    @Test("L7: a key meant for the window in front does not confirm in the prompt behind it")
    func confirmationAfterAnotherWindow() async throws {
        try await Stage.run { stage in
            let screen = stage.screen
            try await Self.useFace(stage)
            let evaluation = stage.evaluate(1, "open it")
            let ended = EventRecorder<Bool>()
            onLoop {
                _ = try? await evaluation.value
                ended.record(true)
            }
            _ = try await stage.reader.wait(for: "image", "Camera")
            try await stage.daemon.sensor.queue(outcomes: ["match"])
            try await Self.waitForConfirm(stage)
            let prompt = try #require(try await screen.window("class", "localauth-agent"))
            let app = try await screen.startApp()
            try await screen.run("/usr/bin/xdotool", "windowfocus", app)
            try await eventually("the prompt to have no keys", within: .seconds(60)) {
                try await !stage.reader.isActive()
            }
            // A stopped agent reads the key later, but the key counts as pressed now, even on a
            // slow machine.
            stage.agent.signal(SIGSTOP)
            defer { stage.agent.signal(SIGCONT) }
            try await screen.run("/usr/bin/xdotool", "windowfocus", prompt)
            try await screen.press("Return")
            stage.agent.signal(SIGCONT)
            try await eventually("a prompt that takes keys, or its end", within: .seconds(60)) {
                guard ended.seen.isEmpty else { return true }
                guard try await stage.reader.isActive() else { return false }
                return try await Self.isConfirmable(stage)
            }
            #expect(ended.seen.isEmpty, "it was confirmed")
            try await screen.press("Return")
            #expect(try await evaluation.value["mechanism"]?.asString == "biometry")
        }
    }

    @BusActor private static func isConfirmable(_ stage: Stage) async throws -> Bool {
        let button = try await stage.reader.find("button", "Confirm")
        return button?.has(.sensitive) == true && button?.has(.focused) == true
    }

    @BusActor private static func waitForConfirm(_ stage: Stage) async throws {
        try await eventually("a button that confirms", within: .seconds(60)) {
            try await isConfirmable(stage)
        }
    }

    /// Turns the sensor into a face sensor with a template of the test's user.
    @BusActor private static func useFace(_ stage: Stage) async throws {
        try await stage.daemon.sensor.setBiometryType(biometryType: 2)
        try await stage.daemon.sensor.setStrength(strength: "convenience")
        _ = try await stage.daemon.sensor.addTemplate(uid: getuid(), label: "face")
        try await eventually("a usable face sensor", within: .seconds(60)) {
            try await stage.daemon.manager.canEvaluate(policy: 1).code == 0
        }
    }

    @Test("Status changes are announced, and every visible part has a name and a role")
    func announced() async throws {
        try await Stage.run { stage in
            let evaluation = stage.evaluate(2, "open it")
            _ = try await stage.reader.wait(for: "image", "Fingerprint sensor")
            try await stage.waitUntilTyping()
            let status = try await stage.reader.wait(for: "status")
            let heard = EventRecorder<String>()
            let listening = stage.reader.listen(to: status) { heard.record($0) }
            defer { listening.cancel() }
            try await stage.daemon.sensor.queue(outcomes: ["hint:lift-and-retry"])
            _ = try await stage.reader.wait(for: status.role, "Lift your finger and try again.")
            _ = try await heard.first("an announcement", within: .seconds(60)) {
                $0 == "PropertyChange" || $0 == "TextChanged"
            }
            // Boxes for layout have neither; every part that shows or accepts something has both.
            let spoken: Set = ["button", "label", "image", "text box", "status"]
            for element in try await stage.reader.elements()
            where spoken.contains(element.role) {
                #expect(!element.name.isEmpty, "\(element)")
            }
            try await stage.reader.press("Cancel")
            _ = try? await evaluation.value
        }
    }

    @Test("A prompt ends with the agent or the daemon, and the other keeps running")
    func crashes() async throws {
        try await Stage.run { stage in
            let first = stage.evaluate(1, "open it")
            _ = try await stage.reader.wait(for: "image", "Fingerprint sensor")
            await stage.agent.end()
            try await expectError(.systemCancel, of: "the end of the agent") {
                _ = try await first.value
            }
            let second = try await stage.screen.startAgent()
            let prompted = stage.evaluate(1, "open it again")
            _ = try await stage.reader.wait(for: "image", "Fingerprint sensor")
            try await stage.daemon.stop()
            _ = try? await prompted.value
            try await stage.reader.waitForNothing()
            #expect(second.isRunning)
            try await stage.daemon.start()
            try await eventually("the agent to be back", within: .seconds(60)) {
                second.errors.ranges(of: "serves session").count == 2
            }
        }
    }

    @Test("An app's icon outside /usr/share is not read, because reading may block")
    func icon() async throws {
        try await PrivateBus.run { bus in
            let screen = try await Screen(on: bus)
            do {
                try await Self.showPipe(on: screen)
            } catch {
                await screen.end()
                throw error
            }
            await screen.end()
        }
    }

    @BusActor private static func showPipe(on screen: Screen) async throws {
        // Opening this pipe blocks until a writer appears.
        let pipe = screen.bus.folder + "/icon.png"
        try expect(mkfifo(pipe, 0o600) == 0, "expected a pipe \(pipe)")
        let service = try StandInService(screen.bus)
        try await screen.startAgent()
        let handle = try await service.begin([
            "sandboxed": .bool(true), "sandbox-id": .string("org.example.Vault"),
            "app-name": .string("Vault"), "app-icon": .string(pipe), "reason": .string("open it"),
            "policy": .uint32(1), "stage": .string("biometry"),
        ])
        let reader = try await ScreenReader(on: screen)
        _ = try await reader.wait(for: "image", "Icon of Vault")
        try await service.end(handle, "canceled")
        try await reader.waitForNothing()
        reader.connection.close()
    }

    @Test("A second agent in a session exits successfully, and systemd sees it as ready")
    func oneForEach() async throws {
        try await Stage.run { stage in
            let systemd = try NotifySocket(at: stage.screen.bus.folder + "/notify")
            let notify = ["NOTIFY_SOCKET": systemd.path]
            let second = try stage.screen.bus.start(
                ["localauth-agent", "--resident"],
                environment: stage.screen.environment.merging(notify) { $1 }
            )
            #expect(try await second.exitStatus(within: .seconds(60)) == 0)
            // Without READY=1, a unit of type notify would have failed.
            #expect(systemd.packets().first == "READY=1")
            #expect(stage.agent.isRunning)
        }
    }
}
#endif
