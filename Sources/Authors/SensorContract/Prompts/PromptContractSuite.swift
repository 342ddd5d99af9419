import BusBench
import DBus
import Glibc

/// All requirements of the contract for a prompt, as checks of any prompt's process.
package enum PromptContractSuite {
    /// All checks; each check runs with a new bus, terminal and process.
    package static let checks: [PromptCheck] =
        passcodeChecks + offerChecks + cancelChecks + passwordChecks + courseChecks + nameChecks
        + hostileChecks + lifeChecks
}

/// Lines that several checks verify.
extension ContractLine {
    static let sealed = service(
        "SubmitPasscode",
        "`sealed` is HPKE for the `passcode-key` of Begin"
    )
    static let attempt = service("SubmitPasscode", "Each accepted call is one attempt.")
    static let pressed = service(
        "SubmitCancel",
        "Reports that the person pressed the cancel button of a prompt."
    )
    static let offered = asking("A fallback and a confirmation count only while they are on offer.")
    static let ownPassword = service(
        "SubmitPassword",
        "`password` is sealed to `Keychain1.SealingKey`, with the agent's unique bus name as aad"
    )
    static let stages = prompt(
        "Update",
        "from this moment the prompt takes SubmitPassword only"
    )
    static let refused = asking("If the service refuses a password, the person can type it again.")
    static let names = asking("The prompt never shows the name that a process gives itself")
    static let over = asking("After End the prompt submits neither a password nor a choice.")
    static let queue = asking("A second prompt may begin before the first has ended")
    static let plain = asking("A prompt shows each text as plain text")
    static let goesOn = asking("answers a malformed call with an error, and goes on")
    static let ownerOnly = asking(
        "listens to the owner of `org.localauth.Authentication1` alone"
    )
    static let returns = asking("registers with each service that comes")
    static let endsAtTerm = asking("ends with status 0 within a second of SIGTERM")
}

/// The secret that all checks type.
let secret = "correct horse"

extension PromptContractSuite {
    /// Checks of the login password's way to the verifier.
    static let passcodeChecks = [
        PromptCheck("A password is sealed to the verifier, for its prompt", .sealed) { bench in
            let handle = try await bench.begin()
            try await bench.type(secret, in: handle)
            try await bench.finish(handle)
        },
        PromptCheck("A password is sent as it was typed, in UTF-8", .sealed) { bench in
            let handle = try await bench.begin()
            try await bench.type("pässwörd 密码 '\"$;%s", in: handle)
            try await bench.finish(handle)
        },
        PromptCheck(
            "No password crosses the bus unsealed",
            .asking("No password crosses the bus unsealed.")
        ) { bench in
            let listener = try ChildProcess(
                ["/usr/bin/dbus-monitor", "--binary", "--address", bench.bus.address]
            )
            try await eventually("the monitor to listen") { !listener.outputBytes.isEmpty }
            let handle = try await bench.begin()
            try await bench.type(secret, in: handle)
            try await bench.askPassword(handle)
            try await bench.typePassword(secret, in: handle)
            try await bench.finish(handle)
            try await eventually("the monitor to have seen the end") {
                listener.output.contains("success")
            }
            try expect(!listener.output.contains(secret), "no password on the bus")
            await listener.end()
        },
        PromptCheck(
            "Typed letters are not shown",
            .asking("Typed letters are shown nowhere")
        ) { bench in
            let handle = try await bench.begin()
            try await bench.type(secret, in: handle)
            try await bench.finish(handle)
            let shown = try await bench.shown()
            try expect(!shown.contains(secret), "no password on the screen, got \(shown)")
        },
        PromptCheck(
            "After a wrong password the prompt asks again",
            .attempt
        ) { bench in
            let handle = try await bench.begin()
            try await bench.type("wrong", in: handle)
            try await bench.update(handle, "passcode-rejected", ["attempts-left": .uint32(2)])
            try await bench.type(secret, in: handle)
            try await bench.finish(handle)
        },
        PromptCheck(
            "An empty password is not sent",
            .service("SubmitPasscode", "An agent does not send an empty password.")
        ) { bench in
            let handle = try await bench.begin()
            try await bench.actInVain(.type(""))
            try await bench.type(secret, in: handle)
        },
        PromptCheck("A password that the service refuses can be typed again", .refused) { bench in
            let handle = try await bench.begin()
            bench.service.submitRefusal = DBusError(.invalidArgs, "Not now.")
            try await bench.type("refused", in: handle)
            bench.service.submitRefusal = nil
            await bench.settle()
            try await bench.type(secret, in: handle)
        },
        PromptCheck(
            "A new key of the verifier replaces the old key",
            .prompt("Update", "`passcode-required` also has `passcode-key` (ay) if the key changed")
        ) { bench in
            let handle = try await bench.begin()
            try await bench.type("before", in: handle)
            bench.service.renewPasscodeKey()
            let detail: [String: Variant] = [
                "cause": .string("verifier-failed"),
                "passcode-key": .bytes(bench.service.passcodeKey),
            ]
            try await bench.update(handle, "passcode-required", detail)
            try await bench.type(secret, in: handle)
        },
        PromptCheck(
            "While sensors look, policy 2 takes a password from the first moment",
            .asking("Under policy 2 a password is taken from the first moment")
        ) { bench in
            let handle = try await bench.beginLooking(policy: 2)
            try await bench.type(secret, in: handle)
        },
        PromptCheck(
            "Under policy 1 the prompt takes a password only after the service asks for it",
            .asking("under the others when `passcode-required` asks for it.")
        ) { bench in
            let handle = try await bench.beginLooking()
            try await bench.actInVain(.type("early"))
            try await bench.actInVain(.begin("early"))
            try await bench.update(handle, "passcode-required", ["cause": .string("hours")])
            try await bench.type(secret, in: handle)
        },
        PromptCheck(
            "Letters typed before a prompt are no part of a password",
            .asking("A password has only the letters typed in its prompt.")
        ) { bench in
            _ = try bench.requireTerminal()
            try await bench.typeAtRest("early")
            let handle = try await bench.begin()
            try await bench.type(secret, in: handle)
            try await bench.act(.begin("half"))
            try await bench.finish(handle)
            let next = try await bench.begin()
            try await bench.type(secret, in: next)
        },
        PromptCheck(
            "A terminal is given back as it was",
            .asking("gives a terminal back as it was")
        ) { bench in
            let terminal = try bench.requireTerminal()
            for outcome in ["success", "canceled"] {
                let handle = try await bench.begin()
                try expect(!terminal.isPlain, "a terminal that shows no key")
                try await bench.finish(handle, outcome)
                try await eventually("a terminal as it was") { terminal.isPlain }
            }
            _ = try await bench.begin()
            bench.program.signal(SIGTERM)
            _ = try await bench.program.exitStatus()
            try expect(terminal.isPlain, "a terminal as it was, after SIGTERM")
        },
    ]

