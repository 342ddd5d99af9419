import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport

/// The daemon as a real process on a private bus; the test plays everybody else.
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

    /// Gives a test a bench of its own, and takes it down whatever happens.
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

    /// The same, with the daemon's state on a disk that can be full.
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

    /// Kills the daemon and starts it anew on the same state.
    func restartDaemon(_ meanwhile: @BusActor () -> Void = {}) async throws {
        try await daemon.stop()
        meanwhile()
        try await daemon.start()
    }

    // MARK: - Who is there

    /// A sensor of the test's own, usable for the daemon when this returns.
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

    /// Returns when the daemon has read what its sensors and its verifier have sent: it answers
    /// them in the order in which they sent it, and others before or after.
    func heard() async {
        for connection in [verifier.connection] + sensors.map(\.connection) {
            _ = try? await manager(connection).version()
        }
    }

    /// A user at the desk, with a prompt agent; never root.
    func person() async throws -> Person {
        let person = try await Person(bus: bus)
        people.append(person)
        return person
    }

    // MARK: - What the daemon says

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

    /// What CanEvaluate answers to what the daemon was told.
    func canEvaluate(
        _ policy: UInt32 = 1,
        as connection: Connection? = nil
    ) async throws -> (available: Bool, code: Int32, message: String) {
        await heard()
        return try await manager(connection ?? client).canEvaluate(policy: policy)
    }

    /// What a call answers that has to be answered within this time.
    ///
    /// A loaded machine runs the daemon late, but in order: what its timers answer in time comes
    /// before the answers to what it is asked after that time. The time runs from the end of
    /// `begun` on, which waits until the daemon has begun to wait.
    func answer<Answer: Sendable>(
        within limit: Duration,
        since begun: @BusActor @Sendable () async throws -> Void = {},
        _ call: @escaping @BusActor @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let answers = Witness<Result<Answer, any Error>>()
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

    /// Every state that a sensor's object announces from now on.
    ///
    /// For states that pass by themselves: who asks again and again may miss them.
    func announcedStates(of name: String = "Third") async throws -> Witness<String> {
        let states = Witness<String>()
        let device = device(name)
        _ = device.onPropertiesChanged { values, _ in
            if case .string(let state)? = values["Unavailability"] { states.record(state) }
        }
        // The bus knows of it once it has delivered what was sent after it.
        _ = try await manager.version()
        return states
    }

    /// What the diagnosis says, check by check.
    func diagnosis(on connection: Connection) async throws -> [String] {
        try await manager(connection).diagnose().compactMap { $0["message"]?.asString }
    }

    func waitForNoDevice(_ name: String = "Third") async throws {
        try await eventually("\(name) to be gone") {
            (try? await self.device(name).unavailability()) == nil
        }
    }
}
