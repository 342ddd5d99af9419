// Made by scripts/dbus-codegen from dbus/org.localauth.Authentication1.xml. Do not edit.
// swift-format-ignore-file
public import DBus

/// The names of `org.localauth.Authentication1`.
public enum Authentication1: BusInterface {
    /// The name of the interface.
    public static let interface = "org.localauth.Authentication1"
    /// The path of the object with it.
    public static let path = ObjectPath(trusted: "/org/localauth/Authentication1")
    /// The bus name of the program with the object.
    public static let busName = "org.localauth.Authentication1"
}

/// Asks whether the person at the machine is its owner.
/// The page org.localauth.Authentication1(5) has all of it.
@BusActor
public protocol Authentication1Service: AnyObject {
    /// Returns whether a policy can be evaluated, without a prompt.
    func canEvaluate(policy: UInt32,
        call: IncomingCall) throws(DBusError) -> Answer<(available: Bool, code: Int32,
        message: String)>
    /// Authenticates the person once, in a context that lives for this call.
    func evaluate(policy: UInt32, reason: String, options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<[String: Variant]>
    /// Returns whether Evaluate would show this caller a prompt, and the cause if not.
    func canInteract(call: IncomingCall) throws(DBusError) -> Answer<(available: Bool,
        cause: String, message: String, remedy: String)>
    /// Ends every one-shot evaluation of this caller.
    func invalidate(call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Creates a context that only this connection sees and calls.
    func createContext(properties: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<ObjectPath>
    /// Registers the object of this caller that shows prompts (`org.localauth.Agent1`).
    func registerAgent(agent: ObjectPath, options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<String>
    /// Withdraws an agent of this caller.
    func unregisterAgent(agent: ObjectPath, call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Reports that the person pressed the cancel button of a prompt.
    func submitCancel(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Reports that the person pressed the fallback button of a prompt.
    func submitFallback(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Reports that the person confirmed a match of a passive sensor.
    func submitConfirm(prompt: String, call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Submits an attempt at the login password, sealed to the verifier.
    func submitPasscode(prompt: String, sealed: [UInt8],
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Submits the app's own password, in the stage `application-password`.
    func submitPassword(prompt: String, password: [UInt8], options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Refuses biometry of a user until the next correct password (remote lock).
    func requirePasscode(uid: UInt32, cause: String,
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Reports that a user unlocked the device outside of this service.
    func reportUnlock(uid: UInt32, method: String,
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Sends this caller the signal `Evaluated` until it leaves the bus.
    func monitor(options: [String: Variant], call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Checks the service's dependencies, for people and for scripts.
    func diagnose(call: IncomingCall) throws(DBusError) -> Answer<[[String: Variant]]>
    /// Version of the daemon, as in its `--version`.
    func version(for peer: Peer?) throws(DBusError) -> String
    /// Biometry type of the strongest known sensor, available or not.
    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32
    /// Biometry types of all known sensors, each once, in ascending order.
    func biometryTypes(for peer: Peer?) throws(DBusError) -> [UInt32]
    /// Whether Evaluate, called by this caller, would show a prompt: its session is in front and
    /// not locked, and has an agent.
    func interactive(for peer: Peer?) throws(DBusError) -> Bool
}

/// Serves `org.localauth.Authentication1` by a `Authentication1Service`, which it keeps.
public struct Authentication1Interface: ServedInterface {
    private let service: any Authentication1Service
    /// Makes the adapter of a service.
    public init(_ service: any Authentication1Service) { self.service = service }
    /// The members, with their docs.
    public nonisolated static let description = InterfaceDescription(
        name: Authentication1.interface,
        doc: "Asks whether the person at the machine is its owner.",
        methods: [
            .init("CanEvaluate", "u policy", "b available, i code, s message",
                "Returns whether a policy can be evaluated, without a prompt."),
            .init("Evaluate", "u policy, s reason, a{sv} options", "a{sv} result",
                "Authenticates the person once, in a context that lives for this call."),
            .init("CanInteract", "", "b available, s cause, s message, s remedy",
                "Returns whether Evaluate would show this caller a prompt, and the cause "
                    + "if not."),
            .init("Invalidate", "", "",
                "Ends every one-shot evaluation of this caller."),
            .init("CreateContext", "a{sv} properties", "o context",
                "Creates a context that only this connection sees and calls."),
            .init("RegisterAgent", "o agent, a{sv} options", "s session",
                "Registers the object of this caller that shows prompts "
                    + "(`org.localauth.Agent1`)."),
            .init("UnregisterAgent", "o agent", "",
                "Withdraws an agent of this caller."),
            .init("SubmitCancel", "s prompt", "",
                "Reports that the person pressed the cancel button of a prompt."),
            .init("SubmitFallback", "s prompt", "",
                "Reports that the person pressed the fallback button of a prompt."),
            .init("SubmitConfirm", "s prompt", "",
                "Reports that the person confirmed a match of a passive sensor."),
            .init("SubmitPasscode", "s prompt, ay sealed", "", isSensitive: true,
                "Submits an attempt at the login password, sealed to the verifier."),
            .init("SubmitPassword", "s prompt, ay password, a{sv} options", "", isSensitive: true,
                "Submits the app's own password, in the stage `application-password`."),
            .init("RequirePasscode", "u uid, s cause", "",
                "Refuses biometry of a user until the next correct password (remote "
                    + "lock)."),
            .init("ReportUnlock", "u uid, s method", "",
                "Reports that a user unlocked the device outside of this service."),
            .init("Monitor", "a{sv} options", "",
                "Sends this caller the signal `Evaluated` until it leaves the bus."),
            .init("Diagnose", "", "aa{sv} checks",
                "Checks the service's dependencies, for people and for scripts."),
        ],
        signals: [
            .init("Event", "s kind, a{sv} detail",
                "Progress of a one-shot evaluation, sent to its caller only."),
            .init("Evaluated", "a{sv} record",
                "Outcome of an evaluation, sent only to callers of Monitor."),
        ],
        properties: [
            .init("Version", "s", .constant,
                "Version of the daemon, as in its `--version`."),
            .init("BiometryType", "u", .value,
                "Biometry type of the strongest known sensor, available or not."),
            .init("BiometryTypes", "au", .value,
                "Biometry types of all known sensors, each once, in ascending order."),
            .init("Interactive", "b", .invalidates,
                "Whether Evaluate, called by this caller, would show a prompt: its "
                    + "session is in front and not locked, and has an agent."),
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
        case "CanInteract":
            try call.read("") { _ throws(DBusError) in }
            let answer = try service.canInteract(call: call)
            call.answer(answer, "bsss") { value, writer throws(DBusError) in
                try writer.write(value.available); try writer.write(value.cause)
                try writer.write(value.message); try writer.write(value.remedy)
            }
        case "Invalidate":
            try call.read("") { _ throws(DBusError) in }
            let answer = try service.invalidate(call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "CreateContext":
            let input = try call.read("a{sv}") { reader throws(DBusError) in
                try reader.read([String: Variant].self)
            }
            let answer = try service.createContext(properties: input, call: call)
            call.answer(answer, "o") { value, writer throws(DBusError) in try writer.write(value) }
        case "RegisterAgent":
            let input = try call.read("oa{sv}") { reader throws(DBusError) in
                (agent: try reader.read(ObjectPath.self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.registerAgent(agent: input.agent, options: input.options,
                call: call)
            call.answer(answer, "s") { value, writer throws(DBusError) in try writer.write(value) }
        case "UnregisterAgent":
            let input = try call.read("o") { reader throws(DBusError) in
                try reader.read(ObjectPath.self)
            }
            let answer = try service.unregisterAgent(agent: input, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "SubmitCancel":
            let input = try call.read("s") { reader throws(DBusError) in
                try reader.read(String.self)
            }
            let answer = try service.submitCancel(prompt: input, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "SubmitFallback":
            let input = try call.read("s") { reader throws(DBusError) in
                try reader.read(String.self)
            }
            let answer = try service.submitFallback(prompt: input, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "SubmitConfirm":
            let input = try call.read("s") { reader throws(DBusError) in
                try reader.read(String.self)
            }
            let answer = try service.submitConfirm(prompt: input, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "SubmitPasscode":
            let input = try call.read("say") { reader throws(DBusError) in
                (prompt: try reader.read(String.self), sealed: try reader.read([UInt8].self))
            }
            let answer = try service.submitPasscode(prompt: input.prompt, sealed: input.sealed,
                call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "SubmitPassword":
            let input = try call.read("saya{sv}") { reader throws(DBusError) in
                (prompt: try reader.read(String.self), password: try reader.read([UInt8].self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.submitPassword(prompt: input.prompt,
                password: input.password, options: input.options, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "RequirePasscode":
            let input = try call.read("us") { reader throws(DBusError) in
                (uid: try reader.read(UInt32.self), cause: try reader.read(String.self))
            }
            let answer = try service.requirePasscode(uid: input.uid, cause: input.cause, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "ReportUnlock":
            let input = try call.read("us") { reader throws(DBusError) in
                (uid: try reader.read(UInt32.self), method: try reader.read(String.self))
            }
            let answer = try service.reportUnlock(uid: input.uid, method: input.method, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "Monitor":
            let input = try call.read("a{sv}") { reader throws(DBusError) in
                try reader.read([String: Variant].self)
            }
            let answer = try service.monitor(options: input, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "Diagnose":
            try call.read("") { _ throws(DBusError) in }
            let answer = try service.diagnose(call: call)
            call.answer(answer, "aa{sv}") { value, writer throws(DBusError) in
                try writer.write(value)
            }
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }
    /// Writes the value of a property.
    public func get(_ property: String, for peer: Peer?, into writer: inout MessageWriter)
        throws(DBusError) {
        switch property {
        case "Version": try writer.write(service.version(for: peer))
        case "BiometryType": try writer.write(service.biometryType(for: peer))
        case "BiometryTypes": try writer.write(service.biometryTypes(for: peer))
        case "Interactive": try writer.write(service.interactive(for: peer))
        default: throw DBusError(.unknownProperty, "There is no such property.")
        }
    }
    /// Reads the new value of a property and hands it to the service.
    public func set(_ property: String, from reader: inout MessageReader, by peer: Peer)
        throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}

/// Sends the signals of `org.localauth.Authentication1` from one object.
public typealias Authentication1Signals = Signals<Authentication1>
extension Signals<Authentication1> {
    /// Progress of a one-shot evaluation, sent to its caller only.
    public func event(kind: String, detail: [String: Variant], to destination: String) {
        emit("Event", "sa{sv}", to: destination) { writer throws(DBusError) in
            try writer.write(kind); try writer.write(detail)
        }
    }
    /// Outcome of an evaluation, sent only to callers of Monitor.
    public func evaluated(record: [String: Variant], to destination: String) {
        emit("Evaluated", "a{sv}", to: destination) { writer throws(DBusError) in
            try writer.write(record)
        }
    }
}

/// Calls `org.localauth.Authentication1` of one object; the docs are at `Authentication1Service`.
public typealias Authentication1Proxy = Proxy<Authentication1>
extension Proxy<Authentication1> {
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
    /// Authenticates the person once, in a context that lives for this call.
    public func evaluate(policy: UInt32, reason: String, options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) -> [String: Variant] {
        try await call("Evaluate", "usa{sv}", "a{sv}", timeout) { writer throws(DBusError) in
            try writer.write(policy); try writer.write(reason); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([String: Variant].self) }
    }
    /// Starts `Evaluate` and follows its events until the reply.
    public func evaluateStream(policy: UInt32, reason: String, options: [String: Variant])
        throws(DBusError) -> StreamingCall<[String: Variant]> {
        try stream("Evaluate", "usa{sv}", "a{sv}", .call) { writer throws(DBusError) in
            try writer.write(policy); try writer.write(reason); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([String: Variant].self) }
    }
    /// Returns whether Evaluate would show this caller a prompt, and the cause if not.
    public func canInteract(timeout: Duration? = nil) async throws(DBusError)
        -> (available: Bool, cause: String, message: String, remedy: String) {
        try await call("CanInteract", "", "bsss", timeout) { _ throws(DBusError) in
        } read: { reader throws(DBusError) in
            (available: try reader.read(Bool.self), cause: try reader.read(String.self),
                message: try reader.read(String.self), remedy: try reader.read(String.self))
        }
    }
    /// Ends every one-shot evaluation of this caller.
    public func invalidate(timeout: Duration? = nil) async throws(DBusError) {
        try await call("Invalidate", "", "", timeout) { _ throws(DBusError) in
        } read: { _ throws(DBusError) in }
    }
    /// Sends `Invalidate` and asks for no reply.
    public func sendInvalidate() {
        send("Invalidate", "") { _ throws(DBusError) in }
    }
    /// Creates a context that only this connection sees and calls.
    public func createContext(properties: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) -> ObjectPath {
        try await call("CreateContext", "a{sv}", "o", timeout) { writer throws(DBusError) in
            try writer.write(properties)
        } read: { reader throws(DBusError) in try reader.read(ObjectPath.self) }
    }
    /// Registers the object of this caller that shows prompts (`org.localauth.Agent1`).
    public func registerAgent(agent: ObjectPath, options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) -> String {
        try await call("RegisterAgent", "oa{sv}", "s", timeout) { writer throws(DBusError) in
            try writer.write(agent); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read(String.self) }
    }
    /// Withdraws an agent of this caller.
    public func unregisterAgent(agent: ObjectPath,
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("UnregisterAgent", "o", "", timeout) { writer throws(DBusError) in
            try writer.write(agent)
        } read: { _ throws(DBusError) in }
    }
    /// Reports that the person pressed the cancel button of a prompt.
    public func submitCancel(prompt: String, timeout: Duration? = nil) async throws(DBusError) {
        try await call("SubmitCancel", "s", "", timeout) { writer throws(DBusError) in
            try writer.write(prompt)
        } read: { _ throws(DBusError) in }
    }
    /// Sends `SubmitCancel` and asks for no reply.
    public func sendSubmitCancel(prompt: String) {
        send("SubmitCancel", "s") { writer throws(DBusError) in try writer.write(prompt) }
    }
    /// Reports that the person pressed the fallback button of a prompt.
    public func submitFallback(prompt: String, timeout: Duration? = nil) async throws(DBusError) {
        try await call("SubmitFallback", "s", "", timeout) { writer throws(DBusError) in
            try writer.write(prompt)
        } read: { _ throws(DBusError) in }
    }
    /// Sends `SubmitFallback` and asks for no reply.
    public func sendSubmitFallback(prompt: String) {
        send("SubmitFallback", "s") { writer throws(DBusError) in try writer.write(prompt) }
    }
    /// Reports that the person confirmed a match of a passive sensor.
    public func submitConfirm(prompt: String, timeout: Duration? = nil) async throws(DBusError) {
        try await call("SubmitConfirm", "s", "", timeout) { writer throws(DBusError) in
            try writer.write(prompt)
        } read: { _ throws(DBusError) in }
    }
    /// Sends `SubmitConfirm` and asks for no reply.
    public func sendSubmitConfirm(prompt: String) {
        send("SubmitConfirm", "s") { writer throws(DBusError) in try writer.write(prompt) }
    }
    /// Submits an attempt at the login password, sealed to the verifier.
    public func submitPasscode(prompt: String, sealed: [UInt8],
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("SubmitPasscode", "say", "", isSensitive: true,
            timeout) { writer throws(DBusError) in
            try writer.write(prompt); try writer.write(sealed)
        } read: { _ throws(DBusError) in }
    }
    /// Sends `SubmitPasscode` and asks for no reply.
    public func sendSubmitPasscode(prompt: String, sealed: [UInt8]) {
        send("SubmitPasscode", "say", isSensitive: true) { writer throws(DBusError) in
            try writer.write(prompt); try writer.write(sealed)
        }
    }
    /// Submits the app's own password, in the stage `application-password`.
    public func submitPassword(prompt: String, password: [UInt8], options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("SubmitPassword", "saya{sv}", "", isSensitive: true,
            timeout) { writer throws(DBusError) in
            try writer.write(prompt); try writer.write(password); try writer.write(options)
        } read: { _ throws(DBusError) in }
    }
    /// Sends `SubmitPassword` and asks for no reply.
    public func sendSubmitPassword(prompt: String, password: [UInt8], options: [String: Variant]) {
        send("SubmitPassword", "saya{sv}", isSensitive: true) { writer throws(DBusError) in
            try writer.write(prompt); try writer.write(password); try writer.write(options)
        }
    }
    /// Refuses biometry of a user until the next correct password (remote lock).
    public func requirePasscode(uid: UInt32, cause: String,
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("RequirePasscode", "us", "", timeout) { writer throws(DBusError) in
            try writer.write(uid); try writer.write(cause)
        } read: { _ throws(DBusError) in }
    }
    /// Reports that a user unlocked the device outside of this service.
    public func reportUnlock(uid: UInt32, method: String,
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("ReportUnlock", "us", "", timeout) { writer throws(DBusError) in
            try writer.write(uid); try writer.write(method)
        } read: { _ throws(DBusError) in }
    }
    /// Sends this caller the signal `Evaluated` until it leaves the bus.
    public func monitor(options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("Monitor", "a{sv}", "", timeout) { writer throws(DBusError) in
            try writer.write(options)
        } read: { _ throws(DBusError) in }
    }
    /// Checks the service's dependencies, for people and for scripts.
    public func diagnose(timeout: Duration? = nil) async throws(DBusError) -> [[String: Variant]] {
        try await call("Diagnose", "", "aa{sv}", timeout) { _ throws(DBusError) in
        } read: { reader throws(DBusError) in try reader.read([[String: Variant]].self) }
    }
    /// Version of the daemon, as in its `--version`.
    public func version() async throws(DBusError) -> String { try await get("Version") }
    /// Biometry type of the strongest known sensor, available or not.
    public func biometryType() async throws(DBusError) -> UInt32 { try await get("BiometryType") }
    /// Biometry types of all known sensors, each once, in ascending order.
    public func biometryTypes() async throws(DBusError)
        -> [UInt32] { try await get("BiometryTypes") }
    /// Whether Evaluate, called by this caller, would show a prompt: its session is in front and
    /// not locked, and has an agent.
    public func interactive() async throws(DBusError) -> Bool { try await get("Interactive") }
    /// Progress of a one-shot evaluation, sent to its caller only.
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
    /// Outcome of an evaluation, sent only to callers of Monitor.
    public func onEvaluated(sender: String? = nil,
        _ body: @escaping @BusActor (_ record: [String: Variant]) -> Void)
        -> EventSource {
        subscribe("Evaluated", sender, broadcast: false) { message in
            let values = try? message.read("a{sv}") { reader throws(DBusError) in
                try reader.read([String: Variant].self)
            }
            if let values { body(values) }
        }
    }
}
