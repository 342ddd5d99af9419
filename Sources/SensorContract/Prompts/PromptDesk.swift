package import BusBench
package import DBus
import Glibc
import Linux
import LocalAuthBus

/// What a prompt did.
package enum PromptAct: Hashable, Sendable {
    /// It registered.
    case registered
    /// It took its registration back.
    case unregistered
    /// Somebody pressed cancel in the prompt of this handle.
    case cancel(String)
    /// Somebody took the fallback.
    case fallback(String)
    /// Somebody confirmed.
    case confirm(String)
    /// A packet came on a channel, from the agent's own process or another one.
    case packet(channel: String, [UInt8], isOwn: Bool)
}

/// The service's side of a prompt: takes registrations and answers, and makes the channels.
@BusActor package final class PromptDesk {
    /// Everything that the prompt did, in order.
    package let acts = Witness<PromptAct>()
    /// What RegisterAgent answers; nil: yes.
    package var refusal: DBusError?
    /// Who registered last, and its object.
    private(set) var agent: (peer: Peer, path: ObjectPath)?
    let connection: Connection
    private var channels: [String: (end: OwnedDescriptor, watch: EventSource)] = [:]
    private var prompts = 0

    private static let path = ObjectPath(trusted: "/org/localauth/Authentication1")

    /// Serves on a connection of its own, and takes the service's name.
    init(on bus: PrivateBus) throws {
        connection = try bus.connect()
        connection.export(Self.path, [Authentication1Interface(self)])
        try connection.requestName(Authentication1.busName)
    }

    /// A handle that no prompt had.
    package func nextHandle() -> String {
        prompts += 1
        return "0123456789abcdef\(prompts)"
    }

    /// A new channel of this name; the agent's end of it.
    func open(_ name: String) throws -> OwnedDescriptor {
        close(name)
        let (ours, theirs) = try SocketPair.make()
        let watch = EventLoop.shared.watch(descriptor: ours.rawValue) { [weak self] in
            self?.receive(name)
        }
        channels[name] = (ours, watch)
        return theirs
    }

    /// Closes our end of a channel.
    package func close(_ name: String) { channels.removeValue(forKey: name)?.watch.cancel() }

    /// Reads what waits in all channels.
    func receiveAll() { for name in channels.keys.sorted() { while receive(name) {} } }

    /// The prompt's object.
    func proxy() throws -> Agent1Proxy {
        guard let agent else { throw TestFailure("it is not registered") }
        return Agent1Proxy(connection, destination: agent.peer.name, path: agent.path)
    }

    @discardableResult
    private func receive(_ name: String) -> Bool {
        guard let end = channels[name]?.end else { return false }
        switch SocketPair.peek(end) {
        case .none: return false
        case .closed:
            close(name)
            return false
        case .from(let pid, _):
            var packet = [UInt8](repeating: 0, count: 4096)
            let size = recv(end.rawValue, &packet, packet.count, Int32(MSG_DONTWAIT))
            guard size >= 0 else { return false }
            let isOwn = pid == agent?.peer.pid
            acts.record(.packet(channel: name, Array(packet[..<size]), isOwn: isOwn))
            return true
        }
    }
}

extension PromptDesk: Authentication1Service {
    package func registerAgent(
        agent path: ObjectPath,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> {
        let connection = connection
        return .later { () throws(DBusError) in
            let peer = try await connection.peer(named: call.peer.name)
            self.acts.record(.registered)
            if let refusal = self.refusal { throw refusal }
            self.agent = (peer, path)
            return "session"
        }
    }

    package func unregisterAgent(
        agent: ObjectPath,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        acts.record(.unregistered)
        return .now(())
    }

    package func submitCancel(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void>
    {
        acts.record(.cancel(prompt))
        return .now(())
    }

    package func submitFallback(
        prompt: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        acts.record(.fallback(prompt))
        return .now(())
    }

    package func submitConfirm(
        prompt: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        acts.record(.confirm(prompt))
        return .now(())
    }

    // MARK: What no prompt asks

    private func refuse() -> DBusError { DBusError(.notSupported, "This is a check of a prompt.") }

    package func canEvaluate(
        policy: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<(available: Bool, code: Int32, message: String)> {
        throw refuse()
    }

    package func canInteract(
        call: IncomingCall
    ) throws(DBusError) -> Answer<
        (available: Bool, cause: String, message: String, remedy: String)
    > {
        throw refuse()
    }

    package func evaluate(
        policy: UInt32,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[String: Variant]> {
        throw refuse()
    }

    package func invalidate(call: IncomingCall) throws(DBusError) -> Answer<Void> {
        throw refuse()
    }

    package func createContext(
        properties: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<ObjectPath> {
        throw refuse()
    }

    package func requirePasscode(
        uid: UInt32,
        cause: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        throw refuse()
    }

    package func reportUnlock(
        uid: UInt32,
        method: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        throw refuse()
    }

    package func monitor(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        throw refuse()
    }

    package func diagnose(call: IncomingCall) throws(DBusError) -> Answer<[[String: Variant]]> {
        throw refuse()
    }

    package func version(for peer: Peer?) throws(DBusError) -> String { "1.0.0" }
    package func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 { 1 }
    package func biometryTypes(for peer: Peer?) throws(DBusError) -> [UInt32] { [1] }
    package func interactive(for peer: Peer?) throws(DBusError) -> Bool { true }
}
