// Made by scripts/dbus-codegen from dbus/org.localauth.Device1.xml. Do not edit.
// swift-format-ignore-file
public import DBus

/// The names of `org.localauth.Device1`.
public enum Device1: BusInterface {
    /// The name of the interface.
    public static let interface = "org.localauth.Device1"
}

/// A sensor as callers see it: type, state and enrolled templates.
/// The page org.localauth.Device1(5) has all of it.
@BusActor
public protocol Device1Service: AnyObject {
    /// Lists the user's templates on this sensor.
    func listTemplates(options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<[Template]>
    /// Enrols a finger, a face or a companion; the reply is the id of the new template.
    func enroll(label: String, options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<String>
    /// Cancels the enrolment of this caller on this sensor.
    func cancelEnroll(call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Lists the additions that the sensor learned of the user since the enrolment.
    func listLearned(options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<[LearnedEntry]>
    /// Removes an addition that the sensor learned. The enrolled template and the domain state
    /// stay.
    func removeLearned(id: String, options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Gives a template another label.
    func renameTemplate(id: String, label: String, options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Removes a template for good.
    func removeTemplate(id: String, options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Removes all templates of the user on this sensor and returns their number.
    func removeAllTemplates(options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<UInt32>
    /// Name of the sensor: the last element of its bus name.
    func name(for peer: Peer?) throws(DBusError) -> String
    /// The sensor's own description for people, untrusted plain text.
    func description(for peer: Peer?) throws(DBusError) -> String
    /// Type of the sensor: 0 companion, 1 fingerprint, 2 face, 4 iris.
    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32
    /// Strength of a match as proof: `strong`, `weak` or `convenience`.
    func strength(for peer: Peer?) throws(DBusError) -> String
    /// Whether the sensor can take part in an evaluation.
    func available(for peer: Peer?) throws(DBusError) -> Bool
    /// Cause why the sensor is not available; empty for an available sensor.
    func unavailability(for peer: Peer?) throws(DBusError) -> String
    /// The sensor's own instruction for the person, by language: untrusted plain text, stripped, at
    /// most 80 characters. If empty, prompts show the instruction of the biometry type.
    func instructions(for peer: Peer?) throws(DBusError) -> [String: String]
    /// Number of stages of an enrolment; -1 unknown.
    func enrollStages(for peer: Peer?) throws(DBusError) -> Int32
}

/// Serves `org.localauth.Device1` by a `Device1Service`, which it keeps.
public struct Device1Interface: ServedInterface {
    private let service: any Device1Service
    /// Makes the adapter of a service.
    public init(_ service: any Device1Service) { self.service = service }
    /// The members, with their docs.
    public nonisolated static let description = InterfaceDescription(
        name: Device1.interface,
        doc: "A sensor as callers see it: type, state and enrolled templates.",
        methods: [
            .init("ListTemplates", "a{sv} options", "a(ssx) templates",
                "Lists the user's templates on this sensor."),
            .init("Enroll", "s label, a{sv} options", "s id",
                "Enrols a finger, a face or a companion; the reply is the id of the new "
                    + "template."),
            .init("CancelEnroll", "", "",
                "Cancels the enrolment of this caller on this sensor."),
            .init("ListLearned", "a{sv} options", "a(ssx) learned",
                "Lists the additions that the sensor learned of the user since the "
                    + "enrolment."),
            .init("RemoveLearned", "s id, a{sv} options", "",
                "Removes an addition that the sensor learned. The enrolled template and "
                    + "the domain state stay."),
            .init("RenameTemplate", "s id, s label, a{sv} options", "",
                "Gives a template another label."),
            .init("RemoveTemplate", "s id, a{sv} options", "",
                "Removes a template for good."),
            .init("RemoveAllTemplates", "a{sv} options", "u removed",
                "Removes all templates of the user on this sensor and returns their "
                    + "number."),
        ],
        signals: [
            .init("Event", "s kind, a{sv} detail",
                "Progress of an enrolment, sent to its caller only."),
        ],
        properties: [
            .init("Name", "s", .constant,
                "Name of the sensor: the last element of its bus name."),
            .init("Description", "s", .value,
                "The sensor's own description for people, untrusted plain text."),
            .init("BiometryType", "u", .value,
                "Type of the sensor: 0 companion, 1 fingerprint, 2 face, 4 iris."),
            .init("Strength", "s", .value,
                "Strength of a match as proof: `strong`, `weak` or `convenience`."),
            .init("Available", "b", .value,
                "Whether the sensor can take part in an evaluation."),
            .init("Unavailability", "s", .value,
                "Cause why the sensor is not available; empty for an available sensor."),
            .init("Instructions", "a{ss}", .value,
                "The sensor's own instruction for the person, by language: untrusted "
                    + "plain text, stripped, at most 80 characters. If empty, prompts show the "
                    + "instruction of the biometry type."),
            .init("EnrollStages", "i", .value,
                "Number of stages of an enrolment; -1 unknown."),
        ]
    )
    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "ListTemplates":
            let input = try call.read("a{sv}") { reader throws(DBusError) in
                try reader.read([String: Variant].self)
            }
            let answer = try service.listTemplates(options: input, call: call)
            call.answer(answer, "a(ssx)") { value, writer throws(DBusError) in
                try writer.write(value)
            }
        case "Enroll":
            let input = try call.read("sa{sv}") { reader throws(DBusError) in
                (label: try reader.read(String.self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.enroll(label: input.label, options: input.options, call: call)
            call.answer(answer, "s") { value, writer throws(DBusError) in try writer.write(value) }
        case "CancelEnroll":
            try call.read("") { _ throws(DBusError) in }
            let answer = try service.cancelEnroll(call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "ListLearned":
            let input = try call.read("a{sv}") { reader throws(DBusError) in
                try reader.read([String: Variant].self)
            }
            let answer = try service.listLearned(options: input, call: call)
            call.answer(answer, "a(ssx)") { value, writer throws(DBusError) in
                try writer.write(value)
            }
        case "RemoveLearned":
            let input = try call.read("sa{sv}") { reader throws(DBusError) in
                (id: try reader.read(String.self), options: try reader.read([String: Variant].self))
            }
            let answer = try service.removeLearned(id: input.id, options: input.options, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "RenameTemplate":
            let input = try call.read("ssa{sv}") { reader throws(DBusError) in
                (id: try reader.read(String.self), label: try reader.read(String.self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.renameTemplate(id: input.id, label: input.label,
                options: input.options, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "RemoveTemplate":
            let input = try call.read("sa{sv}") { reader throws(DBusError) in
                (id: try reader.read(String.self), options: try reader.read([String: Variant].self))
            }
            let answer = try service.removeTemplate(id: input.id, options: input.options,
                call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "RemoveAllTemplates":
            let input = try call.read("a{sv}") { reader throws(DBusError) in
                try reader.read([String: Variant].self)
            }
            let answer = try service.removeAllTemplates(options: input, call: call)
            call.answer(answer, "u") { value, writer throws(DBusError) in try writer.write(value) }
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }
    /// Writes the value of a property.
    public func get(_ property: String, for peer: Peer?, into writer: inout MessageWriter)
        throws(DBusError) {
        switch property {
        case "Name": try writer.write(service.name(for: peer))
        case "Description": try writer.write(service.description(for: peer))
        case "BiometryType": try writer.write(service.biometryType(for: peer))
        case "Strength": try writer.write(service.strength(for: peer))
        case "Available": try writer.write(service.available(for: peer))
        case "Unavailability": try writer.write(service.unavailability(for: peer))
        case "Instructions": try writer.write(service.instructions(for: peer))
        case "EnrollStages": try writer.write(service.enrollStages(for: peer))
        default: throw DBusError(.unknownProperty, "There is no such property.")
        }
    }
    /// Reads the new value of a property and hands it to the service.
    public func set(_ property: String, from reader: inout MessageReader, by peer: Peer)
        throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}

/// Sends the signals of `org.localauth.Device1` from one object.
public typealias Device1Signals = Signals<Device1>
extension Signals<Device1> {
    /// Progress of an enrolment, sent to its caller only.
    public func event(kind: String, detail: [String: Variant], to destination: String) {
        emit("Event", "sa{sv}", to: destination) { writer throws(DBusError) in
            try writer.write(kind); try writer.write(detail)
        }
    }
}

/// Calls `org.localauth.Device1` of one object; the docs are at `Device1Service`.
public typealias Device1Proxy = Proxy<Device1>
extension Proxy<Device1> {
    /// Lists the user's templates on this sensor.
    public func listTemplates(options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) -> [Template] {
        try await call("ListTemplates", "a{sv}", "a(ssx)", timeout) { writer throws(DBusError) in
            try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([Template].self) }
    }
    /// Enrols a finger, a face or a companion; the reply is the id of the new template.
    public func enroll(label: String, options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) -> String {
        try await call("Enroll", "sa{sv}", "s", timeout) { writer throws(DBusError) in
            try writer.write(label); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read(String.self) }
    }
    /// Starts `Enroll` and follows its events until the reply.
    public func enrollStream(label: String, options: [String: Variant])
        throws(DBusError) -> StreamingCall<String> {
        try stream("Enroll", "sa{sv}", "s", .path) { writer throws(DBusError) in
            try writer.write(label); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read(String.self) }
    }
    /// Cancels the enrolment of this caller on this sensor.
    public func cancelEnroll(timeout: Duration? = nil) async throws(DBusError) {
        try await call("CancelEnroll", "", "", timeout) { _ throws(DBusError) in
        } read: { _ throws(DBusError) in }
    }
    /// Sends `CancelEnroll` and asks for no reply.
    public func sendCancelEnroll() {
        send("CancelEnroll", "") { _ throws(DBusError) in }
    }
    /// Lists the additions that the sensor learned of the user since the enrolment.
    public func listLearned(options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) -> [LearnedEntry] {
        try await call("ListLearned", "a{sv}", "a(ssx)", timeout) { writer throws(DBusError) in
            try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read([LearnedEntry].self) }
    }
    /// Removes an addition that the sensor learned. The enrolled template and the domain state
    /// stay.
    public func removeLearned(id: String, options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("RemoveLearned", "sa{sv}", "", timeout) { writer throws(DBusError) in
            try writer.write(id); try writer.write(options)
        } read: { _ throws(DBusError) in }
    }
    /// Gives a template another label.
    public func renameTemplate(id: String, label: String, options: [String: Variant],
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("RenameTemplate", "ssa{sv}", "", timeout) { writer throws(DBusError) in
            try writer.write(id); try writer.write(label); try writer.write(options)
        } read: { _ throws(DBusError) in }
    }
    /// Removes a template for good.
    public func removeTemplate(id: String, options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) {
        try await call("RemoveTemplate", "sa{sv}", "", timeout) { writer throws(DBusError) in
            try writer.write(id); try writer.write(options)
        } read: { _ throws(DBusError) in }
    }
    /// Removes all templates of the user on this sensor and returns their number.
    public func removeAllTemplates(options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) -> UInt32 {
        try await call("RemoveAllTemplates", "a{sv}", "u", timeout) { writer throws(DBusError) in
            try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read(UInt32.self) }
    }
    /// Name of the sensor: the last element of its bus name.
    public func name() async throws(DBusError) -> String { try await get("Name") }
    /// The sensor's own description for people, untrusted plain text.
    public func description() async throws(DBusError) -> String { try await get("Description") }
    /// Type of the sensor: 0 companion, 1 fingerprint, 2 face, 4 iris.
    public func biometryType() async throws(DBusError) -> UInt32 { try await get("BiometryType") }
    /// Strength of a match as proof: `strong`, `weak` or `convenience`.
    public func strength() async throws(DBusError) -> String { try await get("Strength") }
    /// Whether the sensor can take part in an evaluation.
    public func available() async throws(DBusError) -> Bool { try await get("Available") }
    /// Cause why the sensor is not available; empty for an available sensor.
    public func unavailability() async throws(DBusError)
        -> String { try await get("Unavailability") }
    /// The sensor's own instruction for the person, by language: untrusted plain text, stripped, at
    /// most 80 characters. If empty, prompts show the instruction of the biometry type.
    public func instructions() async throws(DBusError)
        -> [String: String] { try await get("Instructions") }
    /// Number of stages of an enrolment; -1 unknown.
    public func enrollStages() async throws(DBusError) -> Int32 { try await get("EnrollStages") }
    /// Progress of an enrolment, sent to its caller only.
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
