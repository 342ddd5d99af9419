public import BusBench
public import DBus
import Glibc
public import LocalAuthBus

/// The real daemon on a private bus, with settings and state of its own.
///
/// It ends with its bus.
@BusActor public final class TestDaemon {
    /// The daemon's bus name, which is the name of its first interface as well.
    public nonisolated static let name = "org.localauth.Authentication1"
    /// The daemon's first object.
    public nonisolated static let root = ObjectPath(trusted: "/org/localauth/Authentication1")
    /// The bus name of the simulated sensor.
    public nonisolated static let sensorName = "org.localauth.Sensor1.Simulated"

    /// Where it runs.
    public nonisolated let bus: PrivateBus
    /// The test's own connection.
    public let client: Connection
    /// Its process; another one after each start.
    public private(set) var process: ChildProcess
    /// Its unique name; events come from there only.
    public private(set) var owner = ""
    private let programs: String
    private let command: [String]
    /// Where its system bus is; empty: where the test's is.
    private let systemBus: [String: String]

    /// Starts the daemon and waits until it is on the bus.
    ///
    /// - Parameters:
    ///   - bus: Where it runs.
    ///   - configuration: The text of its configuration file.
    ///   - programs: The folder of the programs.
    ///   - launcher: Words before the program.
    ///   - environment: Variables beside the test's own.
    ///   - isSystemBus: Whether it takes this bus for the system's; descriptions of sensors are in
    ///     the folder of the bus then.
    /// - Throws: When it does not start.
    public init(
        on bus: PrivateBus,
        configuration: String = "",
        programs: String = ChildProcess.folder,
        launcher: [String] = [],
        environment: [String: String] = [:],
        isSystemBus: Bool = false
    ) async throws {
        (self.bus, self.programs) = (bus, programs)
        client = try bus.connect()
        // A daemon under test never depends on the settings of its machine.
        let file = bus.folder + "/localauth.conf"
        try TemporaryFolder.write(file, configuration.utf8, mode: 0o600)
        let options = ["--state-directory", bus.folder + "/state", "--config", file]
        let system = ["--bus", "system", "--sensors", bus.folder]
        command =
            launcher + [programs + "/localauthd"] + options
            + (isSystemBus ? system : ["--bus", bus.address])
        systemBus = isSystemBus ? ["DBUS_SYSTEM_BUS_ADDRESS": bus.address] : [:]
        process = try bus.run(command, environment: systemBus.merging(environment) { $1 })
        try await findOwner()
    }

    private func findOwner() async throws {
        owner = try await bus.waitForOwner(of: Self.name) ?? ""
        // Its name comes before it is ready for signals, and what it answers comes after.
        _ = try? await manager.version()
    }

    /// Where it keeps its state.
    public nonisolated var state: String { bus.folder + "/state" }

    /// Starts it again, with the state that is there.
    public func start() async throws {
        process = try bus.run(command, environment: systemBus)
        try await findOwner()
    }

    /// Kills it, and waits until its name is free.
    public func stop() async throws {
        await process.end()
        try await bus.waitForOwner(of: Self.name, false)
    }

    /// Has it read another configuration, and waits until it has.
    public func reload(_ configuration: String) async throws {
        let told = "the configuration was read again"
        let count = process.errors.ranges(of: told).count
        let file = bus.folder + "/localauth.conf"
        try TemporaryFolder.write(file, configuration.utf8, mode: 0o600)
        process.signal(SIGHUP)
        try await eventually("the configuration to be read") {
            self.process.errors.ranges(of: told).count > count
        }
    }

    // MARK: Others on its bus

    /// Starts a simulated sensor, enrols a finger of this user, and waits until the daemon uses it.
    ///
    /// - Parameter label: The finger's; nil: none is enrolled.
    /// - Returns: The sensor's process.
    /// - Throws: When it does not start.
    @discardableResult
    public func startSensor(enrolling label: String? = "right index") async throws -> ChildProcess {
        let program = try bus.start([programs + "/localauth-sensor-simulated"])
        try await bus.waitForOwner(of: Self.sensorName)
        if let label { _ = try await sensor.addTemplate(uid: getuid(), label: label) }
        try await eventually("a usable sensor") {
            try await self.manager.canEvaluate(policy: 1).code != -6
        }
        return program
    }

    /// The simulated sensor.
    public var sensor: SimulatedSensor1Proxy {
        SimulatedSensor1Proxy(
            client,
            destination: Self.sensorName,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
    }

    // MARK: Its objects

    /// The daemon as the test's connection calls it.
    public var manager: Authentication1Proxy { manager(client) }

    /// The daemon as another connection calls it.
    public func manager(_ connection: Connection) -> Authentication1Proxy {
        Authentication1Proxy(connection, destination: owner, path: Self.root)
    }

    /// The object of a sensor.
    public func device(_ name: String, on connection: Connection? = nil) -> Device1Proxy {
        Device1Proxy(connection ?? client, destination: owner, path: Self.devicePath(name))
    }

    /// The path of a sensor's object.
    public nonisolated static func devicePath(_ name: String) -> ObjectPath {
        ObjectPath(unchecked: root.rawValue + "/sensor/" + name)
    }

    /// The keychain as a connection calls it.
    public func keychain(on connection: Connection? = nil) -> Keychain1Proxy {
        Keychain1Proxy(
            connection ?? client,
            destination: owner,
            path: ObjectPath(trusted: "/org/localauth/Keychain1")
        )
    }
}

extension PrivateBus {
    /// Starts the real verifier, which asks PAM whether the passcode is ``PAMService/passcode``.
    @BusActor @discardableResult
    public func startVerifier(environment: [String: String] = [:]) async throws -> ChildProcess {
        let program = try runVerifier(environment: environment)
        try await waitForOwner(of: ScriptedVerifier.name)
        return program
    }

    /// The same without the wait.
    @BusActor
    public func runVerifier(environment: [String: String] = [:]) throws -> ChildProcess {
        try PAMService.install(in: folder)
        return try start(
            ["localauth-passcode", "--pam-service", PAMService.name]
                + ["--pam-directory", folder, "--passcode-set", "always"],
            environment: environment
        )
    }
}
