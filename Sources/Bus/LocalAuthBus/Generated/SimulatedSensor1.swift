// Made by scripts/dbus-codegen from dbus/org.localauth.SimulatedSensor1.xml. Do not edit.
// swift-format-ignore-file
public import DBus

/// The names of `org.localauth.SimulatedSensor1`.
public enum SimulatedSensor1: BusInterface {
    /// The name of the interface.
    public static let interface = "org.localauth.SimulatedSensor1"
    /// The path of the object with it.
    public static let path = ObjectPath(trusted: "/org/localauth/Sensor1")
}

/// Drives the simulated sensor, for tests and app authors.
/// The page org.localauth.SimulatedSensor1(5) has all of it.
@BusActor
public protocol SimulatedSensor1Service: AnyObject {
    /// Appends outcomes that Verify consumes in order.
    func queue(outcomes: [String], call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Touches the sensor once, at once.
    func touch(matching: Bool, call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Plugs the sensor in or out.
    func setPresent(present: Bool, call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Changes the sensor's type: 0 companion, 1 fingerprint, 2 face, 4 iris.
    func setBiometryType(biometryType: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Makes the sensor `strong`, `weak` or `convenience`.
    func setStrength(strength: String, call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Enrols a user without an operation, behind the daemon's back; the reply is the id.
    func addTemplate(uid: UInt32, label: String,
        call: IncomingCall) throws(DBusError) -> Answer<String>
    /// Returns to the state of the start: present, `strong`, of the type of `--type`, without
    /// templates, with an empty queue.
    func reset(call: IncomingCall) throws(DBusError) -> Answer<Void>
    /// Queued outcomes that Verify has not consumed yet, the next first.
    func pending(for peer: Peer?) throws(DBusError) -> [String]
}

/// Serves `org.localauth.SimulatedSensor1` by a `SimulatedSensor1Service`, which it keeps.
public struct SimulatedSensor1Interface: ServedInterface {
    private let service: any SimulatedSensor1Service
    /// Makes the adapter of a service.
    public init(_ service: any SimulatedSensor1Service) { self.service = service }
    /// The members, with their docs.
    public nonisolated static let description = InterfaceDescription(
        name: SimulatedSensor1.interface,
        doc: "Drives the simulated sensor, for tests and app authors.",
        methods: [
            .init("Queue", "as outcomes", "",
                "Appends outcomes that Verify consumes in order."),
            .init("Touch", "b matching", "",
                "Touches the sensor once, at once."),
            .init("SetPresent", "b present", "",
                "Plugs the sensor in or out."),
            .init("SetBiometryType", "u biometryType", "",
                "Changes the sensor's type: 0 companion, 1 fingerprint, 2 face, 4 iris."),
            .init("SetStrength", "s strength", "",
                "Makes the sensor `strong`, `weak` or `convenience`."),
            .init("AddTemplate", "u uid, s label", "s id",
                "Enrols a user without an operation, behind the daemon's back; the reply "
                    + "is the id."),
            .init("Reset", "", "",
                "Returns to the state of the start: present, `strong`, of the type of "
                    + "`--type`, without templates, with an empty queue."),
        ],
        signals: [
        ],
        properties: [
            .init("Pending", "as", .value,
                "Queued outcomes that Verify has not consumed yet, the next first."),
        ]
    )
    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "Queue":
            let input = try call.read("as") { reader throws(DBusError) in
                try reader.read([String].self)
            }
            let answer = try service.queue(outcomes: input, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "Touch":
            let input = try call.read("b") { reader throws(DBusError) in
                try reader.read(Bool.self)
            }
            let answer = try service.touch(matching: input, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "SetPresent":
            let input = try call.read("b") { reader throws(DBusError) in
                try reader.read(Bool.self)
            }
            let answer = try service.setPresent(present: input, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "SetBiometryType":
            let input = try call.read("u") { reader throws(DBusError) in
                try reader.read(UInt32.self)
            }
            let answer = try service.setBiometryType(biometryType: input, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "SetStrength":
            let input = try call.read("s") { reader throws(DBusError) in
                try reader.read(String.self)
            }
            let answer = try service.setStrength(strength: input, call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        case "AddTemplate":
            let input = try call.read("us") { reader throws(DBusError) in
                (uid: try reader.read(UInt32.self), label: try reader.read(String.self))
            }
            let answer = try service.addTemplate(uid: input.uid, label: input.label, call: call)
            call.answer(answer, "s") { value, writer throws(DBusError) in try writer.write(value) }
        case "Reset":
            try call.read("") { _ throws(DBusError) in }
            let answer = try service.reset(call: call)
            call.answer(answer, "") { _, _ throws(DBusError) in }
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }
    /// Writes the value of a property.
    public func get(_ property: String, for peer: Peer?, into writer: inout MessageWriter)
        throws(DBusError) {
        switch property {
        case "Pending": try writer.write(service.pending(for: peer))
        default: throw DBusError(.unknownProperty, "There is no such property.")
        }
    }
    /// Reads the new value of a property and hands it to the service.
    public func set(_ property: String, from reader: inout MessageReader, by peer: Peer)
        throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}

/// Calls `org.localauth.SimulatedSensor1` of one object; the docs are at `SimulatedSensor1Service`.
public typealias SimulatedSensor1Proxy = Proxy<SimulatedSensor1>
extension Proxy<SimulatedSensor1> {
    /// Appends outcomes that Verify consumes in order.
    public func queue(outcomes: [String], timeout: Duration? = nil) async throws(DBusError) {
        try await call("Queue", "as", "", timeout) { writer throws(DBusError) in
            try writer.write(outcomes)
        } read: { _ throws(DBusError) in }
    }
    /// Touches the sensor once, at once.
    public func touch(matching: Bool, timeout: Duration? = nil) async throws(DBusError) {
        try await call("Touch", "b", "", timeout) { writer throws(DBusError) in
            try writer.write(matching)
        } read: { _ throws(DBusError) in }
    }
    /// Plugs the sensor in or out.
    public func setPresent(present: Bool, timeout: Duration? = nil) async throws(DBusError) {
        try await call("SetPresent", "b", "", timeout) { writer throws(DBusError) in
            try writer.write(present)
        } read: { _ throws(DBusError) in }
    }
    /// Changes the sensor's type: 0 companion, 1 fingerprint, 2 face, 4 iris.
    public func setBiometryType(biometryType: UInt32,
        timeout: Duration? = nil) async throws(DBusError) {
        try await call("SetBiometryType", "u", "", timeout) { writer throws(DBusError) in
            try writer.write(biometryType)
        } read: { _ throws(DBusError) in }
    }
    /// Makes the sensor `strong`, `weak` or `convenience`.
    public func setStrength(strength: String, timeout: Duration? = nil) async throws(DBusError) {
        try await call("SetStrength", "s", "", timeout) { writer throws(DBusError) in
            try writer.write(strength)
        } read: { _ throws(DBusError) in }
    }
    /// Enrols a user without an operation, behind the daemon's back; the reply is the id.
    public func addTemplate(uid: UInt32, label: String,
        timeout: Duration? = nil) async throws(DBusError) -> String {
        try await call("AddTemplate", "us", "s", timeout) { writer throws(DBusError) in
            try writer.write(uid); try writer.write(label)
        } read: { reader throws(DBusError) in try reader.read(String.self) }
    }
    /// Returns to the state of the start: present, `strong`, of the type of `--type`, without
    /// templates, with an empty queue.
    public func reset(timeout: Duration? = nil) async throws(DBusError) {
        try await call("Reset", "", "", timeout) { _ throws(DBusError) in
        } read: { _ throws(DBusError) in }
    }
    /// Queued outcomes that Verify has not consumed yet, the next first.
    public func pending() async throws(DBusError) -> [String] { try await get("Pending") }
}
