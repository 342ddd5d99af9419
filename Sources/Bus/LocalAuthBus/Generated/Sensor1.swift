// Made by scripts/dbus-codegen from dbus/org.localauth.Sensor1.xml. Do not edit.
// swift-format-ignore-file
public import DBus

/// The names of `org.localauth.Sensor1`.
public enum Sensor1: BusInterface {
    /// The name of the interface.
    public static let interface = "org.localauth.Sensor1"
    /// The path of the object with it.
    public static let path = ObjectPath(trusted: "/org/localauth/Sensor1")
}

/// A sensor: looks for a match, enrols, and keeps its templates to itself.
/// The page org.localauth.Sensor1(5) has all of it.
@BusActor
public protocol Sensor1Service: AnyObject {
    /// Looks until a match, Cancel or a fault; the reply is the template that matched.
    func verify(operation: UInt64, uid: UInt32, options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<String>
    /// Enrols the user; the reply is the id of the new template.
    func enroll(operation: UInt64, uid: UInt32, label: String, options: [String: Variant],
        call: IncomingCall) throws(DBusError) -> Answer<String>
    /// Ends an operation; its reply is then `org.localauth.Sensor1.Error.Canceled`.
    func cancel(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Adds data of a match to the template that matched; the reply is whether the sensor added it.
    func learn(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Bool>
    /// Lists the additions that the sensor learned of a user.
    func listLearned(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<[LearnedEntry]>
    /// Removes an addition that the sensor learned, for good. The enrolled template and its id
    /// stay, and the sensor sends no TemplatesChanged.
    func removeLearned(uid: UInt32, id: String,
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Lists a user's templates.
    func listTemplates(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<[Template]>
    /// Gives a template another label and keeps its id.
    func renameTemplate(uid: UInt32, id: String, label: String,
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Removes a template for good, together with its learned additions.
    func removeTemplate(uid: UInt32, id: String,
        call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Removes all templates of a user and returns their number.
    func removeAllTemplates(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<UInt32>
    /// Returns the sensor's health, within 1 s, also during an operation.
    func health(call: IncomingCall) throws(DBusError) -> Answer<(state: String, message: String)>
    /// Versions of this protocol that the sensor speaks; this text is version 1.
    func protocolVersions(for peer: Peer?) throws(DBusError) -> [UInt32]
    /// Maker and model of the sensor, for people.
    func description(for peer: Peer?) throws(DBusError) -> String
    /// Type of the sensor: 0 companion, 1 fingerprint, 2 face, 4 iris.
    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32
    /// Strength of a match as proof: `strong`, `weak` or `convenience`.
    func strength(for peer: Peer?) throws(DBusError) -> String
    /// Whether the hardware is present.
    func present(for peer: Peer?) throws(DBusError) -> Bool
    /// Cause why the sensor cannot be used, by the names of `org.localauth.Device1`; empty for a
    /// usable sensor.
    func unavailability(for peer: Peer?) throws(DBusError) -> String
    /// Number of stages of an enrolment; -1 unknown.
    func enrollStages(for peer: Peer?) throws(DBusError) -> Int32
    /// Templates that the sensor can hold; 0 no limit.
    func maxTemplates(for peer: Peer?) throws(DBusError) -> UInt32
    /// The sensor's own instruction for the person, by language (`en`, `de`, `zh_CN`). Plain text
    /// of at most 80 characters without a full stop.
    func instructions(for peer: Peer?) throws(DBusError) -> [String: String]
}

/// Serves `org.localauth.Sensor1` by a `Sensor1Service`, which it keeps.
public struct Sensor1Interface: ServedInterface {
    private let service: any Sensor1Service
    /// Makes the adapter of a service.
    public init(_ service: any Sensor1Service) { self.service = service }
    /// The members, with their docs.
    public nonisolated static let description = InterfaceDescription(
        name: Sensor1.interface,
        doc: "A sensor: looks for a match, enrols, and keeps its templates to itself.",
        methods: [
            .init("Verify", "t operation, u uid, a{sv} options", "s template",
                "Looks until a match, Cancel or a fault; the reply is the template that "
                    + "matched."),
            .init("Enroll", "t operation, u uid, s label, a{sv} options", "s template",
                "Enrols the user; the reply is the id of the new template."),
            .init("Cancel", "t operation", "",
                "Ends an operation; its reply is then "
                    + "`org.localauth.Sensor1.Error.Canceled`."),
            .init("Learn", "t operation", "b learned",
                "Adds data of a match to the template that matched; the reply is whether "
                    + "the sensor added it."),
            .init("ListLearned", "u uid", "a(ssx) learned",
                "Lists the additions that the sensor learned of a user."),
            .init("RemoveLearned", "u uid, s id", "",
                "Removes an addition that the sensor learned, for good. The enrolled "
                    + "template and its id stay, and the sensor sends no TemplatesChanged."),
            .init("ListTemplates", "u uid", "a(ssx) templates",
                "Lists a user's templates."),
            .init("RenameTemplate", "u uid, s id, s label", "",
                "Gives a template another label and keeps its id."),
            .init("RemoveTemplate", "u uid, s id", "",
                "Removes a template for good, together with its learned additions."),
            .init("RemoveAllTemplates", "u uid", "u removed",
                "Removes all templates of a user and returns their number."),
            .init("Health", "", "s state, s message",
                "Returns the sensor's health, within 1 s, also during an operation."),
        ],
        signals: [
            .init("Event", "t operation, s kind, a{sv} detail",
                "Progress of an operation, sent to its caller only."),
            .init("TemplatesChanged", "u uid",
                "A user's set of templates changed, whichever program changed it."),
        ],
        properties: [
            .init("ProtocolVersions", "au", .constant,
                "Versions of this protocol that the sensor speaks; this text is version "
                    + "1."),
            .init("Description", "s", .value,
                "Maker and model of the sensor, for people."),
            .init("BiometryType", "u", .value,
                "Type of the sensor: 0 companion, 1 fingerprint, 2 face, 4 iris."),
            .init("Strength", "s", .value,
                "Strength of a match as proof: `strong`, `weak` or `convenience`."),
            .init("Present", "b", .value,
                "Whether the hardware is present."),
            .init("Unavailability", "s", .value,
                "Cause why the sensor cannot be used, by the names of "
                    + "`org.localauth.Device1`; empty for a usable sensor."),
            .init("EnrollStages", "i", .value,
                "Number of stages of an enrolment; -1 unknown."),
            .init("MaxTemplates", "u", .value,
                "Templates that the sensor can hold; 0 no limit."),
            .init("Instructions", "a{ss}", .value,
                "The sensor's own instruction for the person, by language (`en`, `de`, "
                    + "`zh_CN`). Plain text of at most 80 characters without a full stop."),
        ]
    )
    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "Verify":
            let input = try call.read("tua{sv}") { reader throws(DBusError) in
                (operation: try reader.read(UInt64.self), uid: try reader.read(UInt32.self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.verify(operation: input.operation, uid: input.uid,
                options: input.options, call: call)
            call.answer(answer, "s") { value, writer throws(DBusError) in try writer.write(value) }
        case "Enroll":
            let input = try call.read("tusa{sv}") { reader throws(DBusError) in
                (operation: try reader.read(UInt64.self), uid: try reader.read(UInt32.self),
                    label: try reader.read(String.self),
                    options: try reader.read([String: Variant].self))
            }
            let answer = try service.enroll(operation: input.operation, uid: input.uid,
                label: input.label, options: input.options, call: call)
            call.answer(answer, "s") { value, writer throws(DBusError) in try writer.write(value) }
        case "Cancel":
            let input = try call.read("t") { reader throws(DBusError) in
                try reader.read(UInt64.self)
            }
            let answer = try service.cancel(operation: input, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "Learn":
            let input = try call.read("t") { reader throws(DBusError) in
                try reader.read(UInt64.self)
            }
            let answer = try service.learn(operation: input, call: call)
            call.answer(answer, "b") { value, writer throws(DBusError) in try writer.write(value) }
        case "ListLearned":
            let input = try call.read("u") { reader throws(DBusError) in
                try reader.read(UInt32.self)
            }
            let answer = try service.listLearned(uid: input, call: call)
            call.answer(answer, "a(ssx)") { value, writer throws(DBusError) in
                try writer.write(value)
            }
        case "RemoveLearned":
            let input = try call.read("us") { reader throws(DBusError) in
                (uid: try reader.read(UInt32.self), id: try reader.read(String.self))
            }
            let answer = try service.removeLearned(uid: input.uid, id: input.id, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "ListTemplates":
            let input = try call.read("u") { reader throws(DBusError) in
                try reader.read(UInt32.self)
            }
            let answer = try service.listTemplates(uid: input, call: call)
            call.answer(answer, "a(ssx)") { value, writer throws(DBusError) in
                try writer.write(value)
            }
        case "RenameTemplate":
            let input = try call.read("uss") { reader throws(DBusError) in
                (uid: try reader.read(UInt32.self), id: try reader.read(String.self),
                    label: try reader.read(String.self))
            }
            let answer = try service.renameTemplate(uid: input.uid, id: input.id,
                label: input.label, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "RemoveTemplate":
            let input = try call.read("us") { reader throws(DBusError) in
                (uid: try reader.read(UInt32.self), id: try reader.read(String.self))
            }
            let answer = try service.removeTemplate(uid: input.uid, id: input.id, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "RemoveAllTemplates":
            let input = try call.read("u") { reader throws(DBusError) in
                try reader.read(UInt32.self)
            }
            let answer = try service.removeAllTemplates(uid: input, call: call)
            call.answer(answer, "u") { value, writer throws(DBusError) in try writer.write(value) }
        case "Health":
            try call.read("") { _ throws(DBusError) in }
            let answer = try service.health(call: call)
            call.answer(answer, "ss") { value, writer throws(DBusError) in
                try writer.write(value.state); try writer.write(value.message)
            }
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }
    /// Writes the value of a property.
    public func get(_ property: String, for peer: Peer?, into writer: inout MessageWriter)
        throws(DBusError) {
        switch property {
        case "ProtocolVersions": try writer.write(service.protocolVersions(for: peer))
        case "Description": try writer.write(service.description(for: peer))
        case "BiometryType": try writer.write(service.biometryType(for: peer))
        case "Strength": try writer.write(service.strength(for: peer))
        case "Present": try writer.write(service.present(for: peer))
        case "Unavailability": try writer.write(service.unavailability(for: peer))
        case "EnrollStages": try writer.write(service.enrollStages(for: peer))
        case "MaxTemplates": try writer.write(service.maxTemplates(for: peer))
        case "Instructions": try writer.write(service.instructions(for: peer))
        default: throw DBusError(.unknownProperty, "There is no such property.")
        }
    }
    /// Reads the new value of a property and hands it to the service.
    public func set(_ property: String, from reader: inout MessageReader, by peer: Peer)
        throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}

/// Sends the signals of `org.localauth.Sensor1` from one object.
public typealias Sensor1Signals = Signals<Sensor1>
extension Signals<Sensor1> {
    /// Progress of an operation, sent to its caller only.
    public func event(operation: UInt64, kind: String, detail: [String: Variant],
        to destination: String) {
        emit("Event", "tsa{sv}", to: destination) { writer throws(DBusError) in
            try writer.write(operation); try writer.write(kind); try writer.write(detail)
        }
    }
    /// A user's set of templates changed, whichever program changed it.
    public func templatesChanged(uid: UInt32, to destination: String? = nil) {
        emit("TemplatesChanged", "u", to: destination) { writer throws(DBusError) in
            try writer.write(uid)
        }
    }
}

/// Calls `org.localauth.Sensor1` of one object; the docs are at `Sensor1Service`.
public typealias Sensor1Proxy = Proxy<Sensor1>
extension Proxy<Sensor1> {
    /// Looks until a match, Cancel or a fault; the reply is the template that matched.
    public func verify(operation: UInt64, uid: UInt32, options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) -> String {
        try await call("Verify", "tua{sv}", "s", timeout) { writer throws(DBusError) in
            try writer.write(operation); try writer.write(uid); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read(String.self) }
    }
    /// Starts `Verify` and follows its events until the reply.
    public func verifyStream(operation: UInt64, uid: UInt32, options: [String: Variant])
        throws(DBusError) -> StreamingCall<String> {
        try stream("Verify", "tua{sv}", "s", .operation(operation)) { writer throws(DBusError) in
            try writer.write(operation); try writer.write(uid); try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read(String.self) }
    }
    /// Enrols the user; the reply is the id of the new template.
    public func enroll(operation: UInt64, uid: UInt32, label: String, options: [String: Variant],
        timeout: Duration? = Connection.noTimeout) async throws(DBusError) -> String {
        try await call("Enroll", "tusa{sv}", "s", timeout) { writer throws(DBusError) in
            try writer.write(operation); try writer.write(uid); try writer.write(label)
            try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read(String.self) }
    }
    /// Starts `Enroll` and follows its events until the reply.
    public func enrollStream(operation: UInt64, uid: UInt32, label: String,
        options: [String: Variant])
        throws(DBusError) -> StreamingCall<String> {
        try stream("Enroll", "tusa{sv}", "s", .operation(operation)) { writer throws(DBusError) in
            try writer.write(operation); try writer.write(uid); try writer.write(label)
            try writer.write(options)
        } read: { reader throws(DBusError) in try reader.read(String.self) }
    }
    /// Ends an operation; its reply is then `org.localauth.Sensor1.Error.Canceled`.
    public func cancel(operation: UInt64, timeout: Duration? = nil) async throws(DBusError) {
        try await call("Cancel", "t", "", timeout) { writer throws(DBusError) in
            try writer.write(operation)
        } read: { _ throws(DBusError) in }
    }
    /// Sends `Cancel` and asks for no reply.
    public func sendCancel(operation: UInt64) {
        send("Cancel", "t") { writer throws(DBusError) in try writer.write(operation) }
    }
    /// Adds data of a match to the template that matched; the reply is whether the sensor added it.
    public func learn(operation: UInt64, timeout: Duration? = nil) async throws(DBusError) -> Bool {
        try await call("Learn", "t", "b", timeout) { writer throws(DBusError) in
            try writer.write(operation)
        } read: { reader throws(DBusError) in try reader.read(Bool.self) }
    }
    /// Lists the additions that the sensor learned of a user.
    public func listLearned(uid: UInt32,
        timeout: Duration? = nil) async throws(DBusError) -> [LearnedEntry] {
        try await call("ListLearned", "u", "a(ssx)", timeout) { writer throws(DBusError) in
            try writer.write(uid)
        } read: { reader throws(DBusError) in try reader.read([LearnedEntry].self) }
    }
    /// Removes an addition that the sensor learned, for good. The enrolled template and its id
    /// stay, and the sensor sends no TemplatesChanged.
    public func removeLearned(uid: UInt32, id: String,
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("RemoveLearned", "us", "", timeout) { writer throws(DBusError) in
            try writer.write(uid); try writer.write(id)
        } read: { _ throws(DBusError) in }
    }
    /// Lists a user's templates.
    public func listTemplates(uid: UInt32,
        timeout: Duration? = nil) async throws(DBusError) -> [Template] {
        try await call("ListTemplates", "u", "a(ssx)", timeout) { writer throws(DBusError) in
            try writer.write(uid)
        } read: { reader throws(DBusError) in try reader.read([Template].self) }
    }
    /// Gives a template another label and keeps its id.
    public func renameTemplate(uid: UInt32, id: String, label: String,
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("RenameTemplate", "uss", "", timeout) { writer throws(DBusError) in
            try writer.write(uid); try writer.write(id); try writer.write(label)
        } read: { _ throws(DBusError) in }
    }
    /// Removes a template for good, together with its learned additions.
    public func removeTemplate(uid: UInt32, id: String,
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("RemoveTemplate", "us", "", timeout) { writer throws(DBusError) in
            try writer.write(uid); try writer.write(id)
        } read: { _ throws(DBusError) in }
    }
    /// Removes all templates of a user and returns their number.
    public func removeAllTemplates(uid: UInt32,
        timeout: Duration? = nil) async throws(DBusError) -> UInt32 {
        try await call("RemoveAllTemplates", "u", "u", timeout) { writer throws(DBusError) in
            try writer.write(uid)
        } read: { reader throws(DBusError) in try reader.read(UInt32.self) }
    }
    /// Returns the sensor's health, within 1 s, also during an operation.
    public func health(timeout: Duration? = nil) async throws(DBusError) -> (state: String,
        message: String) {
        try await call("Health", "", "ss", timeout) { _ throws(DBusError) in
        } read: { reader throws(DBusError) in
            (state: try reader.read(String.self), message: try reader.read(String.self))
        }
    }
    /// Versions of this protocol that the sensor speaks; this text is version 1.
    public func protocolVersions() async throws(DBusError)
        -> [UInt32] { try await get("ProtocolVersions") }
    /// Maker and model of the sensor, for people.
    public func description() async throws(DBusError) -> String { try await get("Description") }
    /// Type of the sensor: 0 companion, 1 fingerprint, 2 face, 4 iris.
    public func biometryType() async throws(DBusError) -> UInt32 { try await get("BiometryType") }
    /// Strength of a match as proof: `strong`, `weak` or `convenience`.
    public func strength() async throws(DBusError) -> String { try await get("Strength") }
    /// Whether the hardware is present.
    public func present() async throws(DBusError) -> Bool { try await get("Present") }
    /// Cause why the sensor cannot be used, by the names of `org.localauth.Device1`; empty for a
    /// usable sensor.
    public func unavailability() async throws(DBusError)
        -> String { try await get("Unavailability") }
    /// Number of stages of an enrolment; -1 unknown.
    public func enrollStages() async throws(DBusError) -> Int32 { try await get("EnrollStages") }
    /// Templates that the sensor can hold; 0 no limit.
    public func maxTemplates() async throws(DBusError) -> UInt32 { try await get("MaxTemplates") }
    /// The sensor's own instruction for the person, by language (`en`, `de`, `zh_CN`). Plain text
    /// of at most 80 characters without a full stop.
    public func instructions() async throws(DBusError)
        -> [String: String] { try await get("Instructions") }
    /// Progress of an operation, sent to its caller only.
    public func onEvent(sender: String? = nil, _ body: @escaping @BusActor (_ operation: UInt64,
        _ kind: String, _ detail: [String: Variant]) -> Void)
        -> EventSource {
        subscribe("Event", sender, broadcast: false) { message in
            let values = try? message.read("tsa{sv}") { reader throws(DBusError) in
                (operation: try reader.read(UInt64.self), kind: try reader.read(String.self),
                    detail: try reader.read([String: Variant].self))
            }
            if let values { body(values.operation, values.kind, values.detail) }
        }
    }
    /// A user's set of templates changed, whichever program changed it.
    public func onTemplatesChanged(sender: String? = nil,
        _ body: @escaping @BusActor (_ uid: UInt32) -> Void)
        -> EventSource {
        subscribe("TemplatesChanged", sender, broadcast: true) { message in
            let values = try? message.read("u") { reader throws(DBusError) in
                try reader.read(UInt32.self)
            }
            if let values { body(values) }
        }
    }
}