    /// Checks of the choices that a prompt offers.
    static let offerChecks = [
        PromptCheck("The prompt sends a fallback only while it is on offer", .offered) { bench in
            let handle = try await bench.beginLooking(["fallback-title": .string("Use a code")])
            try await bench.actInVain(.fallback)
            try await bench.update(handle, "fallback-available")
            try await bench.act(.fallback, until: .fallback(handle))
            try await bench.finish(handle, "fallback")
        },
        PromptCheck(
            "With an empty title there is no fallback",
            .prompt("Begin", "empty: no button")
        ) { bench in
            let handle = try await bench.beginLooking(["fallback-title": .string("")])
            try await bench.update(handle, "fallback-available")
            try await bench.actInVain(.fallback)
            try await bench.act(.cancel, until: .cancel(handle))
        },
        PromptCheck("The fallback's title is shown", .prompt("Begin", "fallback-title")) { bench in
            let handle = try await bench.beginLooking(["fallback-title": .string("Use a code")])
            try await bench.update(handle, "fallback-available")
            let shown = try await bench.shown()
            try expect(shown.contains("Use a code"), "the title, got \(shown)")
        },
        PromptCheck(
            "A match is confirmed only after the service asks for it",
            .service("SubmitConfirm", "Reports that the person confirmed a match")
        ) { bench in
            let handle = try await bench.beginLooking(["require-confirmation": .bool(true)])
            try await bench.actInVain(.confirm)
            try await bench.update(handle, "confirmation-required")
            try await bench.act(.confirm, until: .confirm(handle))
            try await bench.finish(handle)
        },
        PromptCheck("A confirmation is sent once", .offered) { bench in
            let handle = try await bench.beginLooking(["require-confirmation": .bool(true)])
            try await bench.update(handle, "confirmation-required")
            try await bench.act(.confirm, until: .confirm(handle))
            try await bench.actInVain(.confirm)
        },
        PromptCheck(
            "Where a match is to be confirmed, Enter is no fallback",
            .service("SubmitConfirm", "Reports that the person confirmed a match")
        ) { bench in
            let handle = try await bench.beginLooking(["fallback-title": .string("Use a code")])
            try await bench.update(handle, "fallback-available")
            try await bench.update(handle, "confirmation-required")
            try await bench.act(.confirm, until: .confirm(handle))
            let acts = bench.service.acts.seen
            try expect(!acts.contains(.fallback(handle)), "no fallback, got \(acts)")
        },
    ]

