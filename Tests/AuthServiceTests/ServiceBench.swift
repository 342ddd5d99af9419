import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport

/// The daemon as a real process on a private bus.
///
/// The test plays all other programs.
@BusActor
final class ServiceBench {
    let daemon: TestDaemon
    let verifier: ScriptedVerifier
    let uid = getuid()
    private var people: [Person] = []
    private var sensors: [ScriptedSensor] = []

    private init(_ daemon: TestDaemon, _ verifier: ScriptedVerifier) {
        self.daemon = daemon
        self.verifier = verifier
    }

    /// Runs a test on a new bench, and cleans up even after a failure.
    nonisolated static func run(
        configuration: String = "",
        launcher: [String] = [],
        environment: [String: String] = [:],
        _ body: @escaping @BusActor (ServiceBench) async throws -> Void
    ) async throws {
        try await PrivateBus.run { bus in
            let verifier = try ScriptedVerifier(on: bus)
            let daemon = try await TestDaemon(
                on: bus,
                configuration: configuration,
                launcher: launcher,
                environment: environment
            )
            try await body(ServiceBench(daemon, verifier))
        }
    }

    /// Runs a test with the daemon's state on a small disk that can be filled.
    nonisolated static func runOnSmallDisk(
        _ body: @escaping @BusActor (ServiceBench, SmallDisk) async throws -> Void
    ) async throws {
        try await PrivateBus.run { bus in
            let verifier = try ScriptedVerifier(on: bus)
            let disk = try await SmallDisk(at: bus.folder + "/state")
            let daemon = try await TestDaemon(on: bus, launcher: disk.entering)
            try await body(ServiceBench(daemon, verifier), disk)
        }
    }

    /// Kills the daemon and restarts it with its state.
    func restartDaemon(_ meanwhile: @BusActor () -> Void = {}) async throws {
        try await daemon.stop()
        meanwhile()
        try await daemon.start()
    }

    // MARK: - Sensors and people

    /// Connects a sensor, and returns when the daemon can use it.
    func sensor(
        _ name: String = "Third",
        expecting unavailability: String = "",
        _ prepare: @BusActor (ScriptedSensor) -> Void = { _ in }
    ) async throws -> ScriptedSensor {
        let sensor = ScriptedSensor(name, on: try bus.connect())
        prepare(sensor)
        try sensor.appear()
        sensors.append(sensor)
        try await waitForDevice(name, is: unavailability)
        return sensor
    }

    /// Waits until the daemon has handled all earlier messages of its sensors and its verifier.
    ///
    /// The daemon answers each connection in order.
    func heard() async {
        for connection in [verifier.connection] + sensors.map(\.connection) {
            _ = try? await manager(connection).version()
        }
    }

    /// Adds a user at the machine with a prompt agent; never root.
    func person() async throws -> Person {
        let person = try await Person(bus: bus)
        people.append(person)
        return person
    }

    // MARK: - The daemon's answers

    var bus: PrivateBus { daemon.bus }
    var client: Connection { daemon.client }
    var state: String { daemon.state }
    var manager: Authentication1Proxy { daemon.manager }

    func manager(_ connection: Connection) -> Authentication1Proxy { daemon.manager(connection) }

    func device(_ name: String = "Third", on connection: Connection? = nil) -> Device1Proxy {
        daemon.device(name, on: connection)
    }

    func context(
        on connection: Connection? = nil,
        _ properties: [String: Variant] = [:]
    ) async throws -> Context1Proxy {
        let connection = connection ?? client
        let path = try await manager(connection).createContext(properties: properties)
        return Context1Proxy(connection, destination: daemon.owner, path: path)
    }

    /// Calls CanEvaluate after the daemon has handled all earlier announcements.
    func canEvaluate(
        _ policy: UInt32 = 1,
        as connection: Connection? = nil
    ) async throws -> (available: Bool, code: Int32, message: String) {
        await heard()
        return try await manager(connection ?? client).canEvaluate(policy: policy)
    }

    /// Returns the answer of a call that must arrive within a time limit.
    ///
    /// A loaded machine runs the daemon late, but in order: timers that end within the limit run
    /// before the daemon answers a later call. The time starts after `begun`, which waits until the
    /// daemon has started to wait.
    func answer<Answer: Sendable>(
        within limit: Duration,
        since begun: @BusActor @Sendable () async throws -> Void = {},
        _ call: @escaping @BusActor @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let answers = EventRecorder<Result<Answer, any Error>>()
        onLoop {
            do {
                answers.record(.success(try await call()))
            } catch {
                answers.record(.failure(error))
            }
        }
        try await begun()
        do {
            return try await answers.first("the answer", within: limit) { _ in true }.get()
        } catch is TestFailure {
            for _ in 0..<2 {
                await heard()
                _ = try await manager.version()
            }
            try expect(!answers.seen.isEmpty, "no answer was due within \(limit)")
            return try answers.seen[0].get()
        }
    }

    func waitForDevice(
        _ name: String = "Third",
        is unavailability: String,
        within limit: Duration = .seconds(60)
    ) async throws {
        try await eventually("\(name) to be '\(unavailability)'", within: limit) {
            (try? await self.device(name).unavailability()) == unavailability
        }
    }

    /// Records every state that a sensor's object announces from here on.
    ///
    /// Use this for short states, which repeated queries may miss.
    func announcedStates(of name: String = "Third") async throws -> EventRecorder<String> {
        let states = EventRecorder<String>()
        let device = device(name)
        _ = device.onPropertiesChanged { values, _ in
            if case .string(let state)? = values["Unavailability"] { states.record(state) }
        }
        // After this reply, the bus has processed the subscription.
        _ = try await manager.version()
        return states
    }

    /// Returns the messages of all checks.
    func diagnosis(on connection: Connection) async throws -> [String] {
        try await manager(connection).diagnose().compactMap { $0["message"]?.asString }
    }

    func waitForNoDevice(_ name: String = "Third") async throws {
        try await eventually("\(name) to be gone") {
            (try? await self.device(name).unavailability()) == nil
        }
    }
}
