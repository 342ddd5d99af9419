public import BusBench
public import DBus
import Glibc
public import LocalAuthBus

/// How a suite starts a sensor and shows it something.
public struct SensorFixture: Sendable {
    /// Program and options, without `--bus`; a name without `/` is looked for beside the test.
    public var program: [String]
    /// The last element of its bus name.
    public var name: String
    /// Shows it something that matches what is enrolled, or does not.
    ///
    /// Called again until the sensor has seen enough.
    public var present: @BusActor @Sendable (_ matching: Bool, _ bench: SensorBench) async -> Void
    /// Whether it can be shown something that does not match.
    public var canMismatch: Bool
    /// Whether what is enrolled outlives its process, as it has to: not in a sensor for tests.
    public var keepsTemplates: Bool
    /// Whether its touches are lines on its standard input.
    public var hasStream: Bool
    /// Whether its touches are calls on the daemon's connection, behind what that has sent before.
    public var touchesByBus: Bool
    /// How long an event or an answer may take before the sensor counts as hung: a face is looked
    /// at for three seconds before an attempt has failed.
    ///
    /// A busy machine wants more.
    public var patience: Duration
    /// How long what has to be done within a second may take: a second, and what a machine needs to
    /// tell.
    ///
    /// A busy machine wants more.
    public var promptness: Duration
    /// Takes its device away, or gives it back; nil: that can't be done.
    public var plug:
        (@BusActor @Sendable (_ isIn: Bool, _ bench: SensorBench) async throws -> Void)?

    /// Describes a sensor to test.
    public init(
        program: [String],
        name: String,
        canMismatch: Bool = true,
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
        self.canMismatch = canMismatch
        self.keepsTemplates = keepsTemplates
        self.hasStream = hasStream
        self.touchesByBus = touchesByBus && !hasStream
        self.patience = patience
        self.promptness = promptness
        self.plug = plug
        self.present = present
    }
}

/// One event of an operation.
public struct SeenEvent: Hashable, Sendable {
    /// The operation's number.
    public let operation: UInt64
    /// `ready`, `hint`, `stage`; `no-match` for a call of NoMatch.
    public let kind: String
    /// What goes with the kind.
    public let detail: [String: Variant]
    /// The number of a failed attempt.
    public var attempt: UInt32? { detail["attempt"]?.asUInt32 }
}

/// A private bus with one sensor process; the test plays the daemon.
@BusActor public final class SensorBench: ContractBench {
    /// The daemon's bus name.
    public nonisolated static let daemonName = "org.localauth.Authentication1"
    /// A user with nothing enrolled at the start.
    public nonisolated static let user: UInt32 = 12_345

    /// What is tested.
    public let fixture: SensorFixture
    /// Where it runs.
    public let bus: PrivateBus
    /// The sensor's process.
    public private(set) var program: ChildProcess
    /// The unique name of the sensor.
    public private(set) var owner = ""
    /// The connection that owns the daemon's name.
    public private(set) var daemon: Connection
    /// The sensor as the daemon calls it.
    public private(set) var sensor: Sensor1Proxy
    /// What came as Event at the daemon.
    public let events = Witness<SeenEvent>()
    /// What came as TemplatesChanged at the daemon.
    public let changes = Witness<UInt32>()
    /// What NoMatch is answered, by its number among all such calls, from 1; it may wait.
    public var answer: @BusActor @Sendable (_ count: Int) async throws(DBusError) -> UInt32 = { _ in
        100
    }
    private var lastOperation: UInt64 = 0

    /// Starts everything and waits until the sensor is on the bus.
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

    /// Waits until the sensor is on the bus, and listens to it.
    private func meet() async throws {
        do {
            owner = try await bus.waitForOwner(of: busName) ?? ""
        } catch {
            throw TestFailure("the sensor did not start: \(error); it said: \(program.errors)")
        }
        sensor = Self.proxy(daemon, owner)
        listen()
    }

    /// The sensor's bus name.
    public var busName: String { "org.localauth.Sensor1." + fixture.name }

    /// Ends the sensor's process and starts another one.
    public func restart(by signal: Int32? = nil) async throws {
        program.signal(signal ?? SIGTERM)
        _ = try await program.exitStatus()
        _ = try await bus.waitForOwner(of: busName, false)
        program = try Self.start(fixture.program, on: bus, hasStream: fixture.hasStream)
        try await meet()
    }

