package import BusBench
package import DBus
import Glibc
import LocalAuthBus

/// A user with a prompt agent that types scripted text.
@BusActor
package final class Person: Agent1Service {
    package struct Prompt: Sendable {
        package let handle: String
        package let details: [String: Variant]
    }

    /// A received Update call.
    package struct Update: Equatable, Sendable {
        package let kind: String
        package let cause: String?
        /// The sensor concerned, and the program that uses it.
        package let sensor: String?
        package let by: String?
    }

    package static let path = ObjectPath(trusted: "/test/agent")

    package let connection: Connection
    package let peer: Peer
    /// The text typed into each prompt that begins with the login password; nil for none.
    package var passcode: String? = ScriptedVerifier.passcode
    /// Runs before Begin is answered; nil to answer at once.
    package var beforeAnswer: (@BusActor @Sendable () async -> Void)?
    /// The error that Begin returns; nil to show the prompt.
    package var refusal: DBusError?
    package let prompts = EventRecorder<Prompt>()
    /// Handles of refused prompts.
    package let refused = EventRecorder<String>()
    package let updates = EventRecorder<Update>()
    package let ends = EventRecorder<String>()
    private let answers: SealedAnswers

    /// Registers the agent; `isForProcess` limits it to this connection's process.
    package init(bus: PrivateBus, isForProcess: Bool = false) async throws {
        connection = try Self.connect(to: bus)
        answers = SealedAnswers(connection)
        peer = try await connection.peer(named: connection.uniqueName)
        connection.export(Self.path, [Agent1Interface(self)])
        let manager = Authentication1Proxy(
            connection,
            destination: TestDaemon.name,
            path: TestDaemon.root
        )
        let options: [String: Variant] =
            isForProcess ? ["process": .uint32(UInt32(clamping: peer.pid))] : [:]
        _ = try await manager.registerAgent(agent: Self.path, options: options)
    }

    /// Uses the long call timeout of the test bus's own connections.
    private static func connect(to bus: PrivateBus) throws -> Connection {
        let connection = try Connection(.address(address(bus)))
        connection.callTimeout = .seconds(120)
        return connection
    }

    /// The address for an ordinary user: root connects through a bridge with another uid.
    package static func address(_ bus: PrivateBus, uid: UInt32 = 65534) -> String {
        guard getuid() == 0 else { return bus.address }
        let path = bus.folder + "/bus"
        return "unixexec:path=/usr/bin/setpriv,argv0=setpriv,argv1=--reuid=\(uid),"
            + "argv2=--clear-groups,argv3=/usr/bin/systemd-stdio-bridge,"
            + "argv4=--bus-path=unix:path=\(path)"
    }

    package func begin(
        prompt: String,
        details: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        if let refusal {
            refused.record(prompt)
            throw refusal
        }
        let shown = Prompt(handle: prompt, details: details)
        answers.learn(prompt, details["stage"]?.asString, details)
        prompts.record(shown)
        guard let beforeAnswer else {
            typeOnceAnswered(shown)
            return .now(())
        }
        return .later { () throws(DBusError) in
            await beforeAnswer()
            self.typeOnceAnswered(shown)
        }
    }

    private func typeOnceAnswered(_ prompt: Prompt) {
        guard prompt.details["stage"]?.asString == "passcode", let passcode else { return }
        onLoop { self.enter(passcode, into: prompt) }
    }

    /// Waits for the prompt with this index, from 0.
    package func prompt(_ number: Int = 0) async throws -> Prompt {
        _ = try await prompts.first("prompt \(number)") { _ in prompts.seen.count > number }
        return prompts.seen[number]
    }

    /// Opens another connection of the user, on behalf of an app.
    package func app(_ bus: PrivateBus) throws -> Connection { try Self.connect(to: bus) }

    package func update(
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
        return .now(())
    }

    package func end(
        prompt: String,
        outcome: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        ends.record(outcome)
        return .now(())
    }

    /// Submits a text as the prompt's current stage requires, without waiting for a reply.
    package func enter(_ text: String, into prompt: Prompt) {
        answers.type(text, into: prompt.handle)
    }

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
