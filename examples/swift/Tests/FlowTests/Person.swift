import DBus
import Foundation
import Linux
import LocalAuthBus

/// A person who answers every prompt as the test says.
@BusActor final class Person: Agent1Service {
    /// What the person does when a prompt appears.
    enum Act: Sendable {
        /// Leaves it to the sensor.
        case wait
        /// Presses Cancel.
        case cancel
        /// Types something when it is asked for.
        case type(String)
    }

    private static let path = ObjectPath(trusted: "/example/agent")

    private let connection: Connection
    private var act = Act.wait
    /// How many prompts there were.
    private(set) var prompts = 0
    private var channels: [String: OwnedDescriptor] = [:]

    init(_ connection: Connection) {
        self.connection = connection
        connection.export(Self.path, [Agent1Interface(self)])
    }

    func register() async throws {
        _ = try await manager.registerAgent(agent: Self.path, options: [:])
    }

    func leave() { connection.close() }

    func will(_ act: Act) { self.act = act }

    private var manager: Authentication1Proxy {
        Authentication1Proxy(
            connection,
            destination: "org.localauth.Authentication1",
            path: ObjectPath(trusted: "/org/localauth/Authentication1")
        )
    }

    func begin(
        prompt: String,
        details: [String: Variant],
        passcode: OwnedDescriptor,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        prompts += 1
        channels[prompt] = passcode
        if case .cancel = act { manager.sendSubmitCancel(prompt: prompt) }
        if details["stage"] != .string("biometry") { type(into: prompt) }
        return .now(())
    }

    func update(
        prompt: String,
        kind: String,
        detail: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        if kind == "passcode-required" { type(into: prompt) }
        return .now(())
    }

    func end(
        prompt: String,
        outcome: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        channels[prompt] = nil
        return .now(())
    }

    private func type(into prompt: String) {
        guard case .type(let text) = act, let channel = channels[prompt] else { return }
        let bytes = Array(text.utf8)
        _ = send(channel.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
