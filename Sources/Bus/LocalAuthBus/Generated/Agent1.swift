// Made by scripts/dbus-codegen from dbus/org.localauth.Agent1.xml. Do not edit.
// swift-format-ignore-file
public import DBus

/// The names of `org.localauth.Agent1`.
public enum Agent1: BusInterface {
    /// The name of the interface.
    public static let interface = "org.localauth.Agent1"
}

/// A prompt agent: shows prompts and takes them down.
/// The page org.localauth.Agent1(5) has all of it.
@BusActor
public protocol Agent1Service: AnyObject {
    /// Shows a prompt.
    func begin(prompt: String, details: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Reports progress while a prompt is up.
    func update(prompt: String, kind: String, detail: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Takes a prompt down.
    func end(prompt: String, outcome: String, call: IncomingCall) throws(DBusError) -> Answer<Void>
}

/// Serves `org.localauth.Agent1` by a `Agent1Service`, which it keeps.
public struct Agent1Interface: ServedInterface {
    private let service: any Agent1Service
    /// Makes the adapter of a service.
    public init(_ service: any Agent1Service) { self.service = service }
    /// The members, with their docs.
    public nonisolated static let description = InterfaceDescription(
        name: Agent1.interface,
        doc: "A prompt agent: shows prompts and takes them down.",
        methods: [
            .init("Begin", "s prompt, a{sv} details", "",
                "Shows a prompt."),
            .init("Update", "s prompt, s kind, a{sv} detail", "",
                "Reports progress while a prompt is up."),
            .init("End", "s prompt, s outcome", "",
                "Takes a prompt down."),
        ],
        signals: [
        ],
        properties: [
        ]
    )
    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "Begin":
            let input = try call.read("sa{sv}") { reader throws(DBusError) in
                (prompt: try reader.read(String.self),
                    details: try reader.read([String: Variant].self))
            }
            let answer = try service.begin(prompt: input.prompt, details: input.details, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "Update":
            let input = try call.read("ssa{sv}") { reader throws(DBusError) in
                (prompt: try reader.read(String.self), kind: try reader.read(String.self),
                    detail: try reader.read([String: Variant].self))
            }
            let answer = try service.update(prompt: input.prompt, kind: input.kind,
                detail: input.detail, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "End":
            let input = try call.read("ss") { reader throws(DBusError) in
                (prompt: try reader.read(String.self), outcome: try reader.read(String.self))
            }
            let answer = try service.end(prompt: input.prompt, outcome: input.outcome, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }
    /// Writes the value of a property.
    public func get(_ property: String, for peer: Peer?, into writer: inout MessageWriter)
        throws(DBusError) {
        throw DBusError(.unknownProperty, "There is no such property.")
    }
    /// Reads the new value of a property and hands it to the service.
    public func set(_ property: String, from reader: inout MessageReader, by peer: Peer)
        throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}

/// Calls `org.localauth.Agent1` of one object; the docs are at `Agent1Service`.
public typealias Agent1Proxy = Proxy<Agent1>
extension Proxy<Agent1> {
    /// Shows a prompt.
    public func begin(prompt: String, details: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("Begin", "sa{sv}", "", timeout) { writer throws(DBusError) in
            try writer.write(prompt); try writer.write(details)
        } read: { _ throws(DBusError) in }
    }
    /// Reports progress while a prompt is up.
    public func update(prompt: String, kind: String, detail: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("Update", "ssa{sv}", "", timeout) { writer throws(DBusError) in
            try writer.write(prompt); try writer.write(kind); try writer.write(detail)
        } read: { _ throws(DBusError) in }
    }
    /// Sends `Update` and asks for no reply.
    public func sendUpdate(prompt: String, kind: String, detail: [String: Variant]) {
        send("Update", "ssa{sv}") { writer throws(DBusError) in
            try writer.write(prompt); try writer.write(kind); try writer.write(detail)
        }
    }
    /// Takes a prompt down.
    public func end(prompt: String, outcome: String,
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("End", "ss", "", timeout) { writer throws(DBusError) in
            try writer.write(prompt); try writer.write(outcome)
        } read: { _ throws(DBusError) in }
    }
    /// Sends `End` and asks for no reply.
    public func sendEnd(prompt: String, outcome: String) {
        send("End", "ss") { writer throws(DBusError) in
            try writer.write(prompt); try writer.write(outcome)
        }
    }
}
