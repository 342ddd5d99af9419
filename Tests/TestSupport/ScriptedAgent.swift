public import BusBench
public import DBus
public import LocalAuthBus

/// A person who answers every prompt as the test says.
@BusActor public final class ScriptedAgent: Agent1Service {
    /// What the person does when a prompt appears.
    public enum Act: Sendable {
        /// Leaves it to the sensor.
        case wait
        /// Presses Cancel.
        case cancel
        /// Presses the fallback button as soon as it is offered.
        case fallBack
        /// Types something when a passcode or a password is asked for.
        case type(String)
    }

    /// One prompt.
    public struct Prompt: Sendable {
        /// What the daemon calls it.
        public let handle: String
        /// What it is about.
        public let details: [String: Variant]
    }

    private static let path = ObjectPath(trusted: "/test/agent")

    /// Where it serves.
    public let connection: Connection
    /// What the person does with this prompt and those that come.
    public var act = Act.wait
    /// Every prompt so far.
    public let prompts = Witness<Prompt>()
    /// How each prompt ended.
    public let ends = Witness<String>()
    /// What happened in the prompts.
    public let updates = Witness<String>()
    private let answers: SealedAnswers

    /// Serves prompts on a connection of its own, once it is registered.
    public convenience init(on bus: PrivateBus) throws(DBusError) {
        self.init(try bus.connect())
    }

    /// Serves prompts on this connection, once it is registered.
    public init(_ connection: Connection) {
        self.connection = connection
        answers = SealedAnswers(connection)
        connection.export(Self.path, [Agent1Interface(self)])
    }

    /// What the person does from now on.
    public func will(_ act: Act) { self.act = act }

    /// Has the daemon show its prompts here.
    public func register() async throws {
        _ = try await manager.registerAgent(agent: Self.path, options: [:])
    }

    /// The daemon as it calls it.
    public var manager: Authentication1Proxy {
        Authentication1Proxy(connection, destination: TestDaemon.name, path: TestDaemon.root)
    }

    /// A prompt appears.
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

    /// Something happens in a prompt.
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

    /// A prompt goes away.
    public func end(
        prompt: String,
        outcome: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        ends.record(outcome)
        return .now(())
    }

    /// Types once Begin or Update has been answered.
    private func type(into prompt: String) {
        guard case .type(let text) = act else { return }
        onLoop { [answers] in answers.type(text, into: prompt) }
    }

    /// How many prompts there were.
    public var count: Int { prompts.seen.count }

    /// The prompt that was shown as the `number`th, from 0.
    public func prompt(_ number: Int = 0) async throws -> Prompt {
        _ = try await prompts.first("prompt \(number)", within: .seconds(60)) { _ in
            prompts.seen.count > number
        }
        return prompts.seen[number]
    }
}
