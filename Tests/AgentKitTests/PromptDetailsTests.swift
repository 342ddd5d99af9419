import AgentKit
import DBus
import TestSupport
import Testing

@Suite struct PromptDetailsTests {
    private let least: [String: Variant] = [
        "reason": .string("unlock"), "stage": .string("biometry"), "policy": .uint32(1),
    ]

    private func details(_ more: [String: Variant]) throws(DBusError) -> PromptDetails {
        try PromptDetails(least.merging(more) { $1 })
    }

    private func app(_ more: [String: Variant]) throws(DBusError) -> PromptDetails {
        let sandbox: [String: Variant] = [
            "sandboxed": .bool(true), "sandbox-id": .string("org.example.Bank"), "pid": .uint32(7),
            "app-name": .string("Bank"), "app-icon": .string("bank"),
        ]
        return try details(sandbox.merging(more) { $1 })
    }

    /// The details of an unsandboxed program; nil for a program that hides.
    private func program(
        _ program: CallerProgram?,
        _ more: [String: Variant] = [:]
    ) throws(DBusError) -> PromptDetails {
        let outside: [String: Variant] = ["sandboxed": .bool(false), "pid": .uint32(7)]
        let all = least.merging(outside) { $1 }.merging(more) { $1 }
        return try PromptDetails(all) { _ in program }
    }

    @Test("Control and direction characters never reach the screen")
    func plain() throws {
        let hostile = "a\u{1B}[2Jb\nc\u{202E}d\u{2066}e\u{9B}f\u{2028}g"
        #expect(try details(["reason": .string(hostile)]).reason == "a [2Jb cde f g")
        #expect(try app(["app-name": .string(hostile)]).appName == "a [2Jb cde f g")
    }

    @Test("Long text is cut, even if it hides its length")
    func bounds() throws {
        let marks = "a" + String(repeating: "\u{301}", count: 5000)
        #expect(try details(["reason": .string(marks)]).reason.unicodeScalars.count == 512)
        let many = (0..<500).map { "s\($0)" }
        #expect(try details(["sensors": .strings(many)]).sensors.count == 32)
    }

    @Test("A wrong type, an unknown stage and an empty reason are errors")
    func malformed() {
        for wrong: [String: Variant] in [
            ["reason": .uint32(1)], ["reason": .string("")], ["reason": .string("\n\t")],
            ["stage": .string("dance")], ["policy": .string("1")], ["biometry-types": .bool(true)],
            ["sandboxed": .string("no")], ["sandbox-id": .bool(true)],
        ] {
            #expect(throws: DBusError.self) { try details(wrong) }
        }
    }

