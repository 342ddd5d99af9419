package import BusBench
package import DBus
import LocalAuthBus
import Sealing

/// An action of a prompt.
package enum PromptAct: Hashable, Sendable {
    case registered
    case unregistered
    /// The user canceled the prompt with this handle.
    case cancel(String)
    /// The user took the fallback.
    case fallback(String)
    /// The user confirmed a match.
    case confirm(String)
    /// A login password, unsealed to these bytes.
    case passcode(String, [UInt8])
    /// An item's own password, unsealed to these bytes.
    case password(String, [UInt8])
    /// A secret that is not sealed, or sealed for another key, prompt or caller.
    case unopened(String)
}

/// A stand-in for the service, which takes registrations and answers and unseals secrets.
@BusActor package final class StandInPromptService {
    /// All actions of the prompt, in order.
    package let acts = EventRecorder<PromptAct>()
    /// The error that RegisterAgent returns; nil to accept.
    package var refusal: DBusError?
    /// The error that SubmitPasscode and SubmitPassword return; nil to accept.
    package var submitRefusal: DBusError?
    /// The verifier's public key, which prompts receive.
    package var passcodeKey: [UInt8] { verifier.publicKey }
    /// The last registered agent.
    private(set) var agent: (peer: Peer, path: ObjectPath)?
    let connection: Connection
    private var verifier = SealingKey()
    private let service = SealingKey()
    private var prompts = 0

    private static let path = ObjectPath(trusted: "/org/localauth/Authentication1")

    /// Connects to the bus and takes the service's name.
    init(on bus: PrivateBus) throws {
        connection = try bus.connect()
        connection.export(Self.path, [Authentication1Interface(self)])
        connection.export(Keychain1.path, [PublishedKey(service.publicKey)])
        try connection.requestName(Authentication1.busName)
    }

    package func nextHandle() -> String {
        prompts += 1
        return "0123456789abcdef\(prompts)"
    }

    /// Simulates a restart of the verifier, which changes its key.
    package func renewPasscodeKey() { verifier = SealingKey() }

    func proxy() throws -> Agent1Proxy {
        guard let agent else { throw TestFailure("the prompt is not registered") }
        return Agent1Proxy(connection, destination: agent.peer.name, path: agent.path)
    }

    /// Records a submission and answers it.
    private func take(
        _ prompt: String,
        _ secret: SecretBytes?,
        _ act: (String, [UInt8]) -> PromptAct,
        _ call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        try admit(call)
        let bytes = secret?.use { $0 }
        acts.record(bytes.map { act(prompt, $0) } ?? .unopened(prompt))
        if let submitRefusal { throw submitRefusal }
        return .now(())
    }

    /// Refuses all connections but the registered agent's.
    private func admit(_ call: IncomingCall) throws(DBusError) {
        guard call.peer.name == agent?.peer.name else {
            throw DBusError(.accessDenied, "Only the agent may answer its prompt.")
        }
    }
}

extension StandInPromptService: Authentication1Service {
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
        try admit(call)
        acts.record(.cancel(prompt))
        return .now(())
    }

    package func submitFallback(
        prompt: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        try admit(call)
        acts.record(.fallback(prompt))
        return .now(())
    }

    package func submitConfirm(
        prompt: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        try admit(call)
        acts.record(.confirm(prompt))
        return .now(())
    }

    package func submitPasscode(
        prompt: String,
        sealed: [UInt8],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let secret = verifier.open(sealed, for: .passcode, of: prompt)
        return try take(prompt, secret, PromptAct.passcode, call)
    }

    package func submitPassword(
        prompt: String,
        password: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> {
        let isSealed = options["sealed"]?.asBool == true
        let secret = service.open(password, for: .keychain, of: call.peer.name)
        return try take(prompt, isSealed ? secret : nil, PromptAct.password, call)
    }

    // MARK: Unused members

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

/// A keychain object that publishes only its `SealingKey`.
package struct PublishedKey: ServedInterface {
    package nonisolated static let description = Keychain1Interface.description

    private let key: [UInt8]

    package init(_ key: [UInt8]) { self.key = key }

    /// Refuses every call.
    package func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        throw DBusError(.notSupported, "There is no keychain here.")
    }

    package func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        try writer.write(key)
    }

    package func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}
