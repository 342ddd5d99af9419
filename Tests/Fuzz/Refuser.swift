import DBus
import LocalAuthBus

/// Serves every interface: decodes the arguments, and refuses every call.
@BusActor
final class Refuser {
    fileprivate static var refusal: DBusError { DBusError(.failed, "No.") }

    var interfaces: [any ServedInterface] {
        [
            Agent1Interface(self), Authentication1Interface(self), Context1Interface(self),
            Device1Interface(self), Keychain1Interface(self), Passcode1Interface(self),
            Sensor1Interface(self), SensorHost1Interface(self), SimulatedSensor1Interface(self),
        ]
    }
}

extension Refuser: Agent1Service {
    func begin(
        prompt: String,
        details: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func update(
        prompt: String,
        kind: String,
        detail: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func end(prompt: String, outcome: String, call: IncomingCall) throws(DBusError) -> Answer<Void>
    { throw Self.refusal }
}

extension Refuser: Authentication1Service {
    func canEvaluate(
        policy: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<(available: Bool, code: Int32, message: String)> {
        throw Self.refusal
    }
    func evaluate(
        policy: UInt32,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[String: Variant]> { throw Self.refusal }
    func canInteract(
        call: IncomingCall
    ) throws(DBusError) -> Answer<(available: Bool, cause: String, message: String, remedy: String)>
    { throw Self.refusal }
    func invalidate(call: IncomingCall) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func createContext(
        properties: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<ObjectPath> { throw Self.refusal }
    func registerAgent(
        agent: ObjectPath,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> { throw Self.refusal }
    func unregisterAgent(agent: ObjectPath, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        throw Self.refusal
    }
    func submitCancel(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        throw Self.refusal
    }
    func submitFallback(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        throw Self.refusal
    }
    func submitConfirm(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        throw Self.refusal
    }
    func submitPasscode(
        prompt: String,
        sealed: [UInt8],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func submitPassword(
        prompt: String,
        password: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func requirePasscode(
        uid: UInt32,
        cause: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func reportUnlock(
        uid: UInt32,
        method: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func monitor(options: [String: Variant], call: IncomingCall) throws(DBusError) -> Answer<Void> {
        throw Self.refusal
    }
    func diagnose(call: IncomingCall) throws(DBusError) -> Answer<[[String: Variant]]> {
        throw Self.refusal
    }
    func version(for peer: Peer?) throws(DBusError) -> String { throw Self.refusal }
    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32 { throw Self.refusal }
    func biometryTypes(for peer: Peer?) throws(DBusError) -> [UInt32] { throw Self.refusal }
    func interactive(for peer: Peer?) throws(DBusError) -> Bool { throw Self.refusal }
}

extension Refuser: Context1Service {
    func evaluateAccessControl(
        accessControl: [String: Variant],
        operation: UInt32,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[String: Variant]> { throw Self.refusal }
    func setCredential(
        credentialType: Int32,
        secret: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> { throw Self.refusal }
    func clearCredential(
        credentialType: Int32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> { throw Self.refusal }
    func isCredentialSet(
        credentialType: Int32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> { throw Self.refusal }
    func release(call: IncomingCall) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func localizedFallbackTitle(for peer: Peer?) throws(DBusError) -> String { throw Self.refusal }
    func setLocalizedFallbackTitle(_ value: String, by peer: Peer) throws(DBusError) {
        throw Self.refusal
    }
    func localizedCancelTitle(for peer: Peer?) throws(DBusError) -> String { throw Self.refusal }
    func setLocalizedCancelTitle(_ value: String, by peer: Peer) throws(DBusError) {
        throw Self.refusal
    }
    func localizedReason(for peer: Peer?) throws(DBusError) -> String { throw Self.refusal }
    func setLocalizedReason(_ value: String, by peer: Peer) throws(DBusError) { throw Self.refusal }
    func interactionNotAllowed(for peer: Peer?) throws(DBusError) -> Bool { throw Self.refusal }
    func setInteractionNotAllowed(_ value: Bool, by peer: Peer) throws(DBusError) {
        throw Self.refusal
    }
    func reuseDuration(for peer: Peer?) throws(DBusError) -> Double { throw Self.refusal }
    func setReuseDuration(_ value: Double, by peer: Peer) throws(DBusError) { throw Self.refusal }
    func successDuration(for peer: Peer?) throws(DBusError) -> Double { throw Self.refusal }
    func setSuccessDuration(_ value: Double, by peer: Peer) throws(DBusError) { throw Self.refusal }
    func maxBiometryFailures(for peer: Peer?) throws(DBusError) -> UInt32 { throw Self.refusal }
    func setMaxBiometryFailures(_ value: UInt32, by peer: Peer) throws(DBusError) {
        throw Self.refusal
    }
    func evaluatedPolicyDomainState(for peer: Peer?) throws(DBusError) -> [UInt8] {
        throw Self.refusal
    }
    func domainState(for peer: Peer?) throws(DBusError) -> [String: Variant] { throw Self.refusal }
}

extension Refuser: Device1Service {
    func listTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[Template]> { throw Self.refusal }
    func enroll(
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> { throw Self.refusal }
    func cancelEnroll(call: IncomingCall) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func listLearned(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[LearnedEntry]> { throw Self.refusal }
    func removeLearned(
        id: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func renameTemplate(
        id: String,
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func removeTemplate(
        id: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func removeAllTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<UInt32> { throw Self.refusal }
    func name(for peer: Peer?) throws(DBusError) -> String { throw Self.refusal }
    func description(for peer: Peer?) throws(DBusError) -> String { throw Self.refusal }
    func strength(for peer: Peer?) throws(DBusError) -> String { throw Self.refusal }
    func available(for peer: Peer?) throws(DBusError) -> Bool { throw Self.refusal }
    func unavailability(for peer: Peer?) throws(DBusError) -> String { throw Self.refusal }
    func instructions(for peer: Peer?) throws(DBusError) -> [String: String] { throw Self.refusal }
    func enrollStages(for peer: Peer?) throws(DBusError) -> Int32 { throw Self.refusal }
}

extension Refuser: Keychain1Service {
    func add(
        attributes: [String: Variant],
        secret: [UInt8],
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> { throw Self.refusal }
    func search(
        query: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[[String: Variant]]> { throw Self.refusal }
    func read(
        id: String,
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> { throw Self.refusal }
    func readMatching(
        query: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[[String: Variant]]> { throw Self.refusal }
    func update(
        id: String,
        attributes: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func setSecret(
        id: String,
        secret: [UInt8],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func delete(ids: [String], call: IncomingCall) throws(DBusError) -> Answer<UInt32> {
        throw Self.refusal
    }
    func createKey(
        attributes: [String: Variant],
        accessControl: [String: Variant],
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<(id: String, publicKey: [UInt8])> { throw Self.refusal }
    func sign(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> { throw Self.refusal }
    func decrypt(
        id: String,
        algorithm: String,
        data: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> { throw Self.refusal }
    func keyExchange(
        id: String,
        algorithm: String,
        publicKey: [UInt8],
        reason: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[UInt8]> { throw Self.refusal }
    func sealingKey(for peer: Peer?) throws(DBusError) -> [UInt8] { throw Self.refusal }
}

extension Refuser: Passcode1Service {
    func isSet(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        throw Self.refusal
    }
    func isRemoved(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        throw Self.refusal
    }
    func verify(
        uid: UInt32,
        prompt: String,
        sealed: [UInt8],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> { throw Self.refusal }
}

extension Refuser: Sensor1Service {
    func verify(
        operation: UInt64,
        uid: UInt32,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> { throw Self.refusal }
    func enroll(
        operation: UInt64,
        uid: UInt32,
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> { throw Self.refusal }
    func cancel(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        throw Self.refusal
    }
    func learn(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        throw Self.refusal
    }
    func listLearned(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<[LearnedEntry]> {
        throw Self.refusal
    }
    func removeLearned(
        uid: UInt32,
        id: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func listTemplates(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<[Template]> {
        throw Self.refusal
    }
    func renameTemplate(
        uid: UInt32,
        id: String,
        label: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func removeTemplate(
        uid: UInt32,
        id: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func removeAllTemplates(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<UInt32> {
        throw Self.refusal
    }
    func health(call: IncomingCall) throws(DBusError) -> Answer<(state: String, message: String)> {
        throw Self.refusal
    }
    func protocolVersions(for peer: Peer?) throws(DBusError) -> [UInt32] { throw Self.refusal }
    func present(for peer: Peer?) throws(DBusError) -> Bool { throw Self.refusal }
    func maxTemplates(for peer: Peer?) throws(DBusError) -> UInt32 { throw Self.refusal }
}

extension Refuser: SensorHost1Service {
    func noMatch(
        operation: UInt64,
        attempt: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<UInt32> { throw Self.refusal }
}

extension Refuser: SimulatedSensor1Service {
    func queue(outcomes: [String], call: IncomingCall) throws(DBusError) -> Answer<Void> {
        throw Self.refusal
    }
    func touch(matching: Bool, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        throw Self.refusal
    }
    func setPresent(present: Bool, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        throw Self.refusal
    }
    func setBiometryType(biometryType: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Void>
    { throw Self.refusal }
    func setStrength(strength: String, call: IncomingCall) throws(DBusError) -> Answer<Void> {
        throw Self.refusal
    }
    func addTemplate(
        uid: UInt32,
        label: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<String> { throw Self.refusal }
    func reset(call: IncomingCall) throws(DBusError) -> Answer<Void> { throw Self.refusal }
    func pending(for peer: Peer?) throws(DBusError) -> [String] { throw Self.refusal }
}
