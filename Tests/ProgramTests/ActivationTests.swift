import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Programs that only the bus starts, when the daemon needs them.
@Suite("Activation", .timeLimit(.minutes(10)))
struct ActivationTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    @Test("L26: The first call starts the verifier, and so does the next call after its end")
    @BusActor
    func verifier() async throws {
        try await PrivateBus.run { bus in
            try await bus.offer(
                ScriptedVerifier.name,
                ["localauth-passcode", "--passcode-set", "always"]
            )
            let daemon = try await TestDaemon(on: bus)
            #expect(try await bus.process(of: ScriptedVerifier.name) == nil)
            #expect(try await daemon.manager.canEvaluate(policy: 2).code == 0)
            // First an orderly end, then repeated kills.
            for signal in [SIGTERM] + Array(repeating: SIGKILL, count: 6) {
                let pid = try #require(try await bus.process(of: ScriptedVerifier.name))
                kill(pid, signal)
                try await bus.waitForOwner(of: ScriptedVerifier.name, false)
                #expect(try await daemon.manager.canEvaluate(policy: 2).code == 0)
                #expect(try await bus.process(of: ScriptedVerifier.name) != pid)
            }
        }
    }

    @Test("A verifier that exited when idle is started again by the next call")
    @BusActor
    func idle() async throws {
        try await PrivateBus.run { bus in
            let words = ["localauth-passcode", "--passcode-set", "always", "--idle-timeout", "5"]
            try await bus.offer(ScriptedVerifier.name, words)
            let daemon = try await TestDaemon(on: bus)
            // Record owners as they appear: on a busy machine the verifier may be gone before a
            // look-up.
            let owners = EventRecorder<String>()
            let watch = daemon.client.watchName(ScriptedVerifier.name) { owner in
                if let owner { owners.record(owner) }
            }
            defer { watch.cancel() }
            for _ in 0..<2 {
                let before = Set(owners.seen)
                #expect(try await daemon.manager.canEvaluate(policy: 2).code == 0)
                _ = try await owners.first("another process") { !before.contains($0) }
                try await bus.waitForOwner(of: ScriptedVerifier.name, false)
                #expect(try await daemon.client.nameOwner(ScriptedVerifier.name) == nil)
            }
        }
    }

    @Test("L26: Without a verifier, the password counts as unknown, not as missing")
    @BusActor
    func noVerifier() async throws {
        try await PrivateBus.run { bus in
            let daemon = try await TestDaemon(on: bus)
            let passcode = { () async throws -> [String: Variant] in
                let checks = try await daemon.manager.diagnose()
                return try #require(checks.first { $0["name"] == .string("passcode") })
            }
            let unknown =
                "No password can be given now: the program that verifies it can't be asked."
            #expect(try await daemon.manager.canEvaluate(policy: 2).message == unknown)
            #expect(try await passcode()["remedy"] == .string("Start localauth-passcode."))
            try await bus.offer(ScriptedVerifier.name, ["/bin/false"])
            let answer = try await daemon.manager.canEvaluate(policy: 2)
            #expect(answer.code == -5 && answer.message == unknown)
            let check = try await passcode()
            let begin = "The password verifier can't be started: "
            #expect(check["message"]?.asString?.hasPrefix(begin) == true)
            #expect(check["remedy"]?.asString?.contains("journalctl") == true)
            await #expect(throws: DBusError(.passcodeNotSet, unknown)) {
                _ = try await daemon.manager.evaluate(policy: 2, reason: "test", options: [:])
            }
            // Setting a new password would not help.
            let shown = try await control("can-evaluate", "--policy", "2", "--bus", bus.address)
            #expect(shown.errors.contains("localauthctl doctor"))
            #expect(!shown.errors.contains("passwd"))
            // Once installed, the verifier is found without further action.
            try await bus.offer(
                ScriptedVerifier.name,
                ["localauth-passcode", "--passcode-set", "always"]
            )
            #expect(try await daemon.manager.canEvaluate(policy: 2).code == 0)
        }
    }

    /// Offers a sensor that the bus starts, and that waits until a line is written to its gate.
    @BusActor
    private static func offerSlowSensor(on bus: PrivateBus, then command: String) async throws {
        try #require(mkfifo(bus.folder + "/gate", 0o600) == 0)
        let script = "#!/bin/sh\nread line < \(bus.folder)/gate\nexec \(command)\n"
        try TemporaryFolder.write(bus.folder + "/slow", script.utf8, mode: 0o700)
        try await bus.offer("org.localauth.Sensor1.Slow", [bus.folder + "/slow"])
    }

    /// Lets the waiting sensor continue, once it waits.
    @BusActor
    private static func openGate(
        on bus: PrivateBus,
        before: @BusActor () throws -> Void = {}
    ) async throws {
        var gate: Int32 = -1
        try await eventually("the sensor to be started", within: .seconds(60)) {
            // The open fails until the sensor reads.
            gate = open(bus.folder + "/gate", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            return gate >= 0
        }
        defer { close(gate) }
        try before()
        try #require(write(gate, "\n", 1) == 1)
    }

    /// Candidates for the first call that a daemon receives.
    enum FirstCall: CaseIterable {
        case biometryTypes, canEvaluate, evaluate, listTemplates

        @BusActor
        fileprivate func answer(_ client: Connection) async throws -> String {
            let (name, root) = (TestDaemon.name, TestDaemon.root)
            let manager = Authentication1Proxy(client, destination: name, path: root)
            switch self {
            case .biometryTypes: return "\(try await manager.biometryTypes())"
            case .canEvaluate: return "\(try await manager.canEvaluate(policy: 1).code)"
            case .evaluate:
                let options: [String: Variant] = ["interaction-not-allowed": .bool(true)]
                do throws(DBusError) {
                    _ = try await manager.evaluate(policy: 1, reason: "test", options: options)
                    return "evaluated"
                } catch {
                    return error.name.rawValue
                }
            case .listTemplates:
                let path = TestDaemon.devicePath("Slow")
                let device = Device1Proxy(client, destination: name, path: path)
                return try await device.listTemplates(options: [:]).map(\.id).joined()
            }
        }

        fileprivate var expected: String {
            switch self {
            case .biometryTypes: "[1]"
            case .canEvaluate: "0"
            case .evaluate: "org.localauth.Error.NotInteractive"
            case .listTemplates: "one"
            }
        }
    }

    @Test(
        "L26: The first call waits for the sensors that are being started",
        arguments: FirstCall.allCases
    )
    @BusActor
    func slowSensor(call: FirstCall) async throws {
        try await PrivateBus.run { bus in
            let verifier = try ScriptedVerifier(on: bus)
            try await Self.offerSlowSensor(on: bus, then: "true")
            try TemporaryFolder.write(bus.folder + "/localauth.conf", "".utf8)
            let options = ["--state-directory", bus.folder + "/state"]
            try await bus.offer(
                TestDaemon.name,
                ["localauthd", "--config", bus.folder + "/localauth.conf"] + options
            )
            let client = try bus.connect()
            let answers = EventRecorder<String>()
            onLoop {
                do {
                    answers.record(try await call.answer(client))
                } catch {
                    answers.record("\(error)")
                }
            }
            var sensor: ScriptedSensor?
            try await Self.openGate(on: bus) {
                #expect(answers.seen.isEmpty)
                sensor = try ScriptedSensor.slow(on: bus.connect())
            }
            let answer = try await answers.first("an answer", within: .seconds(60)) { _ in true }
            #expect(answer == call.expected)
            _ = (verifier, sensor)
        }
    }

    @Test("L26: A sensor that takes too long is still starting, not absent and not crashed")
    @BusActor
    func endlessSensor() async throws {
        try await PrivateBus.run { bus in
            let sensor = ChildProcess.folder + "/localauth-sensor-simulated"
            try await Self.offerSlowSensor(on: bus, then: "\(sensor) --name Slow \"$@\"")
            let daemon = try await TestDaemon(on: bus)
            #expect(try await daemon.device("Slow").unavailability() == "starting")
            let answer = try await daemon.manager.canEvaluate(policy: 1)
            #expect(answer.code == -6 && answer.message.contains("still starting"))
            let checks = try await daemon.manager.diagnose()
            let check = checks.first { $0["name"] == .string("sensor Slow") }
            #expect(check?["message"] == .string("Slow is still starting."))
            #expect(check?["state"] == .string("warning"))
            try await Self.openGate(on: bus)
            try await eventually("the sensor", within: .seconds(60)) {
                try await daemon.manager.canEvaluate(policy: 1).code == -7
            }
        }
    }
}