    /// Starts a sensor with a folder for what it keeps, as systemd does: the bus's, for all its
    /// processes.
    public static func start(
        _ words: [String],
        on bus: PrivateBus,
        hasStream: Bool
    ) throws -> ChildProcess {
        let folder = bus.folder + "/state"
        mkdir(folder, 0o700)
        return try bus.start(words, environment: ["STATE_DIRECTORY": folder], hasStream: hasStream)
    }

    /// Returns when the sensor has seen what was written to it before.
    ///
    /// Two round trips once its standard input is read: a loop that found both a touch and a call
    /// has looked at the touch before the second call. One that goes on with calls as long as there
    /// are any comes to its input later. A sensor that reads none while it doesn't look isn't
    /// waited for long.
    public func settle() async {
        for _ in 0..<100 where program.isUnread { await pause(.milliseconds(5)) }
        for _ in 0..<2 { _ = try? await sensor.protocolVersions() }
    }

    /// The sensor's own process, which a script may have started.
    public func process() async throws -> Int32 {
        try await daemon.peer(named: owner).pid
    }

    /// Leaves a check that a sensor which can't be shown a stranger's finger can't be put through.
    func requireMismatch() throws(NotApplicable) {
        guard fixture.canMismatch else { throw NotApplicable("it can't be shown a mismatch") }
    }

    /// The daemon that never answers.
    func neverAnswers() {
        let gate = Gate()
        answer = { _ throws(DBusError) in
            try await gate.wait()
            return 0
        }
    }

    /// The sensor as another connection calls it.
    public static func proxy(_ connection: Connection, _ owner: String) -> Sensor1Proxy {
        Sensor1Proxy(
            connection,
            destination: owner,
            path: ObjectPath(trusted: "/org/localauth/Sensor1")
        )
    }

    /// The daemon dies and another one takes its place.
    public func replaceDaemon() async throws {
        daemon.close()
        daemon = try bus.connect()
        // The bus may say nothing of it.
        try await eventually("the daemon's name to be free") {
            (try? self.daemon.requestName(Self.daemonName)) != nil
        }
        sensor = Self.proxy(daemon, owner)
        listen()
    }

    /// What the sensor wrote to its standard error.
    public var said: String { program.errors }

    /// Ends the sensor and the bus.
    public func end() async { await bus.end() }

    /// A number that no operation had.
    public func nextOperation() -> UInt64 {
        lastOperation += 1
        return lastOperation
    }

    /// Starts a Verify and waits until the sensor looks.
    public func verify(user: UInt32 = user) async throws -> (UInt64, StreamingCall<String>) {
        let number = nextOperation()
        let call = try sensor.verifyStream(operation: number, uid: user, options: [:])
        _ = try await event("ready", of: number)
        return (number, call)
    }

    /// Enrols from beginning to end.
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

    /// How long an operation may take.
    private var limit: Duration { max(.seconds(30), fixture.patience * 2) }

    /// Shows the sensor the same thing again and again until `body` has ended.
    public func presenting<Value: Sendable>(
        _ matching: Bool,
        until body: @escaping @BusActor @Sendable () async throws -> Value
    ) async throws -> Value {
        let ended = Witness<Result<Value, any Error>>()
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

    /// The first event of a kind of an operation.
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

/// The daemon's part that a sensor calls.
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
            throw DBusError(.invalidArgs, "this is not the sensor that was asked")
        }
        let detail: [String: Variant] = ["attempt": .uint32(attempt)]
        bench.events.record(SeenEvent(operation: operation, kind: "no-match", detail: detail))
        return .later { () throws(DBusError) in try await bench.answer(count) }
    }
}

extension SensorBench {
    /// The failed attempts that were told, with their numbers.
    public var misses: [SeenEvent] { events.seen.filter { $0.kind == "no-match" } }
}

extension StreamingCall {
    /// The reply, if it comes in time.
    ///
    /// - Throws: The error that it is, or that there is none.
    func answer(within limit: Duration = .seconds(30)) async throws(DBusError) -> Value {
        let ended = Witness<Result<Value, DBusError>>()
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
