public import BusBench
public import DBus
import Glibc
public import LocalAuthBus

/// The real daemon with a simulated sensor, and a person who answers prompts and has a passcode.
@BusActor public final class Desk {
    /// Where everything runs.
    public nonisolated let bus: PrivateBus
    /// The person.
    public let agent: ScriptedAgent
    /// Knows the person's passcode.
    public let verifier: ScriptedVerifier
    /// The daemon; nil: it has not been started.
    public private(set) var daemon: TestDaemon?
    private let programs: String

    /// A desk without the daemon.
    ///
    /// - Parameters:
    ///   - bus: Where everything runs.
    ///   - programs: The folder of the programs.
    /// - Throws: When the bus refuses.
    public init(on bus: PrivateBus, programs: String = ChildProcess.folder) throws {
        (self.bus, self.programs) = (bus, programs)
        agent = try ScriptedAgent(on: bus)
        verifier = try ScriptedVerifier(on: bus)
    }

    /// Starts the daemon, the person's agent, and a sensor that knows a finger of the person's.
    public func startEverything() async throws {
        let daemon = try await startDaemon()
        try await daemon.startSensor()
        try await waitUntilUsable()
    }

    /// Starts the daemon, again if it was stopped, and registers the agent with it.
    @discardableResult
    public func startDaemon() async throws -> TestDaemon {
        if let daemon {
            try await daemon.start()
            try await agent.register()
            return daemon
        }
        let daemon = try await TestDaemon(on: bus, programs: programs)
        self.daemon = daemon
        try await agent.register()
        return daemon
    }

    /// Ends the daemon, and waits until its name is free.
    public func stopDaemon() async throws { try await daemon?.stop() }

    /// Waits until the person can be recognised.
    public func waitUntilUsable() async throws {
        try await eventually("a usable sensor") {
            try await self.manager.canEvaluate(policy: 1).code == 0
        }
    }

    /// The daemon as the person's connection calls it.
    public var manager: Authentication1Proxy { agent.manager }

    /// The simulated sensor.
    public var sensor: SimulatedSensor1Proxy {
        SimulatedSensor1Proxy(
            agent.connection,
            destination: TestDaemon.sensorName,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
    }

    /// What the sensor sees next.
    ///
    /// It looks up who calls before it begins an operation, and before it hears of its end: what
    /// was queued behind a cancelled prompt could be seen by that prompt's operation. A call that
    /// it refuses has it look up once more, and is answered behind those.
    public func queue(_ outcomes: String...) async throws {
        let stranger = Sensor1Proxy(
            agent.connection,
            destination: TestDaemon.sensorName,
            path: sensor.path
        )
        _ = try? await stranger.health()
        try await sensor.queue(outcomes: outcomes)
    }

    /// One more finger: the enrolment is another then.
    public func enrollAnother() async throws {
        _ = try await sensor.addTemplate(uid: getuid(), label: "left thumb")
    }

    /// Gives the person a passcode, or takes it away.
    public func setPasscode(_ isSet: Bool) {
        verifier.isPasscodeSet = isSet
    }
}
