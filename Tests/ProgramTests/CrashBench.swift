import DBus
import Foundation
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// The real programs with two sensors and real passcodes, each of which can be killed; the test
/// shows the prompts.
@BusActor final class CrashBench: Agent1Service {
    /// What can be killed.
    enum Victim: CaseIterable {
        case daemon
        case verifier
        case sensor
        case agent
        case client
    }

    /// What takes the passcode.
    enum Checks {
        /// The real verifier, of which each takes three seconds.
        case real
        /// One of the test's own, which answers at once.
        case scripted

        var passcode: String { self == .real ? PAMService.passcode : ScriptedVerifier.passcode }
    }

    /// What the person at the prompt does.
    enum Mood {
        case watching
        case wrong
        case right
        /// Types one wrong passcode, and cancels when it is told so.
        case wrongOnce
        case canceling
    }

    nonisolated static let agentPath = ObjectPath(trusted: "/agent")
    nonisolated static let sensorNames = ["One", "Two"]
    /// So many non-matches lock biometry, and no prompt ends before.
    nonisolated static let lockout = 5

    let bus: PrivateBus
    /// The bus that is there instead, since the first one was killed.
    private var laterBus: ChildProcess?
    private(set) var connection: Connection
    private(set) var manager: Authentication1Proxy
    var programs: [String: ChildProcess] = [:]
    var mood = Mood.watching
    /// Messages that the prompts got.
    private(set) var messages = 0
    /// The most consecutive non-matches that a prompt was told.
    var told = 0
    /// How often each thing was seen, for the report.
    var seen: [String: Int] = [:]
    /// Wrong passcodes that were typed.
    var wrongPasscodes = 0
    /// Whether a wrong passcode was told.
    var isRejected = false
    /// Whether the last prompt asks for an app's own password.
    private(set) var isAskedForPassword = false
    /// What goes wrong in which program.
    private let faults: [String: Faults]
    /// What takes the passcode.
    private let checks: Checks
    private var scriptedVerifier: ScriptedVerifier?
    private var prompts: Set<String> = []
    private var answers: SealedAnswers

    private init(
        _ bus: PrivateBus,
        _ faults: [String: Faults],
        _ checks: Checks
    ) async throws {
        (self.bus, self.faults, self.checks) = (bus, faults, checks)
        try PAMService.install(in: bus.folder)
        let settings = "[Biometry]\nLockoutAttempts=\(Self.lockout)\nAttemptsFingerprint=10\n"
        try TemporaryFolder.write(bus.folder + "/localauth.conf", settings.utf8)
        connection = try bus.connect()
        answers = SealedAnswers(connection)
        manager = Authentication1Proxy(
            connection,
            destination: TestDaemon.name,
            path: TestDaemon.root
        )
        try await startEverything()
    }

    private func startEverything() async throws {
        for name in ["verifier", "daemon"] + Self.sensorNames { try await start(name) }
        try await showPrompts(on: connection)
    }

    /// Gives a test a bench of its own, and takes it down whatever happens.
    static func run(
        _ faults: [String: Faults] = [:],
        _ checks: Checks = .real,
        _ body: @BusActor (CrashBench) async throws -> Void
    ) async throws {
        try await PrivateBus.run { bus in
            let bench = try await CrashBench(bus, faults, checks)
            try await bench.sensorsAreThere()
            try await body(bench)
        }
    }

    // MARK: - Programs

    /// Starts one of the programs and waits until it is of use.
    func start(_ name: String) async throws {
        try expect(try await startOrEnd(name), "expected \(name): \(errors(of: name))")
    }

    /// Starts one of the programs; whether it is of use, or has ended.
    func startOrEnd(_ name: String) async throws -> Bool {
        if name == "verifier", checks == .scripted {
            scriptedVerifier = try ScriptedVerifier(on: bus)
            return true
        }
        let environment = faults[name]?.environment ?? [:]
        let program =
            switch name {
            case "verifier": try bus.runVerifier(environment: environment)
            case "daemon":
                try bus.start(
                    ["localauthd", "--state-directory", bus.folder + "/state"]
                        + ["--config", bus.folder + "/localauth.conf"],
                    environment: environment
                )
            default:
                try bus.start(
                    ["localauth-sensor-simulated", "--name", name],
                    environment: environment
                )
            }
        programs[name] = program
        var isThere = false
        try await eventually("\(name) on the bus, or its end") {
            isThere = try await connection.nameOwner(Self.busName(of: name)) != nil
            return isThere || !program.isRunning
        }
        guard isThere else { return false }
        if Self.sensorNames.contains(name) {
            _ = try await sensor(name).addTemplate(uid: getuid(), label: "finger")
        }
        return true
    }

