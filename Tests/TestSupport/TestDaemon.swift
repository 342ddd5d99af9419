public import BusBench
public import DBus
import Glibc
public import LocalAuthBus

/// The real daemon on a private bus, with its own settings and state.
///
/// The daemon ends with its bus.
@BusActor public final class TestDaemon {
    /// The daemon's bus name, which is also the name of its first interface.
    public nonisolated static let name = "org.localauth.Authentication1"
    public nonisolated static let root = ObjectPath(trusted: "/org/localauth/Authentication1")
    public nonisolated static let sensorName = "org.localauth.Sensor1.Simulated"

    public nonisolated let bus: PrivateBus
    public let client: Connection
    /// The daemon's process; replaced at each start.
    public private(set) var process: ChildProcess
    /// The daemon's unique name, the only sender of its signals.
    public private(set) var owner = ""
    private let programs: String
    private let command: [String]
    /// The variable for the system bus's address; empty to inherit the test's.
    private let systemBus: [String: String]

    /// Starts the daemon and waits until it is on the bus.
    ///
    /// - Parameters:
    ///   - bus: The bus for the daemon.
    ///   - configuration: The text of the configuration file.
    ///   - programs: The folder of the programs.
    ///   - launcher: Words before the program.
    ///   - environment: Variables added to the test's own.
    ///   - isSystemBus: Whether the daemon treats this bus as the system bus; it then reads
    ///     descriptions of sensors from the bus's folder.
    /// - Throws: If the daemon does not start.
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
        // The daemon under test must not depend on the machine's settings.
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
        // The daemon takes its name before it subscribes to signals; a reply proves that it is
        // ready.
        _ = try? await manager.version()
    }

    public nonisolated var state: String { bus.folder + "/state" }

    /// Starts the daemon again with its existing state.
    public func start() async throws {
        process = try bus.run(command, environment: systemBus)
        try await findOwner()
    }

    /// Kills the daemon, and waits until its bus name is free.
    public func stop() async throws {
        await process.end()
        try await bus.waitForOwner(of: Self.name, false)
    }

    /// Replaces the configuration, and waits until the daemon has read it.
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

    // MARK: Other programs on the bus

    /// Starts a simulated sensor, enrols a finger of this user, and waits until the daemon uses the
    /// sensor.
    ///
    /// - Parameter label: The finger's label; nil to enrol no finger.
    /// - Returns: The sensor's process.
    /// - Throws: If the sensor does not start.
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

    public var sensor: SimulatedSensor1Proxy {
        SimulatedSensor1Proxy(
            client,
            destination: Self.sensorName,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
    }

    // MARK: Objects of the daemon

    /// A proxy of the daemon on the test's connection.
    public var manager: Authentication1Proxy { manager(client) }

    /// A proxy of the daemon on another connection.
    public func manager(_ connection: Connection) -> Authentication1Proxy {
        Authentication1Proxy(connection, destination: owner, path: Self.root)
    }

    public func device(_ name: String, on connection: Connection? = nil) -> Device1Proxy {
        Device1Proxy(connection ?? client, destination: owner, path: Self.devicePath(name))
    }

    public nonisolated static func devicePath(_ name: String) -> ObjectPath {
        ObjectPath(unchecked: root.rawValue + "/sensor/" + name)
    }

    /// A proxy of the keychain on a connection.
    public func keychain(on connection: Connection? = nil) -> Keychain1Proxy {
        Keychain1Proxy(
            connection ?? client,
            destination: owner,
            path: ObjectPath(trusted: "/org/localauth/Keychain1")
        )
    }
}

extension PrivateBus {
    /// Starts the real verifier, which checks passwords with PAM against ``PAMService/passcode``.
    @BusActor @discardableResult
    public func startVerifier(environment: [String: String] = [:]) async throws -> ChildProcess {
        let program = try runVerifier(environment: environment)
        try await waitForOwner(of: ScriptedVerifier.name)
        return program
    }

    /// Starts the real verifier without waiting for its name.
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
