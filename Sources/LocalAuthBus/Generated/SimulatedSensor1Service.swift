// Made by dbus-codegen from dbus/org.localauth.SimulatedSensor1.xml. Do not edit.
public import DBus

/// What a test or an app author drives the simulated sensor with.
///
/// Beside `org.localauth.Sensor1` on the same object. The methods answer root and the sensor's own
/// user, on the system bus root only; anybody else gets `org.freedesktop.DBus.Error.AccessDenied`.
/// The sensor starts as a present, `strong` fingerprint sensor (or of the type of `--type`) without
/// templates, and says in its Description that it is simulated.
@BusActor
public protocol SimulatedSensor1Service: AnyObject {
    /// Appends outcomes that Verify consumes in order.
    ///
    /// Each is `match` (the user's first template), `match:TEMPLATE`, `no-match`, `hint:HINT`,
    /// `delay:MILLISECONDS`, `hang`, `disconnect` or `crash`. A queued match is one stage of an
    /// enrolment as well. With an empty queue Verify waits for Touch.
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs` for another word: nothing is queued;
    /// `LimitsExceeded` for a queue that would be too long.
    func queue(outcomes: [String], call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Touches the sensor once, now.
    ///
    /// `matching` false is a failed attempt. During an enrolment it is one of 5 stages; with no
    /// operation running nothing happens.
    func touch(matching: Bool, call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Plugs the sensor in or out.
    ///
    /// Out: a running operation ends with `org.localauth.Sensor1.Error.Disconnected`.
    func setPresent(present: Bool, call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Makes it another kind of sensor: 0 companion, 1 fingerprint, 2 face, 4 iris.
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs` for another number.
    func setBiometryType(biometryType: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Makes it `strong`, `weak` or `convenience`.
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs` for another word.
    func setStrength(strength: String, call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Enrols a user without an operation, behind the daemon's back; the reply is the id.
    ///
    /// Sends TemplatesChanged.
    ///
    /// Source: L12.
    func addTemplate(
        uid: UInt32,
        label: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<String>

    /// Goes back to how the sensor started.
    ///
    /// Present, `strong`, of the type of `--type`, no templates, an empty queue.
    func reset(call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Queued outcomes that were not consumed yet, the next one first.
    func pending(for peer: Peer?) throws(DBusError) -> [String]
}

/// Serves `org.localauth.SimulatedSensor1` by a `SimulatedSensor1Service`, which it keeps.
public struct SimulatedSensor1Interface: ServedInterface {
    private let service: any SimulatedSensor1Service

    /// Makes the adapter of a service.
    public init(_ service: any SimulatedSensor1Service) {
        self.service = service
    }

    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "Queue": try queue(call)
        case "Touch": try touch(call)
        case "SetPresent": try setPresent(call)
        case "SetBiometryType": try setBiometryType(call)
        case "SetStrength": try setStrength(call)
        case "AddTemplate": try addTemplate(call)
        case "Reset": try reset(call)
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }

    /// Writes the value of a property.
    public func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        switch property {
        case "Pending": try writer.write(service.pending(for: peer))
        default: throw DBusError(.unknownProperty, "There is no such property.")
        }
    }

    /// Reads the new value of a property and hands it to the service.
    public func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }

    private func queue(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("as") { (reader) throws(DBusError) in
            try reader.read([String].self)
        }
        let answer = try service.queue(outcomes: input, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func touch(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("b") { (reader) throws(DBusError) in
            try reader.read(Bool.self)
        }
        let answer = try service.touch(matching: input, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func setPresent(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("b") { (reader) throws(DBusError) in
            try reader.read(Bool.self)
        }
        let answer = try service.setPresent(present: input, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func setBiometryType(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
        let answer = try service.setBiometryType(biometryType: input, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func setStrength(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
        let answer = try service.setStrength(strength: input, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func addTemplate(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("us") { (reader) throws(DBusError) in
            (uid: try reader.read(UInt32.self), label: try reader.read(String.self))
        }
        let answer = try service.addTemplate(uid: input.uid, label: input.label, call: call)
        call.answer(answer, "s") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func reset(_ call: IncomingCall) throws(DBusError) {
        try call.read("") { (_) throws(DBusError) in }
        let answer = try service.reset(call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }
}
