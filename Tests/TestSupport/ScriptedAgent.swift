public import BusBench
public import DBus
public import LocalAuthBus

/// A scripted user who answers every prompt as the test says.
@BusActor public class ScriptedAgent: Agent1Service {
    /// The user's action when a prompt appears.
    public enum Act: Sendable {
        /// Only records calls.
        case watch
        /// Leaves the prompt to the sensor, and confirms a match.
        case wait
        case cancel
        case fallBack
        /// Types a text when the prompt asks for a password, and confirms a match.
        case type(String)
        /// Types a text into each prompt that begins with the login password.
        case open(String)
    }

    public struct Prompt: Sendable {
        public let handle: String
        public let details: [String: Variant]
    }

    /// A received Update call.
    public struct Update: Equatable, Sendable {
        public let kind: String
        public let cause: String?
        /// The sensor concerned, and the program that uses it.
        public let sensor: String?
        public let by: String?
    }

    package static let path = ObjectPath(trusted: "/test/agent")

    public let connection: Connection
    /// The user's action for the current and later prompts.
    public var act = Act.wait
    /// Runs before Begin is answered; nil to answer at once.
    package var beforeAnswer: (@BusActor @Sendable () async -> Void)?
    /// The error that Begin returns; nil to show the prompt.
    package var refusal: DBusError?
    public let prompts = EventRecorder<Prompt>()
    /// Handles of refused prompts.
    package let refused = EventRecorder<String>()
    /// All progress reports.
    public let updates = EventRecorder<Update>()
    /// The outcome of each prompt.
    public let ends = EventRecorder<String>()
    private let answers: SealedAnswers

    /// Serves prompts on a new connection; call ``register(_:)`` next.
    public convenience init(on bus: PrivateBus) throws(DBusError) {
        self.init(try bus.connect())
    }

    /// Serves prompts on this connection; call ``register(_:)`` next.
    public init(_ connection: Connection) {
        self.connection = connection
        answers = SealedAnswers(connection)
        connection.export(Self.path, [Agent1Interface(self)])
    }

    /// Sets the user's next actions.
    public func will(_ act: Act) { self.act = act }

    /// Registers the agent with the daemon.
    public func register(_ options: [String: Variant] = [:]) async throws {
        _ = try await manager.registerAgent(agent: Self.path, options: options)
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
        if let refusal {
            refused.record(prompt)
            throw refusal
        }
        let stage = details["stage"]?.asString
        answers.learn(prompt, stage, details)
        prompts.record(Prompt(handle: prompt, details: details))
        guard let beforeAnswer else {
            react(to: prompt, stage)
            return .now(())
        }
        return .later { () throws(DBusError) in
            await beforeAnswer()
            self.react(to: prompt, stage)
        }
    }

    private func react(to prompt: String, _ stage: String?) {
        switch act {
        case .cancel: manager.sendSubmitCancel(prompt: prompt)
        case .type(let text) where stage != "biometry": type(text, into: prompt)
        case .open(let text) where stage == "passcode": type(text, into: prompt)
        case .fallBack, .open, .type, .wait, .watch: break
        }
    }

    public func update(
        prompt: String,
        kind: String,
        detail: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        answers.learn(prompt, kind, detail)
        updates.record(
            Update(
                kind: kind,
                cause: detail["cause"]?.asString,
                sensor: detail["sensor"]?.asString,
                by: detail["by"]?.asString
            )
        )
        switch (kind, act) {
        case (_, .open), (_, .watch): break
        case ("fallback-available", .fallBack): manager.sendSubmitFallback(prompt: prompt)
        case ("confirmation-required", _): manager.sendSubmitConfirm(prompt: prompt)
        case ("passcode-required", .type(let text)),
            ("application-password-required", .type(let text)):
            type(text, into: prompt)
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

    /// Types a text after Begin or Update has been answered.
    private func type(_ text: String, into prompt: String) {
        onLoop { [answers] in answers.type(text, into: prompt) }
    }

    public var count: Int { prompts.seen.count }

    /// The handle of the latest prompt; empty before the first.
    package var last: String { prompts.seen.last?.handle ?? "" }

    /// Waits for the prompt with this index, from 0.
    public func prompt(_ number: Int = 0) async throws -> Prompt {
        _ = try await prompts.first("prompt \(number)") { _ in prompts.seen.count > number }
        return prompts.seen[number]
    }

    /// Waits for the outcome of the first prompt.
    package func end() async throws -> String { try await ends.first("an end") { _ in true } }

    /// Submits a text as the prompt's current stage requires, without waiting for a reply.
    package func enter(_ text: String, into prompt: Prompt) {
        answers.type(text, into: prompt.handle)
    }

    /// Submits a text to the latest prompt, without waiting for a reply.
    package func enter(_ text: String) { answers.type(text, into: last) }

    /// Submits a text as the login password.
    ///
    /// - Throws: The service's error.
    package func submit(passcode: String, into prompt: Prompt) async throws(DBusError) {
        try await answers.submit(passcode: passcode, into: prompt.handle)
    }

    /// Submits a text as an item's own password.
    ///
    /// - Throws: The service's error.
    package func submit(password: String, into prompt: Prompt) async throws(DBusError) {
        try await answers.submit(password: password, into: prompt.handle)
    }
}
