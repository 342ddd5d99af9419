import DBus
import Foundation
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Runs the real programs with two sensors and real passwords.
///
/// Each program can be killed; the test shows the prompts.
@BusActor final class CrashBench: Agent1Service {
    enum Victim: CaseIterable {
        case daemon
        case verifier
        case sensor
        case agent
        case client
    }

    enum Checks {
        /// The real verifier, whose checks take three seconds each.
        case real
        /// The test's own verifier, which answers at once.
        case scripted

        var passcode: String { self == .real ? PAMService.passcode : ScriptedVerifier.passcode }
    }

    enum Mood {
        case watching
        case wrong
        case right
        /// Types a wrong password, and cancels after the refusal.
        case wrongOnce
        case canceling
    }

    nonisolated static let agentPath = ObjectPath(trusted: "/agent")
    nonisolated static let sensorNames = ["One", "Two"]
    /// The number of misses that lock biometry; no prompt ends earlier.
    nonisolated static let lockout = 5

    let bus: PrivateBus
    /// The bus that replaced the first bus after a kill.
    private var laterBus: ChildProcess?
    private(set) var connection: Connection
    private(set) var manager: Authentication1Proxy
    var programs: [String: ChildProcess] = [:]
    var mood = Mood.watching
    private(set) var messages = 0
    /// The most consecutive misses reported to a prompt.
    var told = 0
    /// Counts per kind of observation, for the report.
    var seen: [String: Int] = [:]
    var wrongPasscodes = 0
    var isRejected = false
    private(set) var isAskedForPassword = false
    private let faults: [String: Faults]
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

    /// Runs a test on a new bench, and tears it down in every case.
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

    func start(_ name: String) async throws {
        try expect(try await startOrEnd(name), "expected \(name): \(errors(of: name))")
    }

    /// Starts a program; returns true once it is usable, false if it exited.
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

    /// Kills a program with SIGKILL, and waits until the bus has noticed.
    ///
    /// `mayBeDying`: an injected failure may end the program before the signal does.
    func kill(_ name: String, mayBeDying: Bool = false) async throws {
        try #require(programs[name]).signal(SIGKILL)
        let status = try await ended(name)
        #expect(status == 128 + SIGKILL || mayBeDying)
    }

    /// Waits until a program has exited and the bus has noticed; returns the status.
    func ended(_ name: String) async throws -> Int32 {
        let status = try await #require(programs[name]).exitStatus()
        try await eventually("\(name) to leave the bus") {
            try await connection.nameOwner(Self.busName(of: name)) == nil
        }
        return status
    }

    /// Kills the bus with SIGKILL, and waits until all programs have exited.
    func killBus() async throws {
        Glibc.kill(laterBus?.pid ?? bus.pid, SIGKILL)
        for (name, program) in programs {
            #expect(try await program.exitStatus() == EXIT_FAILURE, "\(name)")
        }
    }

    /// Starts a bus at the killed bus's address, and all programs on it.
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

    /// Connects another client, which leaves when the connection is released.
    func bystander() throws -> Connection { try Connection(.address(bus.address)) }

    /// Connects through a separate process; returns the connection and the process.
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

    /// Evaluates; returns the error's name, or nil on success.
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

    /// Adds a miss; returns the remaining attempts, or nil if biometry is locked.
    func attemptsLeftAfterOneMore() async throws -> UInt32? {
        if try await manager.canEvaluate(policy: 1).code == -8 { return nil }
        // Event streams need a unique name.
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

    /// Registers as agent on a connection.
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

    /// Registers again, after another agent.
    func comeBack() async throws {
        answers = SealedAnswers(connection)
        while true {
            do throws(DBusError) {
                _ = try await manager.registerAgent(agent: Self.agentPath, options: [:])
                return
            } catch {
                // The bus has not yet noticed the end of the other agent.
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
        // A sixth wrong password in a row would start a delay.
        case .wrong where isPolicy2 && wrongPasscodes < 4:
            wrongPasscodes += 1
            type("1357", into: prompt)
        case .wrong: break
        case .right: if isPolicy2 { type(checks.passcode, into: prompt) }
        case .wrongOnce: if isPolicy2 { type("1357", into: prompt) }
        case .canceling: cancel(prompt)
        }
    }

    /// Types after the reply to Begin or Update.
    private func type(_ passcode: String, into prompt: String) {
        onLoop { [answers] in answers.type(passcode, into: prompt) }
    }

    private func cancel(_ prompt: String) {
        Task { [manager] in try? await manager.submitCancel(prompt: prompt) }
    }

    var hasPrompt: Bool { !prompts.isEmpty }

    func typeEverywhere(_ passcode: String) {
        for prompt in prompts { type(passcode, into: prompt) }
    }

    func cancelAll() {
        mood = .canceling
        for prompt in prompts { cancel(prompt) }
    }

    func forgetPrompts() {
        prompts = []
        isAskedForPassword = false
    }
}
