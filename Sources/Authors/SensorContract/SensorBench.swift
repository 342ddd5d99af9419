public import BusBench
public import DBus
import Glibc
public import LocalAuthBus

/// The description of a sensor under test: how the suite starts it and presents fingers or faces.
public struct SensorFixture: Sendable {
    /// The program and its options, without `--bus`; a name without `/` is looked up beside the
    /// test.
    public var program: [String]
    /// The last element of the sensor's bus name.
    public var name: String
    /// Presents a finger or face that matches an enrolled template, or does not match any.
    ///
    /// The bench calls this repeatedly until the sensor has seen enough.
    public var present: @BusActor @Sendable (_ matching: Bool, _ bench: SensorBench) async -> Void
    /// Whether the suite can present a miss.
    public var canMiss: Bool
    /// Whether templates survive the sensor's process, as the contract demands of all but test
    /// sensors.
    public var keepsTemplates: Bool
    /// Whether touches are lines on the sensor's standard input.
    public var hasStream: Bool
    /// Whether touches are calls on the daemon's connection, ordered after earlier calls.
    public var touchesByBus: Bool
    /// The time after which an unanswered sensor counts as hung.
    ///
    /// A camera sensor looks for three seconds before an attempt fails. On a busy machine, use a
    /// larger value.
    public var patience: Duration
    /// The limit for actions that the contract allows one second, plus the machine's delay.
    ///
    /// On a busy machine, use a larger value.
    public var promptness: Duration
    /// Disconnects or reconnects the device; nil if the suite cannot do that.
    public var plug:
        (@BusActor @Sendable (_ isIn: Bool, _ bench: SensorBench) async throws -> Void)?

    public init(
        program: [String],
        name: String,
        canMiss: Bool = true,
        keepsTemplates: Bool = true,
        hasStream: Bool = false,
        touchesByBus: Bool = true,
        patience: Duration = .seconds(5),
        promptness: Duration = .milliseconds(1500),
        plug: (@BusActor @Sendable (Bool, SensorBench) async throws -> Void)? = nil,
        present: @escaping @BusActor @Sendable (Bool, SensorBench) async -> Void
    ) {
        self.program = program
        self.name = name
        self.canMiss = canMiss
        self.keepsTemplates = keepsTemplates
        self.hasStream = hasStream
        self.touchesByBus = touchesByBus && !hasStream
        self.patience = patience
        self.promptness = promptness
        self.plug = plug
        self.present = present
    }
}

/// An event of an operation.
public struct SeenEvent: Hashable, Sendable {
    public let operation: UInt64
    /// `ready`, `hint` or `stage`; `no-match` for a call of NoMatch.
    public let kind: String
    public let detail: [String: Variant]
    /// The number of a miss.
    public var attempt: UInt32? { detail["attempt"]?.asUInt32 }
}

/// A private bus with a sensor's process; the test plays the daemon.
@BusActor public final class SensorBench: ContractBench {
    public nonisolated static let daemonName = "org.localauth.Authentication1"
    /// A user without templates at the start.
    public nonisolated static let user: UInt32 = 12_345

    public let fixture: SensorFixture
    public let bus: PrivateBus
    public private(set) var program: ChildProcess
    public private(set) var owner = ""
    public private(set) var daemon: Connection
    /// A proxy of the sensor on the daemon's connection.
    public private(set) var sensor: Sensor1Proxy
    /// All Event signals that the daemon received.
    public let events = EventRecorder<SeenEvent>()
    /// All TemplatesChanged signals that the daemon received.
    public let changes = EventRecorder<UInt32>()
    /// Answers a NoMatch call by its number among all NoMatch calls, from 1; may wait.
    public var answer: @BusActor @Sendable (_ count: Int) async throws(DBusError) -> UInt32 = { _ in
        100
    }
    private var lastOperation: UInt64 = 0

    /// Starts the bus, the daemon and the sensor, and waits for the sensor's bus name.
    public init(_ fixture: SensorFixture) async throws {
        self.fixture = fixture
        bus = try PrivateBus()
        daemon = try bus.connect()
        try daemon.requestName(Self.daemonName)
        program = try Self.start(fixture.program, on: bus, hasStream: fixture.hasStream)
        sensor = Self.proxy(daemon, Self.daemonName)
        do {
            try await meet()
        } catch {
            await bus.end()
            throw error
        }
    }

    /// Waits for the sensor's bus name, and subscribes to its signals.
    private func meet() async throws {
        do {
            owner = try await bus.waitForOwner(of: busName) ?? ""
        } catch {
            throw TestFailure("the sensor did not start: \(error); its output: \(program.errors)")
        }
        sensor = Self.proxy(daemon, owner)
        listen()
    }

    public var busName: String { "org.localauth.Sensor1." + fixture.name }

    /// Ends the sensor's process and starts a new process.
    public func restart(by signal: Int32? = nil) async throws {
        program.signal(signal ?? SIGTERM)
        _ = try await program.exitStatus()
        _ = try await bus.waitForOwner(of: busName, false)
        program = try Self.start(fixture.program, on: bus, hasStream: fixture.hasStream)
        try await meet()
    }

    /// Starts a sensor with a state folder, as systemd does; all processes of a bus share that
    /// folder.
    public static func start(
        _ words: [String],
        on bus: PrivateBus,
        hasStream: Bool
    ) throws -> ChildProcess {
        let folder = bus.folder + "/state"
        mkdir(folder, 0o700)
        return try bus.start(words, environment: ["STATE_DIRECTORY": folder], hasStream: hasStream)
    }