    private func errors(of name: String) -> String { programs[name]?.errors ?? "" }

    private static func busName(of name: String) -> String {
        switch name {
        case "verifier": ScriptedVerifier.name
        case "daemon": TestDaemon.name
        default: "org.localauth.Sensor1." + name
        }
    }

    /// Ends a program without a word, and waits until the bus knows.
    ///
    /// A program whose call failed `mayBeDying` of that when the signal comes.
    func kill(_ name: String, mayBeDying: Bool = false) async throws {
        try #require(programs[name]).signal(SIGKILL)
        let status = try await ended(name)
        #expect(status == 128 + SIGKILL || mayBeDying)
    }

    /// Waits until a program has ended and the bus knows; gives its status.
    func ended(_ name: String) async throws -> Int32 {
        let status = try await #require(programs[name]).exitStatus()
        try await eventually("\(name) to leave the bus") {
            try await connection.nameOwner(Self.busName(of: name)) == nil
        }
        return status
    }

    /// Ends the bus without a word, and waits until the programs have noticed: all of them end.
    func killBus() async throws {
        Glibc.kill(laterBus?.pid ?? bus.pid, SIGKILL)
        for (name, program) in programs {
            #expect(try await program.exitStatus() == EXIT_FAILURE, "\(name)")
        }
    }

    /// Starts a bus where the killed one was, and everything on it.
    func startOnNewBus() async throws {
        let program = try bus.run(
            ["/usr/bin/dbus-daemon", "--nofork", "--nopidfile", "--print-address"]
                + ["--config-file=\(bus.folder)/bus.conf"],
            hasStream: true
        )
        try expect(try program.line() != nil, "dbus-daemon did not start: \(program.errors)")
        laterBus = program
        connection = try bus.connect()
        manager = Authentication1Proxy(
            connection,
            destination: TestDaemon.name,
            path: TestDaemon.root
        )
        try await startEverything()
    }

