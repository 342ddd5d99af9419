import DBus
import Foundation
import LocalAuthBus
import TestSupport

extension ScriptedSensor {
    /// A fingerprint sensor with a template, for operations that the test ends.
    static func slow(on connection: Connection) throws(DBusError) -> ScriptedSensor {
        let sensor = ScriptedSensor("Slow", on: connection)
        (sensor.onCancel, sensor.isReadyAtOnce) = (.ignore, true)
        sensor.templates[getuid()] = [Template(id: "one", label: "finger", created: 0)]
        try sensor.appear()
        return sensor
    }
}

/// Runs a daemon with logind, a sensor and an agent.
///
/// Logind and the client share a connection, so the daemon receives logind's messages before the
/// next call.
@BusActor final class SessionBench {
    let bus: PrivateBus
    let logind: StandInLogind
    let session: StandInSession
    /// Only records its calls.
    let agent: ScriptedAgent
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
        agent = ScriptedAgent(client)
        agent.will(.watch)
        try await bus.startVerifier()
        daemon = try await TestDaemon(on: bus, configuration: configuration)
        try bus.start(["localauth-sensor-simulated"])
        try await bus.waitForOwner(of: TestDaemon.sensorName)
        simulated = SimulatedSensor1Proxy(
            client,
            destination: TestDaemon.sensorName,
            path: ScriptedSensor.path
        )
        _ = try await simulated.addTemplate(uid: getuid(), label: "finger")
        let reason = isAsleep ? "suspended" : isRemote ? "remote-session" : ""
        try await device("Simulated", becomes: reason)
    }

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
        try await agent.register(options)
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
            path: ScriptedSensor.path
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
        var asked: Int { agent.updates.seen.count { $0.kind == "application-password-required" } }
        let before = asked
        let call = try context.evaluateAccessControlStream(
            accessControl: ["flags": .uint64(biometryAndPassword)],
            operation: 1,
            reason: "test",
            options: [:]
        )
        _ = try await agent.updates.first("a password to be asked for") { _ in asked > before }
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

    func evaluate(policy: UInt32 = 1, _ options: [String: Variant] = [:]) async -> DBusError? {
        do throws(DBusError) {
            _ = try await manager.evaluate(policy: policy, reason: "test", options: options)
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
    func evaluateWithMatch(_ options: [String: Variant] = [:]) async throws -> DBusError? {
        try await simulated.queue(outcomes: ["match"])
        return await evaluate(policy: 1, options)
    }
}
