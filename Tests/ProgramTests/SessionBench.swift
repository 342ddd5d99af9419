import DBus
import Foundation
import LocalAuthBus
import TestSupport

/// Plays a prompt agent that only looks on.
@BusActor final class StandInAgent: Agent1Service {
    /// The details of each prompt.
    let prompts = Feed<[String: Variant]>()
    /// How each prompt ended.
    let ends = Feed<String>()
    /// A value for each time that a prompt was to ask for the password of an app.
    let passwords = Feed<Void>()
    private(set) var last = ""
    /// How many prompts there were.
    private(set) var count = 0
    private let answers: SealedAnswers

    init(_ connection: Connection) { answers = SealedAnswers(connection) }

    /// Types into the last prompt.
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

    /// One value for each Cancel.
    let cancels = Feed<Void>()
    /// The templates of every user.
    var templates = ["one"]
    /// What happens when it is next asked for them, before the answer is made.
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

    /// Says that somebody's templates changed.
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

/// A daemon with logind, a sensor and an agent.
///
/// Logind's connection is the client's as well: what it tells, the daemon hears before the next
/// call.
@BusActor final class SessionBench {
    let bus: PrivateBus
    let logind: StandInLogind
    let session: StandInSession
    let agent: StandInAgent
    let simulated: SimulatedSensor1Proxy
    private let daemon: TestDaemon

    /// The one session is local unless it is said to be remote, and has the user's agent.
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
    /// The daemon's unique name.
    var owner: String { daemon.owner }
    var manager: Authentication1Proxy { daemon.manager(logind.connection) }

    /// Kills the daemon and starts it again; no agent is registered then.
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

    /// Waits until the caller could be prompted, or could not.
    func becomes(interactive: Bool) async throws {
        try await eventually("a prompt to be possible: \(interactive)") {
            try await self.manager.interactive() == interactive
        }
    }

    /// Starts a companion that is enrolled; clients see it unavailable for this reason.
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

    /// Starts an evaluation and waits until as many sensors look.
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

    /// Has the sensor look at faces, and starts an evaluation that waits until its match is
    /// confirmed.
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

    /// Starts an evaluation that has its match, and waits until it asks for the app's password.
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

    /// How an evaluation ends: the error's name and message, or nothing when it succeeds.
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

    /// Why nobody can be asked for the test's process; empty: somebody can.
    ///
    /// It is what `Interactive` says as well.
    func absence() async throws -> String {
        let answer = try await manager.canInteract()
        // Known from now on.
        try await eventually("Interactive to say \(answer.available)") {
            try await self.manager.interactive() == answer.available
        }
        return answer.cause
    }

    /// Whether one finger now is the user.
    func evaluateWithMatch() async throws -> DBusError? {
        try await simulated.queue(outcomes: ["match"])
        return await evaluate()
    }
}