    func sensor(_ name: String) -> SimulatedSensor1Proxy {
        SimulatedSensor1Proxy(
            connection,
            destination: "org.localauth.Sensor1." + name,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
    }

    /// Waits until the daemon knows both sensors and what is enrolled.
    func sensorsAreThere() async throws {
        for name in Self.sensorNames {
            let device = Device1Proxy(
                connection,
                destination: TestDaemon.name,
                path: ObjectPath(unchecked: TestDaemon.root.rawValue + "/sensor/" + name)
            )
            try await eventually("\(name) to be usable") {
                (try? await device.unavailability()) == ""
            }
        }
    }

    /// One more client, which leaves when nobody holds it.
    func bystander() throws -> Connection { try Connection(.address(bus.address)) }

    /// A connection by way of a process of its own, and that process.
    func connectByProcess() async throws -> (connection: Connection, pid: pid_t) {
        let address =
            "unixexec:path=/usr/bin/systemd-stdio-bridge,argv0=bridge,"
            + "argv1=--bus-path=unix:path=\(bus.folder)/bus"
        let bridged = try Connection(.address(address))
        let peer = try await bridged.peer(named: bridged.uniqueName)
        try #require(peer.pid != getpid())
        return (bridged, peer.pid)
    }

    // MARK: - Evaluations

    /// The name of the error that an evaluation ends with; nil: it was the user.
    func evaluate(
        _ policy: UInt32,
        _ options: [String: Variant] = [:],
        on client: Connection? = nil
    ) async -> String? {
        let manager = Authentication1Proxy(
            client ?? connection,
            destination: TestDaemon.name,
            path: TestDaemon.root
        )
        do throws(DBusError) {
            _ = try await manager.evaluate(policy: policy, reason: "test", options: options)
            return nil
        } catch {
            return error.name.rawValue
        }
    }

    /// The non-matches that are left after one more; nil: biometry is locked.
    func attemptsLeftAfterOneMore() async throws -> UInt32? {
        if try await manager.canEvaluate(policy: 1).code == -8 { return nil }
        // Events are followed from a unique name only.
        let owner = try #require(try await connection.nameOwner(TestDaemon.name))
        let daemon = Authentication1Proxy(connection, destination: owner, path: TestDaemon.root)
        let call = try daemon.evaluateStream(policy: 1, reason: "test", options: [:])
        var left: UInt32?
        for await event in call.events {
            if event.kind == "sensor-ready" {
                guard event.detail["sensor"] == .string("One") else { continue }
                try await sensor("One").touch(matching: false)
            } else if event.kind == "no-match" {
                if case .uint32(let count)? = event.detail["attempts-left"] { left = count }
                try? await manager.invalidate()
            }
        }
        _ = try? await call.reply()
        try expect(left != nil, "expected a non-match to be told")
        return left
    }

    // MARK: - Prompts

    /// Shows the prompts on a connection.
    func showPrompts(on connection: Connection) async throws {
        answers = SealedAnswers(connection)
        connection.export(Self.agentPath, [Agent1Interface(self)])
        _ = try await Authentication1Proxy(
            connection,
            destination: TestDaemon.name,
            path: TestDaemon.root
        )
        .registerAgent(agent: Self.agentPath, options: [:])
    }

    func register() async throws {
        _ = try await manager.registerAgent(agent: Self.agentPath, options: [:])
    }

    /// The prompts are ours again.
    func comeBack() async throws {
        answers = SealedAnswers(connection)
        while true {
            do throws(DBusError) {
                _ = try await manager.registerAgent(agent: Self.agentPath, options: [:])
                return
            } catch {
                // The bus has not noticed yet that the other one is gone.
                guard error.name.rawValue.hasSuffix("AgentExists") else { throw error }
                await pause(.milliseconds(5))
            }
        }
    }

    func unregister() async throws {
        try await manager.unregisterAgent(agent: Self.agentPath)
    }

    func begin(
        prompt: String,
        details: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        messages += 1
        prompts.insert(prompt)
        answers.learn(prompt, details["stage"]?.asString, details)
        isAskedForPassword = false
        react(to: prompt, isPolicy2: details["policy"] == .uint32(2))
        return .now(())
    }

    func update(
        prompt: String,
        kind: String,
        detail: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        messages += 1
        answers.learn(prompt, kind, detail)
        if kind == "no-match", case .uint32(let left)? = detail["attempts-left"] {
            told = max(told, Self.lockout - Int(left))
        }
        if kind == "application-password-required" { isAskedForPassword = true }
        if kind == "passcode-rejected" {
            isRejected = true
            if mood == .wrongOnce { cancel(prompt) } else { react(to: prompt, isPolicy2: true) }
        }
        return .now(())
    }

    func end(
        prompt: String,
        outcome: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        messages += 1
        prompts.remove(prompt)
        return .now(())
    }

    private func react(to prompt: String, isPolicy2: Bool) {
        switch mood {
        case .watching: break
        // The 6th in a row would start a delay.
        case .wrong where isPolicy2 && wrongPasscodes < 4:
            wrongPasscodes += 1
            type("1357", into: prompt)
        case .wrong: break
        case .right: if isPolicy2 { type(checks.passcode, into: prompt) }
        case .wrongOnce: if isPolicy2 { type("1357", into: prompt) }
        case .canceling: cancel(prompt)
        }
    }

    /// Types once Begin or Update has been answered.
    private func type(_ passcode: String, into prompt: String) {
        onLoop { [answers] in answers.type(passcode, into: prompt) }
    }

    private func cancel(_ prompt: String) {
        Task { [manager] in try? await manager.submitCancel(prompt: prompt) }
    }

    var hasPrompt: Bool { !prompts.isEmpty }

    /// Gives every prompt a passcode.
    func typeEverywhere(_ passcode: String) {
        for prompt in prompts { type(passcode, into: prompt) }
    }

    /// Cancels what is up and what comes up.
    func cancelAll() {
        mood = .canceling
        for prompt in prompts { cancel(prompt) }
    }

    /// The prompts of a daemon that was killed are nobody's.
    func forgetPrompts() {
        prompts = []
        isAskedForPassword = false
    }
}
