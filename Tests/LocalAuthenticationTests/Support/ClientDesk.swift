package import DBus
import Glibc
package import LocalAuthBus
import LocalAuthClient
package import SensorContract
import Testing

/// A private bus with the real daemon, a simulated sensor, and a person who answers prompts; this
/// process's client uses it.
@BusActor package final class ClientDesk {
    package nonisolated static let sensorName = "org.localauth.Sensor1.Simulated"

    package let bus: PrivateBus
    package let agent: ScriptedAgent
    package let verifier = ScriptedVerifier()
    private var programs: [LaunchedProgram] = []
    private var daemon: LaunchedProgram?

    /// Where the daemon keeps its state.
    package nonisolated let state: String

    private init() async throws {
        bus = try await PrivateBus()
        state = bus.folder + "/state"
        agent = ScriptedAgent(try await Self.connect(bus))
        let connection = try bus.connect()
        connection.export(
            ObjectPath(trusted: "/org/localauth/Passcode1"),
            [Passcode1Interface(verifier)]
        )
        try connection.requestName("org.localauth.Passcode1")
        ServiceConnection.shared.use(.address(bus.address))
    }

    /// The bus has its socket a moment before it listens.
    private static func connect(_ bus: PrivateBus) async throws -> Connection {
        for _ in 0..<100 {
            if let connection = try? bus.connect() { return connection }
            await pause(.milliseconds(10))
        }
        return try bus.connect()
    }

    /// Gives a test a desk of its own, one after another: a process has one client.
    ///
    /// - Parameters:
    ///   - isDaemonRunning: Whether the daemon, a sensor with a template, and the agent are there.
    ///   - body: The test; it runs off the loop, so that it may block.
    /// - Throws: What the test throws, with what the programs said.
    package nonisolated static func run(
        isDaemonRunning: Bool = true,
        _ body: @Sendable (ClientDesk) async throws -> Void
    ) async throws {
        EventLoop.shared.startThread()
        try await DeskTurn.shared.take {
            let desk = try await ClientDesk()
            do {
                if isDaemonRunning { try await desk.startEverything() }
                try await body(desk)
            } catch {
                let said = await desk.said
                await desk.end()
                // A test that ended itself says why already.
                guard !Task.isCancelled else { throw error }
                throw ContractFailure("\(error); the programs said: \(said)")
            }
            await desk.end()
        }
    }

    private func startEverything() async throws {
        try await startDaemon()
        try await startSensor()
        _ = try await sensor.addTemplate(uid: getuid(), label: "right index")
        try await wait(for: "a usable sensor") {
            try await self.manager.canEvaluate(policy: 1).code == 0
        }
    }

    private var said: String { programs.map(\.output.error).joined() }

    private func end() async {
        for program in programs { await program.end() }
        Self.empty(state)
        await bus.end()
    }

    private static func empty(_ folder: String) {
        guard let listing = opendir(folder) else { return }
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            unlink(folder + "/" + name)
        }
        closedir(listing)
        rmdir(folder)
    }

    /// Ends the test unless the service has a keychain.
    package func needKeychain() async throws {
        let keychain = Keychain1Proxy(
            agent.connection,
            destination: RemoteService.name,
            path: RemoteService.keychainPath
        )
        do throws(DBusError) {
            _ = try await keychain.search(query: [:], options: [:])
        } catch {
            guard error.name == .keychainNotAvailable else { throw error }
            try Test.cancel("This version of the service has no keychain.")
        }
    }

    // MARK: Programs

    /// Starts the daemon, and registers the agent with it.
    package func startDaemon() async throws {
        let program = try bus.start(["localauthd", "--state-directory", state])
        programs.append(program)
        daemon = program
        _ = try await bus.waitForOwner(of: RemoteService.name, within: .seconds(20))
        try await agent.register()
    }

    /// Ends the daemon, and waits until its name is free.
    package func stopDaemon() async throws {
        await daemon?.end()
        _ = try await bus.waitForOwner(of: RemoteService.name, false)
    }

    /// Starts the simulated sensor.
    package func startSensor() async throws {
        programs.append(try bus.start(["localauth-sensor-simulated"]))
        _ = try await bus.waitForOwner(of: Self.sensorName, within: .seconds(20))
    }

    /// Starts a program that has nothing to do with this package.
    package func run(_ words: [String]) throws -> LaunchedProgram {
        let output = "\(bus.folder)/client-\(programs.count)"
        let program = try LaunchedProgram(words, output: output)
        programs.append(program)
        return program
    }

    // MARK: What happens

    package var manager: Authentication1Proxy {
        Authentication1Proxy(
            agent.connection,
            destination: RemoteService.name,
            path: RemoteService.path
        )
    }

    package var sensor: SimulatedSensor1Proxy {
        SimulatedSensor1Proxy(
            agent.connection,
            destination: Self.sensorName,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
    }

    /// What the sensor sees next.
    package func queue(_ outcomes: String...) async throws {
        try await sensor.queue(outcomes: outcomes)
    }

    /// One more finger: the enrolment is another then.
    package func enrollAnother() async throws {
        _ = try await sensor.addTemplate(uid: getuid(), label: "left thumb")
    }

    /// Gives the person a passcode, or takes it away.
    package func setPasscode(_ isSet: Bool) {
        verifier.isPasscodeSet = isSet
    }

    /// Asks until it is so.
    package func wait(
        for what: String,
        within limit: Duration = .seconds(10),
        until isSo: @BusActor () async throws -> Bool
    ) async throws {
        let clock = ContinuousClock()
        let end = clock.now + limit
        while clock.now < end {
            if try await isSo() { return }
            await pause(.milliseconds(10))
        }
        throw ContractFailure("expected \(what) within \(limit)")
    }
}

/// Lets one test after another have the process's client.
private actor DeskTurn {
    static let shared = DeskTurn()

    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take(_ body: @Sendable () async throws -> Void) async throws {
        await begin()
        defer { finish() }
        try await body()
    }

    private func begin() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func finish() {
        if waiting.isEmpty {
            isTaken = false
        } else {
            waiting.removeFirst().resume()
        }
    }
}