    /// Waits until the sensor has read its standard input and handled it.
    ///
    /// Two round trips follow the read: a loop that finds both a touch and a call handles the touch
    /// before the second call. A loop that drains all calls first handles its input later. A sensor
    /// that reads no input while idle is waited for only briefly.
    public func settle() async {
        for _ in 0..<100 where program.isUnread { await pause(.milliseconds(5)) }
        for _ in 0..<2 { _ = try? await sensor.protocolVersions() }
    }

    /// The pid behind the sensor's bus name, which a script may have started.
    public func process() async throws -> Int32 {
        try await daemon.peer(named: owner).pid
    }

    /// Skips a check that does not apply to a sensor without misses.
    func requireMiss() throws(NotApplicable) {
        guard fixture.canMiss else { throw NotApplicable("the sensor cannot be shown a miss") }
    }

    /// Makes the daemon leave every NoMatch unanswered.
    func neverAnswers() {
        let gate = Gate()
        answer = { _ throws(DBusError) in
            try await gate.wait()
            return 0
        }
    }

    /// A proxy of the sensor on another connection.
    public static func proxy(_ connection: Connection, _ owner: String) -> Sensor1Proxy {
        Sensor1Proxy(
            connection,
            destination: owner,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
    }

    /// Simulates a crash of the daemon and the start of a new daemon.
    public func replaceDaemon() async throws {
        daemon.close()
        daemon = try bus.connect()
        // The bus may drop the signal about the free name.
        try await eventually("the daemon's name to be free") {
            (try? self.daemon.requestName(Self.daemonName)) != nil
        }
        sensor = Self.proxy(daemon, owner)
        listen()
    }

    /// The sensor's standard error.
    public var output: String { program.errors }

    public func end() async { await bus.end() }

    /// Returns the next operation number.
    public func nextOperation() -> UInt64 {
        lastOperation += 1
        return lastOperation
    }

    /// Starts a Verify and waits until the sensor is ready.
    public func verify(user: UInt32 = user) async throws -> (UInt64, StreamingCall<String>) {
        let number = nextOperation()
        let call = try sensor.verifyStream(operation: number, uid: user, options: [:])
        _ = try await event("ready", of: number)
        return (number, call)
    }

    /// Runs a complete enrolment.
    public func enroll(_ label: String = "one", user: UInt32 = user) async throws -> String {
        let number = nextOperation()
        let call = try sensor.enrollStream(
            operation: number,
            uid: user,
            label: label,
            options: [:]
        )
        _ = try await event("ready", of: number)
        let limit = limit
        return try await presenting(true) { try await call.answer(within: limit) }
    }

    /// The time limit of an operation.
    private var limit: Duration { max(.seconds(30), fixture.patience * 2) }

    /// Presents the finger or face repeatedly until `body` returns.
    public func presenting<Value: Sendable>(
        _ matching: Bool,
        until body: @escaping @BusActor @Sendable () async throws -> Value
    ) async throws -> Value {
        let ended = EventRecorder<Result<Value, any Error>>()
        onLoop {
            do {
                ended.record(.success(try await body()))
            } catch {
                ended.record(.failure(error))
            }
        }
        let clock = ContinuousClock()
        let end = clock.now + limit
        while ended.seen.isEmpty && clock.now < end {
            await fixture.present(matching, self)
            await pause(.milliseconds(20))
        }
        return try await ended.first("the operation to end") { _ in true }.get()
    }

    /// Waits for an operation's first event of this kind.
    public func event(_ kind: String, of operation: UInt64) async throws -> SeenEvent {
        let limit = fixture.patience
        return try await events.first("\(kind) of operation \(operation)", within: limit) {
            $0.operation == operation && $0.kind == kind
        }
    }

    private func listen() {
        daemon.export(SensorHost1.path, [SensorHost1Interface(Host(self))])
        _ = sensor.onEvent { operation, kind, detail in
            self.events.record(SeenEvent(operation: operation, kind: kind, detail: detail))
        }
        _ = sensor.onTemplatesChanged { self.changes.record($0) }
    }
}

/// The daemon's object that sensors call.
@BusActor private final class Host: SensorHost1Service {
    private unowned let bench: SensorBench

    init(_ bench: SensorBench) {
        self.bench = bench
    }

    func noMatch(
        operation: UInt64,
        attempt: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<UInt32> {
        let (bench, count) = (bench, bench.misses.count + 1)
        guard call.peer.name == bench.owner else {
            throw DBusError(.invalidArgs, "the caller is not the sensor of this operation")
        }
        let detail: [String: Variant] = ["attempt": .uint32(attempt)]
        bench.events.record(SeenEvent(operation: operation, kind: "no-match", detail: detail))
        return .later { () throws(DBusError) in try await bench.answer(count) }
    }
}

extension SensorBench {
    /// The reported misses, with their numbers.
    public var misses: [SeenEvent] { events.seen.filter { $0.kind == "no-match" } }
}

extension StreamingCall {
    /// Waits for the reply.
    ///
    /// - Throws: The error reply, or a failure after the limit.
    func answer(within limit: Duration = .seconds(30)) async throws(DBusError) -> Value {
        let ended = EventRecorder<Result<Value, DBusError>>()
        onLoop {
            do throws(DBusError) {
                ended.record(.success(try await self.reply()))
            } catch {
                ended.record(.failure(error))
            }
        }
        guard let result = try? await ended.first("a reply", within: limit, where: { _ in true })
        else { throw DBusError(.noReply, "There was no reply within \(limit).") }
        return try result.get()
    }
}
