package import DBus
import Glibc
package import Linux
import LocalAuthBus
import LocalAuthClient
package import SensorContract

/// A person who answers every prompt as the test says.
@BusActor package final class ScriptedAgent: Agent1Service {
    /// What the person does when a prompt appears.
    package enum Act: Sendable {
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
    package struct Prompt: Sendable {
        package let handle: String
        package let details: [String: Variant]
    }

    private static let path = ObjectPath(trusted: "/test/agent")

    package let connection: Connection
    /// What the person does with this prompt and those that come.
    package var act = Act.wait
    /// Every prompt so far.
    package let prompts = Witness<Prompt>()
    /// How each prompt ended.
    package let ends = Witness<String>()
    /// What happened in the prompts.
    package let updates = Witness<String>()
    private var channels: [String: OwnedDescriptor] = [:]

    package init(_ connection: Connection) {
        self.connection = connection
        connection.export(Self.path, [Agent1Interface(self)])
    }

    /// What the person does from now on.
    package func will(_ act: Act) { self.act = act }

    package func register() async throws {
        _ = try await manager.registerAgent(agent: Self.path, options: [:])
    }

    private var manager: Authentication1Proxy {
        Authentication1Proxy(connection, destination: RemoteService.name, path: RemoteService.path)
    }

    package func begin(
        prompt: String,
        details: [String: Variant],
        passcode: OwnedDescriptor,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        channels[prompt] = passcode
        prompts.record(Prompt(handle: prompt, details: details))
        switch act {
        case .cancel: manager.sendSubmitCancel(prompt: prompt)
        case .type where details["stage"]?.asString != "biometry": type(into: prompt)
        case .fallBack, .wait, .type: break
        }
        return .now(())
    }

    package func update(
        prompt: String,
        kind: String,
        detail: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        updates.record(kind)
        switch (kind, act) {
        case ("fallback-available", .fallBack): manager.sendSubmitFallback(prompt: prompt)
        case ("confirmation-required", _): manager.sendSubmitConfirm(prompt: prompt)
        case ("passcode-required", .type): type(into: prompt)
        default: break
        }
        return .now(())
    }

    package func end(
        prompt: String,
        outcome: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        channels[prompt] = nil
        ends.record(outcome)
        return .now(())
    }

    private func type(into prompt: String) {
        guard case .type(let text) = act, let channel = channels[prompt] else { return }
        let bytes = Array(text.utf8)
        _ = send(channel.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// How many prompts there were.
    package var count: Int { prompts.seen.count }

    /// The prompt that was shown as the `number`th, from 0.
    package func prompt(_ number: Int = 0) async throws -> Prompt {
        _ = try await prompts.first("prompt \(number)", within: .seconds(10)) { _ in
            prompts.seen.count > number
        }
        return prompts.seen[number]
    }
}

/// A passcode verifier for whom everybody has one passcode.
@BusActor package final class ScriptedVerifier: Passcode1Service {
    package nonisolated static let passcode = "horse battery 2468"

    package var isPasscodeSet = true

    package func isSet(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        .now(isPasscodeSet)
    }

    package func verify(
        uid: UInt32,
        socket: OwnedDescriptor,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> {
        var packet = [UInt8](repeating: 0, count: 256)
        let count = recv(socket.rawValue, &packet, packet.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { throw DBusError(.passcodeCanceled, "no packet came") }
        return .now(Array(packet.prefix(count)) == Array(Self.passcode.utf8))
    }
}
