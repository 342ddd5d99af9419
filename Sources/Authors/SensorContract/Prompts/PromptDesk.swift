package import BusBench
package import DBus
import LocalAuthBus
import Sealing

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
    /// An attempt at the password of the login, which opens to these bytes.
    case passcode(String, [UInt8])
    /// An item's own password, which opens to these bytes.
    case password(String, [UInt8])
    /// A secret that is sealed for another key, prompt or caller, or not sealed.
    case unopened(String)
}

/// The service's side of a prompt: takes registrations and answers, and opens values sealed to the
/// verifier and to the service.
@BusActor package final class PromptDesk {
    /// Everything that the prompt did, in order.
    package let acts = Witness<PromptAct>()
    /// What RegisterAgent answers; nil: yes.
    package var refusal: DBusError?
    /// The answer to SubmitPasscode and SubmitPassword; nil: the desk takes them.
    package var submitRefusal: DBusError?
    /// The verifier's key, which is told to prompts.
    package var passcodeKey: [UInt8] { verifier.publicKey }
    /// Who registered last, and its object.
    private(set) var agent: (peer: Peer, path: ObjectPath)?
    let connection: Connection
    private var verifier = SealingKey()
    private let service = SealingKey()
    private var prompts = 0

    private static let path = ObjectPath(trusted: "/org/localauth/Authentication1")

    /// Serves on a connection of its own, and takes the service's name.
    init(on bus: PrivateBus) throws {
        connection = try bus.connect()
        connection.export(Self.path, [Authentication1Interface(self)])
        connection.export(Keychain1.path, [PublishedKey(service.publicKey)])
        try connection.requestName(Authentication1.busName)
    }

    /// A handle that no prompt had.
    package func nextHandle() -> String {
        prompts += 1
        return "0123456789abcdef\(prompts)"
    }

    /// A verifier comes back with another key.
    package func renewPasscodeKey() { verifier = SealingKey() }

    /// The prompt's object.
    func proxy() throws -> Agent1Proxy {
        guard let agent else { throw TestFailure("it is not registered") }
        return Agent1Proxy(connection, destination: agent.peer.name, path: agent.path)
    }

    /// Records a submission, and answers it.
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

    /// Only the connection that registered may answer a prompt.
    private func admit(_ call: IncomingCall) throws(DBusError) {
        guard call.peer.name == agent?.peer.name else {
            throw DBusError(.accessDenied, "Only the agent may answer its prompt.")
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

/// A keychain's object that only publishes its `SealingKey`.
package struct PublishedKey: ServedInterface {
    /// The members of the whole interface.
    package nonisolated static let description = Keychain1Interface.description

    private let key: [UInt8]

    /// Publishes a public key.
    package init(_ key: [UInt8]) { self.key = key }

    /// Refuses every call.
    package func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        throw DBusError(.notSupported, "There is no keychain here.")
    }

    /// Writes the key.
    package func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        try writer.write(key)
    }

    /// Refuses every value.
    package func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}