    @Test("A sensor's own instructions replace only those of its type")
    func instructions() throws {
        let words: [String: Variant] = [
            "sensors": .strings(["Palm", "Camera", "Key"]),
            "sensor-types": .array(element: .uint32, [.uint32(1), .uint32(2), .uint32(0)]),
            "biometry-types": .array(element: .uint32, [.uint32(1), .uint32(2)]),
        ]
        let plain = try details(words)
        #expect(PromptText.invitation(plain) == "Use one of your sensors.")
        let texts = Variant.texts(["de": "Hand auflegen", "en": "Hold\u{202E} your palm"])
        let own = try details(
            words.merging(["instructions": .dictionary(["Palm": texts, "Camera": .string("x")])]) {
                $1
            }
        )
        let palm = "Palm: “Hold your palm”\n"
        #expect(
            PromptText.invitation(own) == palm + "Look at the camera or use your security key."
        )
        var state = PromptState(own)
        state.apply(.sensorReady(sensor: "Palm", biometryType: 1))
        #expect(state.invitation == PromptText.invitation(own) && state.statusText == "")
        state.apply(.sensorFailed(sensor: "Camera", biometryType: 2, cause: "missing"))
        #expect(state.invitation == palm + "Use your security key.")
        #expect(state.statusText == "The camera was disconnected.")
        #expect(throws: DBusError.self) { try details(["instructions": .string("Palm")]) }
    }

    @Test("A sensor's own instructions are quoted, and end neither the quotation nor the line")
    func hostileInstructions() throws {
        let trap = "Wait.”\u{FE0E}\nType your password at example.org “\u{301}«\u{1B}[2J"
        let own = try details([
            "sensors": .strings(["Palm"]), "sensor-types": .array(element: .uint32, [.uint32(1)]),
            "instructions": .dictionary(["Palm": .texts(["xx": trap])]),
        ])
        let shown = "“Wait.'\u{FE0E} Type your password at example.org '\u{301}' [2J”"
        #expect(PromptText.invitation(own) == "Palm: " + shown)
        #expect(
            PromptText.sentence(
                .sensorReady(sensor: "Palm", biometryType: 1),
                instructions: own.instructions
            ) == shown + " (Palm is ready)."
        )
        let long = try details([
            "sensors": .strings(["Palm"]),
            "instructions": .dictionary([
                "Palm": .texts(["en": String(repeating: "x", count: 500)])
            ]),
        ])
        #expect(long.instructions["Palm"]?.count == 80)
        let blank = try details([
            "sensors": .strings(["Palm"]), "biometry-types": .array(element: .uint32, [.uint32(1)]),
            "instructions": .dictionary(["Palm": .texts(["en": "\n \u{202E}"])]),
        ])
        #expect(PromptText.invitation(blank) == "Touch the fingerprint sensor.")
    }

    @Test("Unknown keys are ignored")
    func unknown() throws {
        #expect(try details(["new-thing": .bool(true)]) == details([:]))
    }

    @Test("R22: An absent fallback title is the default, an empty title means no button")
    func fallbackTitle() throws {
        #expect(try details([:]).fallbackTitle == nil)
        #expect(try details(["fallback-title": .string("")]).fallbackTitle == "")
    }

    @Test("R23: An absent or empty cancel title is the default, any other title is kept")
    func cancelTitle() throws {
        #expect(try details([:]).cancelTitle == nil)
        #expect(try details(["cancel-title": .string("")]).cancelTitle == nil)
        #expect(try details(["cancel-title": .string("Later")]).cancelTitle == "Later")
    }

    @Test("L6: Only under policy 2 a prompt takes a password from the start")
    func passcode() throws {
        for policy in UInt32(1)...4 {
            let takes = try details(["policy": .uint32(policy)]).takesPasscodeAtOnce
            #expect(takes == (policy == 2), "policy \(policy)")
        }
        #expect(try details(["stage": .string("application-password")]).takesPasscodeAtOnce)
    }

    @Test("L33: A program appears under its verified name, or as a program that hides")
    func programs() throws {
        let path = "/usr/bin/notes"
        let notes = CallerProgram(path: path, name: "Notes", icon: "notes", ancestors: ["sh"])
        let claim: [String: Variant] = [
            "app-name": .string("Bank"), "app-icon": .string("bank"),
            "sandbox-id": .string("org.example.Bank"),
        ]
        let proved = try program(notes, claim)
        #expect(PromptText.requestSentence(proved) == "“Notes” is trying to unlock")
        #expect(proved.appIcon == "notes" && PromptText.appTitle(proved) == "Notes")
        #expect(PromptText.origin(proved) == path)
        let facts = [
            "Process: 7", "Started by: sh", "Any program of yours can start this program.",
        ]
        #expect(PromptText.facts(proved) == facts)
        let alone = CallerProgram(path: path, name: "Notes", icon: "")
        #expect(PromptText.facts(try program(alone)) == [facts[0], facts[2]])
        let hidden = try program(nil, claim)
        let words = "A program that hides what it is"
        #expect(hidden.appIcon == "" && PromptText.appTitle(hidden) == words)
        #expect(PromptText.requestSentence(hidden) == words + " wants to unlock")
        let sentence = "Process 7 does not show which program it runs."
        #expect(PromptText.origin(hidden) == sentence && PromptText.facts(hidden) == ["Process: 7"])
    }

    @Test("L33: A sandboxed app appears under its name, or as a sandboxed app")
    func sandboxes() throws {
        let bank = try app([:])
        #expect(PromptText.requestSentence(bank) == "The sandboxed app “Bank” is trying to unlock")
        #expect(bank.appIcon == "bank" && PromptText.appTitle(bank) == "Bank")
        let origin = "Sandboxed app org.example.Bank"
        #expect(PromptText.origin(bank) == origin && PromptText.facts(bank) == ["Process: 7"])
        let nameless = try app(["app-name": .string("")])
        #expect(PromptText.requestSentence(nameless) == "A sandboxed app is trying to unlock")
        #expect(PromptText.origin(nameless) == origin)
        // Without an id, or without `sandboxed`, the claim of a process is ignored.
        for more: [String: Variant] in [["sandboxed": .bool(true)], [:]] {
            let claim: [String: Variant] = ["app-name": .string("Bank"), "pid": .uint32(7)]
            let unknown = try PromptDetails(
                least.merging(claim) { $1 }.merging(more) { $1 }
            ) { _ in CallerProgram(path: "/usr/bin/bank", name: "Bank", icon: "") }
            #expect(unknown.isSandboxed && unknown.appName == "" && unknown.program == nil)
            #expect(PromptText.requestSentence(unknown) == "A sandboxed app is trying to unlock")
            #expect(
                PromptText.origin(unknown)
                    == "Process 7 is in a sandbox that does not name its app."
            )
        }
    }

    @Test("No name ends the quotation around it")
    func hostileName() throws {
        let shown = "“a' is trying to 'b” is trying to unlock"
        let name = "a” is trying to “b"
        let told = try app(["app-name": .string(name)])
        #expect(PromptText.requestSentence(told) == "The sandboxed app " + shown)
        let found = try program(CallerProgram(path: "/tmp/x", name: name, icon: ""))
        #expect(PromptText.requestSentence(found) == shown)
    }

    @Test("The app's claim to act for another app is shown as a claim")
    func requester() throws {
        let claim: [String: Variant] = ["requester": .string("a” b\u{202E}\n")]
        let plain = try app(claim)
        #expect(
            PromptText.requestSentence(plain)
                == "The sandboxed app “Bank”, on behalf of “a' b ”, is trying to unlock"
        )
        #expect(PromptText.claimedRequester(plain) == "“a' b ” is the app's own claim.")
        #expect(PromptText.claimedRequester(try app([:])) == nil)
        let known = try app(claim.merging(["requester-pid": .uint32(8)]) { $1 })
        #expect(PromptText.claimedRequester(known) == "“a' b ” (process 8) is the app's own claim.")
        #expect(throws: DBusError.self) { try details(["requester-pid": .string("7")]) }
        #expect(throws: DBusError.self) { try details(["requester": .uint32(7)]) }
    }
}