    static let cancelChecks: [PromptCheck] = [
        canceled("at once") { _, _ in },
        canceled("while a sensor looks", isLooking: true) { bench, handle in
            let detail: [String: Variant] = [
                "sensor": .string("Face"), "biometry-type": .uint32(2),
            ]
            try await bench.update(handle, "sensor-ready", detail)
        },
        canceled("after a miss", isLooking: true) { bench, handle in
            try await bench.update(handle, "no-match", ["attempts-left": .uint32(1)])
        },
        canceled("in the middle of a password") { bench, _ in
            try await bench.act(.begin("half"))
        },
        canceled("while a password is checked") { bench, handle in
            try await bench.type(secret, in: handle)
        },
        canceled("after a wrong password") { bench, handle in
            try await bench.type("wrong", in: handle)
            try await bench.update(handle, "passcode-rejected", ["attempts-left": .uint32(1)])
        },
        canceled("where a match is to be confirmed", isLooking: true) { bench, handle in
            try await bench.update(handle, "confirmation-required")
        },
        canceled("where a fallback is on offer", isLooking: true) { bench, handle in
            try await bench.update(handle, "fallback-available")
        },
        canceled("when the password is asked for", isLooking: true) { bench, handle in
            try await bench.update(handle, "passcode-required", ["cause": .string("lockout")])
        },
        canceled("when an item's password is asked for") { bench, handle in
            try await bench.askPassword(handle)
        },
    ]

    /// Checks that Cancel is sent without a password, and that the next prompt works.
    ///
    /// A prompt without an End may send Cancel a second time.
    private static func canceled(
        _ when: String,
        isLooking: Bool = false,
        _ body: @escaping @BusActor @Sendable (PromptBench, String) async throws -> Void
    ) -> PromptCheck {
        PromptCheck("Cancel \(when) is sent alone", .pressed) { bench in
            let handle =
                isLooking ? try await bench.beginLooking() : try await bench.begin()
            try await body(bench, handle)
            let before = bench.service.acts.seen.count
            try await bench.act(.cancel, until: .cancel(handle))
            await bench.settle()
            let acts = Array(bench.service.acts.seen.dropFirst(before))
            try expect(Set(acts) == [.cancel(handle)], "a cancel alone, got \(acts)")
            try await bench.finish(handle, "canceled")
            let next = try await bench.begin()
            try await bench.type(secret, in: next)
        }
    }

    static let passwordChecks = [
        PromptCheck("An item's password is sealed to the service, for its prompt", .ownPassword) {
            bench in
            let handle = try await bench.beginPassword()
            try await bench.typePassword(secret, in: handle)
            let acts = bench.service.acts.seen
            let wanted: [PromptAct] = [.registered, .password(handle, Array(secret.utf8))]
            try expect(acts == wanted, "an item's password alone, got \(acts)")
            try await bench.finish(handle)
        },
        PromptCheck("An item's password is never submitted as a login password", .stages) { bench in
            let handle = try await bench.begin()
            try await bench.type("login", in: handle)
            try await bench.askPassword(handle)
            try await bench.typePassword(secret, in: handle)
            let acts = bench.service.acts.seen.dropFirst()
            try expect(acts.count == 2, "a single password of each kind, got \(Array(acts))")
            try await bench.finish(handle)
        },
        PromptCheck("A half-typed password is no part of an item's password", .stages) {
            bench in
            let handle = try await bench.begin()
            try await bench.act(.begin("half"))
            try await bench.askPassword(handle)
            try await bench.typePassword(secret, in: handle)
        },
        PromptCheck("An item's password that the service refuses can be typed again", .refused) {
            bench in
            let handle = try await bench.beginPassword()
            bench.service.submitRefusal = DBusError(.invalidArgs, "Not now.")
            try await bench.typePassword("refused", in: handle)
            bench.service.submitRefusal = nil
            await bench.settle()
            try await bench.typePassword(secret, in: handle)
        },
        PromptCheck(
            "An item's password is sealed to the asking service, also after its restart",
            .asking("the service has a new key at each start")
        ) { bench in
            // To catch a prompt that keeps the first key for ever, let it read that key.
            let first = try await bench.beginPassword()
            try await bench.typePassword(secret, in: first)
            try await bench.finish(first)
            bench.leave()
            try await bench.replaceService()
            try await bench.meet()
            let handle = try await bench.beginPassword()
            try await bench.typePassword(secret, in: handle)
        },
    ]
}
