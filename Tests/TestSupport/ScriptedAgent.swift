public import BusBench
public import DBus
public import LocalAuthBus

/// A scripted user who answers every prompt as the test says.
@BusActor public final class ScriptedAgent: Agent1Service {
    /// The user's action when a prompt appears.
    public enum Act: Sendable {
        /// Leaves the prompt to the sensor.
        case wait
        case cancel
        case fallBack
        /// Types a text when the prompt asks for a password.
        case type(String)
    }

    public struct Prompt: Sendable {
        public let handle: String
        public let details: [String: Variant]
    }

    private static let path = ObjectPath(trusted: "/test/agent")

    public let connection: Connection
    /// The user's action for the current and later prompts.
    public var act = Act.wait
    public let prompts = EventRecorder<Prompt>()
    /// The outcome of each prompt.
    public let ends = EventRecorder<String>()
    /// The kinds of all progress reports.
    public let updates = EventRecorder<String>()
    private let answers: SealedAnswers

    /// Serves prompts on a new connection; call ``register()`` next.
    public convenience init(on bus: PrivateBus) throws(DBusError) {
        self.init(try bus.connect())
    }

    /// Serves prompts on this connection; call ``register()`` next.
    public init(_ connection: Connection) {
        self.connection = connection
        answers = SealedAnswers(connection)
        connection.export(Self.path, [Agent1Interface(self)])
    }

    /// Sets the user's next actions.
    public func will(_ act: Act) { self.act = act }

    /// Registers the agent with the daemon.
    public func register() async throws {
        _ = try await manager.registerAgent(agent: Self.path, options: [:])
    }

    /// A proxy of the daemon on the agent's connection.
    public var manager: Authentication1Proxy {
        Authentication1Proxy(connection, destination: TestDaemon.name, path: TestDaemon.root)
    }

    public func begin(
        prompt: String,
        details: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        answers.learn(prompt, details["stage"]?.asString, details)
        prompts.record(Prompt(handle: prompt, details: details))
        switch act {
        case .cancel: manager.sendSubmitCancel(prompt: prompt)
        case .type where details["stage"]?.asString != "biometry": type(into: prompt)
        case .fallBack, .wait, .type: break
        }
        return .now(())
    }

    public func update(
        prompt: String,
        kind: String,
        detail: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        answers.learn(prompt, kind, detail)
        updates.record(kind)
        switch (kind, act) {
        case ("fallback-available", .fallBack): manager.sendSubmitFallback(prompt: prompt)
        case ("confirmation-required", _): manager.sendSubmitConfirm(prompt: prompt)
        case ("passcode-required", .type), ("application-password-required", _):
            type(into: prompt)
        default: break
        }
        return .now(())
    }

    public func end(
        prompt: String,
        outcome: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        ends.record(outcome)
        return .now(())
    }

    /// Types the text after Begin or Update has been answered.
    private func type(into prompt: String) {
        guard case .type(let text) = act else { return }
        onLoop { [answers] in answers.type(text, into: prompt) }
    }

    public var count: Int { prompts.seen.count }

    /// Waits for the prompt with this index, from 0.
    public func prompt(_ number: Int = 0) async throws -> Prompt {
        _ = try await prompts.first("prompt \(number)", within: .seconds(60)) { _ in
            prompts.seen.count > number
        }
        return prompts.seen[number]
    }
}
