import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Tests passkeys of the real programs with python-fido2 as the browser.
///
/// The script ctap.py is also the broker and the device.
@Suite(
    .enabled(
        if: access("/usr/lib/python3/dist-packages/fido2/ctap2", R_OK) == 0,
        "python3-fido2 is not here"
    ),
    .timeLimit(.minutes(10))
)
struct CeremonyTests {
    private static let script =
        #filePath.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/ctap.py"

    /// The user's session, as logind reports it.
    private enum Place {
        case lockedScreen
        case closedLid
        /// The agent is at the machine, and the other programs are not.
        case remoteSession

        @BusActor func describe(to logind: StandInLogind) {
            let session = StandInSession("c1", at: logind)
            (logind.current, logind.others, logind.display) = (session, session, session)
            if self == .remoteSession {
                logind.others = StandInSession("c2", at: logind, isRemote: true)
            }
            logind.isLidClosed = self == .closedLid
            session.lock(self == .lockedScreen)
        }
    }

    /// Runs a scenario of the script, with the sensor's outcomes for each prompt.
    ///
    /// Returns the reasons of all prompts. `prepare` runs before the scenario. Without `place`,
    /// there is no logind.
    private static func run(
        _ scenario: String,
        outcomes: [String] = ["match"],
        at place: Place? = nil,
        prepare: @BusActor @Sendable (Desk) async throws -> Void = { _ in }
    ) async throws -> [String] {
        var reasons: [String] = []
        try await PrivateBus.run { bus in
            let logind = try StandInLogind(bus)
            if let place {
                try await bus.letForgedRepliesThrough()
                logind.replies = try RawClient(bus.address)
                place.describe(to: logind)
                try logind.start()
            }
            let desk = try Desk(on: bus)
            let daemon = try await desk.startDaemon()
            if place == nil {
                try await daemon.startSensor()
                try await desk.waitUntilUsable()
            } else {
                try bus.start(["localauth-sensor-simulated"])
                try await bus.waitForOwner(of: TestDaemon.sensorName)
                _ = try await desk.sensor.addTemplate(uid: getuid(), label: "finger")
            }
            try await prepare(desk)
            let program = ChildProcess.folder + "/localauth-passkey"
            let browser = try ChildProcess(
                ["/usr/bin/python3", script, scenario, program, bus.address],
                hasStream: true
            )
            try await follow(browser, desk, outcomes)
            reasons = desk.agent.prompts.seen.compactMap { $0.details["reason"]?.asString }
        }
        return reasons
    }

    /// Prepares the sensor for each prompt that the script announces; blocks its thread.
    private nonisolated static func follow(
        _ browser: ChildProcess,
        _ desk: Desk,
        _ outcomes: [String]
    ) async throws {
        while let line = try browser.line() {
            guard line.hasPrefix("shown "), let count = Int(line.dropFirst(6)) else {
                throw TestFailure("the script says: \(line)")
            }
            for outcome in Array(repeating: outcomes, count: count).joined() {
                try await desk.queue(outcome)
            }
            browser.tell("go")
        }
        let status = try await browser.exitStatus()
        try expect(status == 0, browser.errors)
    }

    @Test("A prompt names site, account and act, once a ceremony; a silent request shows none")
    func ceremonies() async throws {
        let new = "create a passkey for “example.com” as "
        let reasons = try await Self.run("ceremonies")
        #expect(
            reasons == [
                new + "“ann”", "sign in to “example.com” as “ann”", new + "“bob”", new + "“bob”",
                "sign in to “example.com”", new + "“ann”", "sign in to “example.com” as “ann”",
                "sign in to “example.com” as “bob”", "use a passkey of this computer",
                "use a passkey of this computer",
            ]
        )
    }

    @Test("A reset names the loss, and is taken in the first ten seconds of the device alone")
    func resets() async throws {
        #expect(
            try await Self.run("resets").last
                == "delete all 2 passkeys, which sign you in to their sites"
        )
    }

    @Test("Exportable passkeys are copied after a prompt, come back with their secrets, and work")
    func exports() async throws {
        #expect(
            try await Self.run("exports")
                .contains("copy the private key of 1 passkey into a file")
        )
    }

    @Test("A passkey has two symmetric secrets, for verified answers and for others")
    func secrets() async throws {
        #expect(try await Self.run("secrets").count == 5)
    }

    @Test("Three canceled prompts stop prompts for a minute")
    func cancels() async throws {
        let reasons = try await Self.run("cancels", outcomes: []) { $0.agent.will(.cancel) }
        #expect(reasons.count == 3)
    }

    @Test("A browser's cancel takes the prompt down; meanwhile other programs are told to wait")
    func abandoned() async throws {
        #expect(try await Self.run("abandoned", outcomes: []).count == 1)
    }

    @Test("Without a prompt, a ceremony is refused within a second")
    func refused() async throws {
        let reasons = try await Self.run("refused") { desk in
            desk.agent.connection.close()
        }
        #expect(reasons.isEmpty)
    }

    @Test("Behind a locked screen, a ceremony is refused within a second")
    func screenLocked() async throws {
        #expect(try await Self.run("refused", at: .lockedScreen).isEmpty)
    }

    @Test("With a closed lid, the prompt takes the password alone")
    func lid() async throws {
        let reasons = try await Self.run("verified", outcomes: [], at: .closedLid) { desk in
            try await eventually("the sensor to be behind the lid") {
                try await desk.daemon?.device("Simulated").unavailability() == "lid-closed"
            }
            try await desk.queue("match")
            desk.agent.will(.type(ScriptedVerifier.passcode))
        }
        #expect(reasons.count == 1)
    }

    @Test("In a remote session, a ceremony is refused within a second")
    func remote() async throws {
        #expect(try await Self.run("refused", at: .remoteSession).isEmpty)
    }

    @Test("While passwords are delayed, a ceremony is refused with an own code")
    func blocked() async throws {
        let reasons = try await Self.run("blocked", outcomes: []) { desk in
            try await desk.daemon?.reload("[Passcode]\nAttempts=1\n")
            desk.agent.will(.type("wrong"))
            try await desk.sensor.setPresent(present: false)
        }
        #expect((5...6).contains(reasons.count))
    }

    @Test("An unanswered prompt ends with an own code, and programs wait until then")
    func unanswered() async throws {
        #expect(try await Self.run("unanswered", outcomes: []).count == 1)
    }

    @Test("Used-up attempts fail a ceremony with a code of their own")
    func failed() async throws {
        let reasons = try await Self.run("failed", outcomes: []) { desk in
            try await desk.daemon?.reload("[Passcode]\nAttempts=1\n")
            desk.agent.will(.type("wrong"))
            try await desk.sensor.setPresent(present: false)
        }
        #expect(reasons.count == 1)
    }

    @Test("A sensor below “strong” verifies nobody: the prompt takes the password alone")
    func convenience() async throws {
        let reasons = try await Self.run("verified", outcomes: []) { desk in
            try await desk.sensor.setStrength(strength: "convenience")
            try await desk.queue("match")
            desk.agent.will(.type(ScriptedVerifier.passcode))
        }
        #expect(reasons.count == 1)
    }

    @Test("A site without a passkey shows no prompt")
    func unknown() async throws {
        #expect(try await Self.run("unknown").isEmpty)
    }

    @Test("Malformed requests get CTAP's codes, without a prompt")
    func hostile() async throws {
        #expect(try await Self.run("hostile").isEmpty)
    }
}
