// Made by scripts/dbus-codegen from dbus/org.localauth.Context1.xml. Do not edit.
// swift-format-ignore-file
public import DBus

/// The names of `org.localauth.Context1`.
public enum Context1: BusInterface {
    /// The name of the interface.
    public static let interface = "org.localauth.Context1"
}

/// A context: evaluations that remember what the person has already proved.
/// The page org.localauth.Context1(5) has all of it.
@BusActor
public protocol Context1Service: AnyObject {
    /// Returns whether a policy can be evaluated, without a prompt.
    func canEvaluate(policy: UInt32,
        call: IncomingCall) throws(DBusError) -> Answer<(available: Bool, code: Int32,
        message: String)>
    /// Authenticates the person, or answers at once if this context has a sufficient success.
    func evaluate(policy: UInt32, reason: String, options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<[String: Variant]>
    /// Authenticates the person for one operation on an item with that access control.
    func evaluateAccessControl(accessControl: [String: Variant], operation: UInt32,
        reason: String, options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<[String: Variant]>
    /// Gives the context a secret, so that no prompt asks for it.
    func setCredential(credentialType: Int32, secret: [UInt8], options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<Bool>
    /// Forgets a credential of the context.
    func clearCredential(credentialType: Int32,
        call: IncomingCall) throws(DBusError) -> Answer<Bool>
    /// Returns whether the context has a credential of that type.
    func isCredentialSet(credentialType: Int32,
        call: IncomingCall) throws(DBusError) -> Answer<Bool>
    /// Makes the context unusable.
    func invalidate(call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Removes the context object.
    func release(call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Title of the fallback button, for evaluations that start later.
    func localizedFallbackTitle(for peer: Peer?) throws(DBusError) -> String
    /// Sets `LocalizedFallbackTitle`.
    func setLocalizedFallbackTitle(_ value: String, by peer: Peer) throws(DBusError)
    /// Title of the cancel button, for evaluations that start later.
    func localizedCancelTitle(for peer: Peer?) throws(DBusError) -> String
    /// Sets `LocalizedCancelTitle`.
    func setLocalizedCancelTitle(_ value: String, by peer: Peer) throws(DBusError)
    /// Reason for prompts whose caller gave none, such as keychain reads with this context.
    func localizedReason(for peer: Peer?) throws(DBusError) -> String
    /// Sets `LocalizedReason`.
    func setLocalizedReason(_ value: String, by peer: Peer) throws(DBusError)
    /// Whether evaluations are answered with `org.localauth.Error.NotInteractive` instead of a
    /// prompt.
    func interactionNotAllowed(for peer: Peer?) throws(DBusError) -> Bool
    /// Sets `InteractionNotAllowed`.
    func setInteractionNotAllowed(_ value: Bool, by peer: Peer) throws(DBusError)
    /// Age of a biometric device unlock, in seconds, that replaces a prompt.
    func reuseDuration(for peer: Peer?) throws(DBusError) -> Double
    /// Sets `ReuseDuration`.
    func setReuseDuration(_ value: Double, by peer: Peer) throws(DBusError)
    /// Seconds for which a success stays with this context. A change also counts for earlier
    /// successes.
    func successDuration(for peer: Peer?) throws(DBusError) -> Double
    /// Sets `SuccessDuration`.
    func setSuccessDuration(_ value: Double, by peer: Peer) throws(DBusError)
    /// No effect; for callers that set it.
    func maxBiometryFailures(for peer: Peer?) throws(DBusError) -> UInt32
    /// Sets `MaxBiometryFailures`.
    func setMaxBiometryFailures(_ value: UInt32, by peer: Peer) throws(DBusError)
    /// Biometry type of the strongest known sensor, available or not.
    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32
    /// Enrolment state at the last biometric success of this context, 32 bytes; empty without a
    /// success.
    func evaluatedPolicyDomainState(for peer: Peer?) throws(DBusError) -> [UInt8]
    /// Current enrolment state, readable without CanEvaluate.
    func domainState(for peer: Peer?) throws(DBusError) -> [String: Variant]
}

/// Serves `org.localauth.Context1` by a `Context1Service`, which it keeps.
public struct Context1Interface: ServedInterface {
    private let service: any Context1Service
    /// Makes the adapter of a service.
    public init(_ service: any Context1Service) { self.service = service }
    /// The members, with their docs.
    public nonisolated static let description = InterfaceDescription(
        name: Context1.interface,
        doc: "A context: evaluations that remember what the person has already proved.",
        methods: [
            .init("CanEvaluate", "u policy", "b available, i code, s message",
                "Returns whether a policy can be evaluated, without a prompt."),
            .init("Evaluate", "u policy, s reason, a{sv} options", "a{sv} result",
                "Authenticates the person, or answers at once if this context has a "
                    + "sufficient success."),
            .init("EvaluateAccessControl",
                "a{sv} accessControl, u operation, s reason, a{sv} options", "a{sv} result",
                "Authenticates the person for one operation on an item with that access "
                    + "control."),
            .init("SetCredential", "i credentialType, ay secret, a{sv} options", "b accepted",
                isSensitive: true,
                "Gives the context a secret, so that no prompt asks for it."),
            .init("ClearCredential", "i credentialType", "b cleared",
                "Forgets a credential of the context."),
            .init("IsCredentialSet", "i credentialType", "b isSet",
                "Returns whether the context has a credential of that type."),
            .init("Invalidate", "", "",
                "Makes the context unusable."),
            .init("Release", "", "",
                "Removes the context object."),
        ],
        signals: [
            .init("Event", "s kind, a{sv} detail",
                "Progress of an evaluation, sent to the creator only."),
        ],
        properties: [
            .init("LocalizedFallbackTitle", "s", isWritable: true, .value,
                "Title of the fallback button, for evaluations that start later."),
            .init("LocalizedCancelTitle", "s", isWritable: true, .value,
                "Title of the cancel button, for evaluations that start later."),
            .init("LocalizedReason", "s", isWritable: true, .value,
                "Reason for prompts whose caller gave none, such as keychain reads with "
                    + "this context."),
            .init("InteractionNotAllowed", "b", isWritable: true, .value,
                "Whether evaluations are answered with "
                    + "`org.localauth.Error.NotInteractive` instead of a prompt."),
            .init("ReuseDuration", "d", isWritable: true, .value,
                "Age of a biometric device unlock, in seconds, that replaces a prompt."),
            .init("SuccessDuration", "d", isWritable: true, .value,
                "Seconds for which a success stays with this context. A change also "
                    + "counts for earlier successes."),
            .init("MaxBiometryFailures", "u", isWritable: true, .value,
                "No effect; for callers that set it."),
            .init("BiometryType", "u", .value,
                "Biometry type of the strongest known sensor, available or not."),
            .init("EvaluatedPolicyDomainState", "ay", .value,
                "Enrolment state at the last biometric success of this context, 32 bytes; "
                    + "empty without a success."),
            .init("DomainState", "a{sv}", .value,
                "Current enrolment state, readable without CanEvaluate."),
        ]
    )
    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "CanEvaluate":
            let input = try call.read("u") { reader throws(DBusError) in
                try reader.read(UInt32.self)
            }
            let answer = try service.canEvaluate(policy: input, call: call)
            call.answer(answer, "bis") { value, writer throws(DBusError) in
                try writer.write(value.available); try writer.write(value.code)
                try writer.write(value.message)
            }
        case "Evaluate":
            let input = try call.read("usa{sv}") { reader throws(DBusError) in
                (policy: try reader.read(UInt32.self), reason: try reader.read(String.self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.evaluate(policy: input.policy, reason: input.reason,
                options: input.options, call: call)
            call.answer(answer, "a{sv}") { value, writer throws(DBusError) in
                try writer.write(value)
            }
        case "EvaluateAccessControl":
            let input = try call.read("a{sv}usa{sv}") { reader throws(DBusError) in
                (accessControl: try reader.read([String: Variant].self),
                    operation: try reader.read(UInt32.self),
                    reason: try reader.read(String.self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.evaluateAccessControl(accessControl: input.accessControl,
                operation: input.operation, reason: input.reason, options: input.options,
                call: call)
            call.answer(answer, "a{sv}") { value, writer throws(DBusError) in
                try writer.write(value)
            }
        case "SetCredential":
            let input = try call.read("iaya{sv}") { reader throws(DBusError) in
                (credentialType: try reader.read(Int32.self),
                    secret: try reader.read([UInt8].self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.setCredential(credentialType: input.credentialType,
                secret: input.secret, options: input.options, call: call)
            call.answer(answer, "b") { value, writer throws(DBusError) in try writer.write(value) }
        case "ClearCredential":
            let input = try call.read("i") { reader throws(DBusError) in
                try reader.read(Int32.self)
            }
            let answer = try service.clearCredential(credentialType: input, call: call)
            call.answer(answer, "b") { value, writer throws(DBusError) in try writer.write(value) }
        case "IsCredentialSet":
            let input = try call.read("i") { reader throws(DBusError) in
                try reader.read(Int32.self)
            }
            let answer = try service.isCredentialSet(credentialType: input, call: call)
            call.answer(answer, "b") { value, writer throws(DBusError) in try writer.write(value) }
        case "Invalidate":
            try call.read("") { _ throws(DBusError) in }
            let answer = try service.invalidate(call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "Release":
            try call.read("") { _ throws(DBusError) in }
            let answer = try service.release(call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }
    /// Writes the value of a property.
    public func get(_ property: String, for peer: Peer?, into writer: inout MessageWriter)
        throws(DBusError) {
        switch property {
        case "LocalizedFallbackTitle": try writer.write(service.localizedFallbackTitle(for: peer))
        case "LocalizedCancelTitle": try writer.write(service.localizedCancelTitle(for: peer))
        case "LocalizedReason": try writer.write(service.localizedReason(for: peer))
        case "InteractionNotAllowed": try writer.write(service.interactionNotAllowed(for: peer))
        case "ReuseDuration": try writer.write(service.reuseDuration(for: peer))
        case "SuccessDuration": try writer.write(service.successDuration(for: peer))
        case "MaxBiometryFailures": try writer.write(service.maxBiometryFailures(for: peer))
        case "BiometryType": try writer.write(service.biometryType(for: peer))
        case "EvaluatedPolicyDomainState":
            try writer.write(service.evaluatedPolicyDomainState(for: peer))
        case "DomainState": try writer.write(service.domainState(for: peer))
        default: throw DBusError(.unknownProperty, "There is no such property.")
        }
    }
    /// Reads the new value of a property and hands it to the service.
    public func set(_ property: String, from reader: inout MessageReader, by peer: Peer)
        throws(DBusError) {
        switch property {
        case "LocalizedFallbackTitle":
            try service.setLocalizedFallbackTitle(reader.read(String.self), by: peer)
        case "LocalizedCancelTitle":
            try service.setLocalizedCancelTitle(reader.read(String.self), by: peer)
        case "LocalizedReason": try service.setLocalizedReason(reader.read(String.self), by: peer)
        case "InteractionNotAllowed":
            try service.setInteractionNotAllowed(reader.read(Bool.self), by: peer)
        case "ReuseDuration": try service.setReuseDuration(reader.read(Double.self), by: peer)
        case "SuccessDuration": try service.setSuccessDuration(reader.read(Double.self), by: peer)
        case "MaxBiometryFailures": try service.setMaxBiometryFailures(reader.read(UInt32.self),
            by: peer)
        default: throw DBusError(.propertyReadOnly, "The property is read-only.")
        }
    }
}

/// Sends the signals of `org.localauth.Context1` from one object.
public typealias Context1Signals = Signals<Context1>
extension Signals<Context1> {
    /// Progress of an evaluation, sent to the creator only.
    public func event(kind: String, detail: [String: Variant], to destination: String) {
        emit("Event", "sa{sv}", to: destination) { writer throws(DBusError) in
            try writer.write(kind); try writer.write(detail)
        }
    }
}

/// Calls `org.localauth.Context1` of one object; the docs are at `Context1Service`.
public typealias Context1Proxy = Proxy<Context1>
extension Proxy<Context1> {
    /// Returns whether a policy can be evaluated, without a prompt.
    public func canEvaluate(policy: UInt32,
        timeout: Duration? = nil) async throws(DBusError) -> (available: Bool, code: Int32,
        message: String) {
        try await call("CanEvaluate", "u", "bis", timeout) { writer throws(DBusError) in
            try writer.write(policy)
        } read: { reader throws(DBusError) in
            (available: try reader.read(Bool.self), code: try reader.read(Int32.self),
                message: try reader.read(String.self))
        }
    }
    /// Authenticates the person, or answers at once if this context has a sufficient success.
    public func evaluate(policy: UInt32, reason: String, options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) -> [String: Variant] {
        try await call("Evaluate", "usa{sv}", "a{sv}", timeout) { writer throws(DBusError) in
            try writer.write(policy); try writer.write(reason); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([String: Variant].self) }
    }
    /// Starts `Evaluate` and follows its events until the reply.
    public func evaluateStream(policy: UInt32, reason: String, options: [String: Variant])
        throws(DBusError) -> StreamingCall<[String: Variant]> {
        try stream("Evaluate", "usa{sv}", "a{sv}", .path) { writer throws(DBusError) in
            try writer.write(policy); try writer.write(reason); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([String: Variant].self) }
    }
    /// Authenticates the person for one operation on an item with that access control.
    public func evaluateAccessControl(accessControl: [String: Variant], operation: UInt32,
        reason: String, options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) -> [String: Variant] {
        try await call("EvaluateAccessControl", "a{sv}usa{sv}", "a{sv}",
            timeout) { writer throws(DBusError) in
            try writer.write(accessControl); try writer.write(operation)
            try writer.write(reason); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([String: Variant].self) }
    }
    /// Starts `EvaluateAccessControl` and follows its events until the reply.
    public func evaluateAccessControlStream(accessControl: [String: Variant], operation: UInt32,
        reason: String, options: [String: Variant])
        throws(DBusError) -> StreamingCall<[String: Variant]> {
        try stream("EvaluateAccessControl", "a{sv}usa{sv}", "a{sv}",
            .path) { writer throws(DBusError) in
            try writer.write(accessControl); try writer.write(operation)
            try writer.write(reason); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([String: Variant].self) }
    }
    /// Gives the context a secret, so that no prompt asks for it.
    public func setCredential(credentialType: Int32, secret: [UInt8], options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) -> Bool {
        try await call("SetCredential", "iaya{sv}", "b", isSensitive: true,
            timeout) { writer throws(DBusError) in
            try writer.write(credentialType); try writer.write(secret); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read(Bool.self) }
    }
    /// Forgets a credential of the context.
    public func clearCredential(credentialType: Int32,
        timeout: Duration? = nil) async throws(DBusError) -> Bool {
        try await call("ClearCredential", "i", "b", timeout) { writer throws(DBusError) in
            try writer.write(credentialType)
        } read: { reader throws(DBusError) in try reader.read(Bool.self) }
    }
    /// Returns whether the context has a credential of that type.
    public func isCredentialSet(credentialType: Int32,
        timeout: Duration? = nil) async throws(DBusError) -> Bool {
        try await call("IsCredentialSet", "i", "b", timeout) { writer throws(DBusError) in
            try writer.write(credentialType)
        } read: { reader throws(DBusError) in try reader.read(Bool.self) }
    }
    /// Makes the context unusable.
    public func invalidate(timeout: Duration? = nil) async throws(DBusError) {
        try await call("Invalidate", "", "", timeout) { _ throws(DBusError) in
        } read: { _ throws(DBusError) in }
    }
    /// Sends `Invalidate` and asks for no reply.
    public func sendInvalidate() {
        send("Invalidate", "") { _ throws(DBusError) in }
    }
    /// Removes the context object.
    public func release(timeout: Duration? = nil) async throws(DBusError) {
        try await call("Release", "", "", timeout) { _ throws(DBusError) in
        } read: { _ throws(DBusError) in }
    }
    /// Sends `Release` and asks for no reply.
    public func sendRelease() {
        send("Release", "") { _ throws(DBusError) in }
    }
    /// Title of the fallback button, for evaluations that start later.
    public func localizedFallbackTitle() async throws(DBusError)
        -> String { try await get("LocalizedFallbackTitle") }
    /// Sets `LocalizedFallbackTitle`.
    public func setLocalizedFallbackTitle(_ value: String) async throws(DBusError) {
        try await set("LocalizedFallbackTitle", to: value)
    }
    /// Title of the cancel button, for evaluations that start later.
    public func localizedCancelTitle() async throws(DBusError)
        -> String { try await get("LocalizedCancelTitle") }
    /// Sets `LocalizedCancelTitle`.
    public func setLocalizedCancelTitle(_ value: String) async throws(DBusError) {
        try await set("LocalizedCancelTitle", to: value)
    }
    /// Reason for prompts whose caller gave none, such as keychain reads with this context.
    public func localizedReason() async throws(DBusError)
        -> String { try await get("LocalizedReason") }
    /// Sets `LocalizedReason`.
    public func setLocalizedReason(_ value: String) async throws(DBusError) {
        try await set("LocalizedReason", to: value)
    }
    /// Whether evaluations are answered with `org.localauth.Error.NotInteractive` instead of a
    /// prompt.
    public func interactionNotAllowed() async throws(DBusError)
        -> Bool { try await get("InteractionNotAllowed") }
    /// Sets `InteractionNotAllowed`.
    public func setInteractionNotAllowed(_ value: Bool) async throws(DBusError) {
        try await set("InteractionNotAllowed", to: value)
    }
    /// Age of a biometric device unlock, in seconds, that replaces a prompt.
    public func reuseDuration() async throws(DBusError) -> Double { try await get("ReuseDuration") }
    /// Sets `ReuseDuration`.
    public func setReuseDuration(_ value: Double) async throws(DBusError) {
        try await set("ReuseDuration", to: value)
    }
    /// Seconds for which a success stays with this context. A change also counts for earlier
    /// successes.
    public func successDuration() async throws(DBusError)
        -> Double { try await get("SuccessDuration") }
    /// Sets `SuccessDuration`.
    public func setSuccessDuration(_ value: Double) async throws(DBusError) {
        try await set("SuccessDuration", to: value)
    }
    /// No effect; for callers that set it.
    public func maxBiometryFailures() async throws(DBusError)
        -> UInt32 { try await get("MaxBiometryFailures") }
    /// Sets `MaxBiometryFailures`.
    public func setMaxBiometryFailures(_ value: UInt32) async throws(DBusError) {
        try await set("MaxBiometryFailures", to: value)
    }
    /// Biometry type of the strongest known sensor, available or not.
    public func biometryType() async throws(DBusError) -> UInt32 { try await get("BiometryType") }
    /// Enrolment state at the last biometric success of this context, 32 bytes; empty without a
    /// success.
    public func evaluatedPolicyDomainState() async throws(DBusError)
        -> [UInt8] { try await get("EvaluatedPolicyDomainState") }
    /// Current enrolment state, readable without CanEvaluate.
    public func domainState() async throws(DBusError)
        -> [String: Variant] { try await get("DomainState") }
    /// Progress of an evaluation, sent to the creator only.
    public func onEvent(sender: String? = nil, _ body: @escaping @BusActor (_ kind: String,
        _ detail: [String: Variant]) -> Void)
        -> EventSource {
        subscribe("Event", sender, broadcast: false) { message in
            let values = try? message.read("sa{sv}") { reader throws(DBusError) in
                (kind: try reader.read(String.self),
                    detail: try reader.read([String: Variant].self))
            }
            if let values { body(values.kind, values.detail) }
        }
    }
}
