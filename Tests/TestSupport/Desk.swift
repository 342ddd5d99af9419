public import BusBench
public import DBus
import Glibc
public import LocalAuthBus

/// The real daemon with a simulated sensor, a scripted user and a scripted verifier.
@BusActor public final class Desk {
    public nonisolated let bus: PrivateBus
    /// The user's prompt agent.
    public let agent: ScriptedAgent
    /// Verifies the user's password.
    public let verifier: ScriptedVerifier
    /// The daemon; nil before its first start.
    public private(set) var daemon: TestDaemon?
    private let programs: String

    /// Prepares a desk without starting the daemon.
    ///
    /// - Parameters:
    ///   - bus: The bus for all programs.
    ///   - programs: The folder of the programs.
    /// - Throws: If the bus refuses a name.
    public init(on bus: PrivateBus, programs: String = ChildProcess.folder) throws {
        (self.bus, self.programs) = (bus, programs)
        agent = try ScriptedAgent(on: bus)
        verifier = try ScriptedVerifier(on: bus)
    }

    /// Starts the daemon, the user's agent, and a sensor with an enrolled finger.
    public func startEverything() async throws {
        let daemon = try await startDaemon()
        try await daemon.startSensor()
        try await waitUntilUsable()
    }

    /// Starts or restarts the daemon, and registers the agent with it.
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

    /// Ends the daemon, and waits until its bus name is free.
    public func stopDaemon() async throws { try await daemon?.stop() }

    /// Waits until the user can be verified by the sensor.
    public func waitUntilUsable() async throws {
        try await eventually("a usable sensor") {
            try await self.manager.canEvaluate(policy: 1).code == 0
        }
    }

    /// A proxy of the daemon on the user's connection.
    public var manager: Authentication1Proxy { agent.manager }

    public var sensor: SimulatedSensor1Proxy {
        SimulatedSensor1Proxy(
            agent.connection,
            destination: TestDaemon.sensorName,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
    }

    /// Queues outcomes for the sensor's next attempts.
    ///
    /// An operation of a canceled prompt may still be waiting for a look-up of its caller, and must
    /// not consume these outcomes. The refused call below forces a further look-up, so its reply
    /// comes after the operation's end.
    public func queue(_ outcomes: String...) async throws {
        let stranger = Sensor1Proxy(
            agent.connection,
            destination: TestDaemon.sensorName,
            path: sensor.path
        )
        _ = try? await stranger.health()
        try await sensor.queue(outcomes: outcomes)
    }

    /// Adds a finger, which changes the enrolment state.
    public func enrollAnother() async throws {
        _ = try await sensor.addTemplate(uid: getuid(), label: "left thumb")
    }

    /// Sets or removes the user's password.
    public func setPasscode(_ isSet: Bool) {
        verifier.isPasscodeSet = isSet
    }
}
