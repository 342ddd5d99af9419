import DBus
import Foundation
import LocalAuthBus
import TestSupport

/// Plays a prompt agent that only records its calls.
@BusActor final class StandInAgent: Agent1Service {
    let prompts = Feed<[String: Variant]>()
    let ends = Feed<String>()
    /// Gets a value for each request for an app's password.
    let passwords = Feed<Void>()
    private(set) var last = ""
    private(set) var count = 0
    private let answers: SealedAnswers

    init(_ connection: Connection) { answers = SealedAnswers(connection) }

    func type(_ text: String) { answers.type(text, into: last) }

    func begin(
        prompt: String,
        details: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        last = prompt
        count += 1
        answers.learn(prompt, details["stage"]?.asString, details)
        prompts.add(details)
        return .now(())
    }

    func update(
        prompt: String,
        kind: String,
        detail: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        answers.learn(prompt, kind, detail)
        if kind == "application-password-required" { passwords.add(()) }
        return .now(())
    }

    func end(
        prompt: String,
        outcome: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        ends.add(outcome)
        return .now(())
    }
}

/// Plays a fingerprint sensor whose operations end when the test says so.
@BusActor final class StandInSensor: Sensor1Service {
    nonisolated static let path = ObjectPath(trusted: "/org/localauth/Sensor1")

    /// Gets a value for each Cancel.
    let cancels = Feed<Void>()
    var templates = ["one"]
    /// Called once at the next ListTemplates, before the reply is built.
    var onList: (@BusActor () -> Void)?
    private let connection: Connection
    private var running: CheckedContinuation<Result<String, DBusError>, Never>?

    convenience init(_ bus: PrivateBus, name: String) throws {
        try self.init(on: bus.connect(), name: name)
    }

    init(on connection: Connection, name: String) throws {
        self.connection = connection
        connection.export(Self.path, [Sensor1Interface(self)])
        try connection.requestName("org.localauth.Sensor1." + name)
    }

    /// Signals that a user's templates changed.
    func tellChange(of uid: UInt32) {
        Sensor1Signals(connection, path: Self.path).templatesChanged(uid: uid)
    }

    func finish(_ result: Result<String, DBusError>) {
        running?.resume(returning: result)
        running = nil
    }

    func verify(
        operation: UInt64,
        uid: UInt32,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        Sensor1Signals(connection, path: Self.path)
            .event(operation: operation, kind: "ready", detail: [:], to: call.peer.name)
        return .later { () throws(DBusError) in
            try await withCheckedContinuation { self.running = $0 }.get()
        }
    }