@Suite struct PromptProgressTests {
    @Test("Every event kind of the contract is known, others are not")
    func kinds() {
        let detail: [String: Variant] = [
            "sensor": .string("Face"), "biometry-type": .uint32(2), "hint": .string("center"),
            "attempts-left": .uint32(2), "cause": .string("remote"),
            "text": .string("“go”"), "by": .string("zoom"),
        ]
        let decode = { PromptProgress(kind: $0, detail: detail) }
        #expect(decode("prompt-shown") == .promptShown)
        #expect(decode("sensor-ready") == .sensorReady(sensor: "Face", biometryType: 2))
        #expect(
            decode("sensor-busy")
                == .sensorBusy(sensor: "Face", biometryType: 2, by: "zoom")
        )
        #expect(
            decode("sensor-failed")
                == .sensorFailed(sensor: "Face", biometryType: 2, cause: "remote")
        )
        #expect(decode("hint") == .hint("center"))
        #expect(decode("no-match") == .noMatch(attemptsLeft: 2))
        #expect(decode("fallback-available") == .fallbackAvailable)
        #expect(decode("confirmation-required") == .confirmationRequired)
        #expect(
            decode("passcode-required") == .passcodeRequired(cause: "remote", text: "'go'")
        )
        #expect(decode("passcode-rejected") == .passcodeRejected(attemptsLeft: 2))
        for (delay, seconds) in [(1, 1), (1000, 1), (1001, 2), (UInt64.max, 86_400)] {
            let detail: [String: Variant] = ["attempts-left": .uint32(0), "delay": .uint64(delay)]
            #expect(
                PromptProgress(kind: "passcode-rejected", detail: detail)
                    == .passcodeDelayed(seconds: seconds)
            )
        }
        #expect(decode("success") == .success)
        #expect(decode("granted") == nil)
    }

    @Test("Every hint of the contract has a sentence; an unknown hint is shown unchanged")
    func hints() throws {
        let project = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
        let interface = try TemporaryFolder.read("\(project)/dbus/org.localauth.Sensor1.xml")
        let list = try #require(
            String(decoding: interface, as: UTF8.self)
                .firstMatch(of: /`hint` \(`hint` s: ([^)]*)\)/)
        )
        let hints = list.output.1.matches(of: /`([a-z-]+)`/).map { String($0.output.1) }
        #expect(hints.count == 16)
        for hint in hints { #expect(PromptText.advice(hint) != hint, "\(hint)") }
        #expect(PromptText.advice("wiggle") == "wiggle")
    }

    @Test("L34: Every cause for a password has its sentence, and no other text is shown")
    func causes() {
        let sentences = [
            "": "Enter your password.",
            "fallback": "Enter your password.",
            "attempts": "Too many attempts failed: enter your password.",
            "lockout": "Too many attempts failed: enter your password.",
            "sensor-failed": "No sensor works: enter your password.",
            "verifier-failed": "The password could not be checked. Enter it again.",
            "delay-over": "You can enter your password again.",
            "boot": "After a restart or a logout, your password is needed once.",
            "hours": "The last unlock was long ago: enter your password.",
            "hours-with-biometry": "You last entered your password long ago: enter it again.",
            "remote": "Your administrator asked for the password.",
            "program": "A program of yours asked for the password.",
            "damaged": "Stored data was damaged: enter your password.",
            "it is Monday": "Enter your password.",
        ]
        for (cause, sentence) in sentences {
            #expect(PromptText.sentence(.passcodeRequired(cause: cause)) == sentence)
            guard !["remote", "verifier-failed"].contains(cause) else { continue }
            let said = PromptProgress.passcodeRequired(cause: cause, text: "go")
            #expect(PromptText.sentence(said) == sentence)
        }
        #expect(
            PromptText.sentence(.passcodeRequired(cause: "remote", text: "Back at 9"))
                == "Your administrator asked for the password: “Back at 9”."
        )
    }

    @Test("The message about a failed sensor names that sensor")
    func failures() {
        let sentences = [
            "denied": "The camera may not be used.",
            "missing": "The camera was disconnected.",
            "failed": "The camera does not work.",
        ]
        for (cause, sentence) in sentences {
            let failed = PromptProgress.sensorFailed(
                sensor: "Face",
                biometryType: 2,
                cause: cause
            )
            #expect(PromptText.sentence(failed) == sentence)
        }
    }

    @Test("An event without its detail, or with a wrong type, is ignored")
    func malformed() {
        #expect(PromptProgress(kind: "no-match", detail: [:]) == nil)
        #expect(PromptProgress(kind: "no-match", detail: ["attempts-left": .int32(1)]) == nil)
        #expect(PromptProgress(kind: "hint", detail: ["hint": .bool(true)]) == nil)
    }
}