    func enroll(
        operation: UInt64,
        uid: UInt32,
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> { .now("one") }

    func cancel(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        cancels.add(())
        return .now(())
    }

    func listTemplates(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<[Template]> {
        let happens = onList
        onList = nil
        happens?()
        return .now(templates.map { Template(id: $0, label: "finger", created: 0) })
    }

    func renameTemplate(
        uid: UInt32,
        id: String,
        label: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { .now(()) }

    func removeTemplate(
        uid: UInt32,
        id: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { .now(()) }

    func learn(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        .now(false)
    }

    func listLearned(
        uid: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<[LearnedEntry]> { .now([]) }

    func removeLearned(
        uid: UInt32,
        id: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { .now(()) }

    func removeAllTemplates(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<UInt32> {
        .now(0)
    }

    func health(call: IncomingCall) throws(DBusError) -> Answer<(state: String, message: String)> {
        .now(("ok", ""))
    }

    func protocolVersions(for peer: Peer?) throws(DBusError) -> [UInt32] { [1] }
    func description(for peer: Peer?) throws(DBusError) -> String { "A stand-in." }
    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 { 1 }
    func strength(for peer: Peer?) throws(DBusError) -> String { "strong" }
    func present(for peer: Peer?) throws(DBusError) -> Bool { true }
    func unavailability(for peer: Peer?) throws(DBusError) -> String { "" }
    func enrollStages(for peer: Peer?) throws(DBusError) -> Int32 { 1 }
    func instructions(for peer: Peer?) throws(DBusError) -> [String: String] { [:] }
    func maxTemplates(for peer: Peer?) throws(DBusError) -> UInt32 { 0 }
}

/// Runs a daemon with logind, a sensor and an agent.
///
/// Logind and the client share a connection, so the daemon receives logind's messages before the
/// next call.
@BusActor final class SessionBench {
    let bus: PrivateBus
    let logind: StandInLogind
    let session: StandInSession
    let agent: StandInAgent
    let simulated: SimulatedSensor1Proxy
    private let daemon: TestDaemon

    /// Creates the bench with a single session, local by default, which has the user's agent.
    init(
        startsLogind: Bool = true,
        isRemote: Bool = false,
        isAsleep: Bool = false,
        terminal: String = "",
        type: String = "tty",
        configuration: String = ""
    )
        async throws
    {
        bus = try PrivateBus()
        logind = try StandInLogind(bus)
        try await bus.letForgedRepliesThrough()
        logind.replies = try RawClient(bus.address)
        session = StandInSession("c1", at: logind, isRemote: isRemote)
        (session.terminal, session.type) = (terminal, type)
        logind.current = session
        logind.display = session
        logind.isPreparingForSleep = isAsleep
        if startsLogind { try logind.start() }
        let client = logind.connection
        agent = StandInAgent(client)
        try await bus.startVerifier()
        daemon = try await TestDaemon(on: bus, configuration: configuration)
        try bus.start(["localauth-sensor-simulated"])
        try await bus.waitForOwner(of: TestDaemon.sensorName)
        simulated = SimulatedSensor1Proxy(
            client,
            destination: TestDaemon.sensorName,
            path: StandInSensor.path
        )
        _ = try await simulated.addTemplate(uid: getuid(), label: "finger")
        let reason = isAsleep ? "suspended" : isRemote ? "remote-session" : ""
        try await device("Simulated", becomes: reason)
        client.export(Self.agentPath, [Agent1Interface(agent)])
    }

    nonisolated static let agentPath = ObjectPath(trusted: "/agent")

    var process: ChildProcess { daemon.process }
    var owner: String { daemon.owner }
    var manager: Authentication1Proxy { daemon.manager(logind.connection) }

    /// Kills the daemon and starts it again, without a registered agent.
    func restartDaemon(_ meanwhile: @BusActor () -> Void = {}) async throws {
        try await daemon.stop()
        meanwhile()
        try await daemon.start()
    }

    func registerAgent(_ options: [String: Variant] = [:]) async throws {
        _ = try await manager.registerAgent(agent: Self.agentPath, options: options)
    }

    func context(_ properties: [String: Variant]) async throws -> Context1Proxy {
        let path = try await manager.createContext(properties: properties)
        return Context1Proxy(logind.connection, destination: owner, path: path)
    }

    func device(_ name: String) -> Device1Proxy {
        daemon.device(name, on: logind.connection)
    }

    /// Waits until clients see a sensor unavailable for this reason; empty: available.
    func device(_ name: String, becomes reason: String) async throws {
        let device = device(name)
        try await eventually("\(name) to be '\(reason)'") {
            (try? await device.unavailability()) == reason
        }
    }

    /// Waits until the caller can or can't be prompted.
    func becomes(interactive: Bool) async throws {
        try await eventually("a prompt to be possible: \(interactive)") {
            try await self.manager.interactive() == interactive
        }
    }

    /// Starts an enrolled companion, which clients see unavailable for this reason.
    func startCompanion(becoming reason: String) async throws {
        try bus.start(["localauth-sensor-simulated", "--name", "Key", "--type", "companion"])
        try await device("Key", becomes: reason)
        let key = SimulatedSensor1Proxy(
            logind.connection,
            destination: "org.localauth.Sensor1.Key",
            path: StandInSensor.path
        )
        _ = try await key.addTemplate(uid: getuid(), label: "key")
    }

    /// Starts an evaluation, and waits until `sensors` sensors look.
    func evaluation(
        policy: UInt32 = 1,
        sensors: Int = 1
    ) async throws -> StreamingCall<[String: Variant]> {
        let call = try manager.evaluateStream(policy: policy, reason: "test", options: [:])
        var looking = 0
        for await event in call.events where event.kind == "sensor-ready" {
            looking += 1
            if looking == sensors { return call }
        }
        _ = try await call.reply()
        return call
    }

    /// Turns the sensor into a face sensor, and starts an evaluation that waits for confirmation.
    func evaluationOfFace() async throws -> StreamingCall<[String: Variant]> {
        try await simulated.setBiometryType(biometryType: 2)
        try await eventually("a face sensor that can be used") {
            let type = try await self.manager.biometryType()
            let code = try await self.manager.canEvaluate(policy: 1).code
            return type == 2 && code == 0
        }
        try await simulated.queue(outcomes: ["match"])
        let call = try manager.evaluateStream(
            policy: 1,
            reason: "test",
            options: ["require-confirmation": .bool(true)]
        )
        for await event in call.events where event.kind == "confirmation-required" { return call }
        _ = try await call.reply()
        return call
    }

    /// Starts an evaluation that has its match, and waits until it requests the app's password.
    func evaluation(
        withPasswordIn context: Context1Proxy
    ) async throws -> StreamingCall<[String: Variant]> {
        let biometryAndPassword: UInt64 = 1 << 1 | 1 << 31
        try await simulated.queue(outcomes: ["match"])
        let call = try context.evaluateAccessControlStream(
            accessControl: ["flags": .uint64(biometryAndPassword)],
            operation: 1,
            reason: "test",
            options: [:]
        )
        _ = await agent.passwords.next()
        return call
    }

    /// Waits for an evaluation's end; returns the error, or nil on success.
    func end(of call: StreamingCall<[String: Variant]>) async -> DBusError? {
        do throws(DBusError) {
            _ = try await call.reply()
            return nil
        } catch {
            return error
        }
    }

    func evaluate(policy: UInt32 = 1) async -> DBusError? {
        do throws(DBusError) {
            _ = try await manager.evaluate(policy: policy, reason: "test", options: [:])
            return nil
        } catch {
            return error
        }
    }

    /// Why no prompt is possible for the test's process; empty: a prompt is possible.
    ///
    /// Also checks that `Interactive` agrees.
    func absence() async throws -> String {
        let answer = try await manager.canInteract()
        // The daemon knows the answer from here on.
        try await eventually("Interactive to say \(answer.available)") {
            try await self.manager.interactive() == answer.available
        }
        return answer.cause
    }

    /// Evaluates with a match; returns the error, or nil on success.
    func evaluateWithMatch() async throws -> DBusError? {
        try await simulated.queue(outcomes: ["match"])
        return await evaluate()
    }
}
