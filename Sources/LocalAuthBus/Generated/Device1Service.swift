// Made by dbus-codegen from dbus/org.localauth.Device1.xml. Do not edit.
public import DBus

/// A sensor as clients see it: what it is, whether it works, and what is enrolled.
///
/// The objects `/org/localauth/Authentication1/sensor/NAME`, found through the ObjectManager. The
/// methods act on the caller's user. Enrolling and removing need a passcode given within the last
/// 60 s: in option `context` an evaluated context whose mechanism was `passcode`, else the daemon
/// prompts for it first. Root needs none.
///
/// With option `uid` root acts for another user, and so does whom polkit allows it to: the actions
/// are `org.localauth.enroll-others` (Enroll, RenameTemplate) and `org.localauth.remove-others`
/// (ListTemplates, ListLearned, RemoveTemplate, RemoveLearned, RemoveAllTemplates). It is asked for
/// each call, and its yes takes the place of the passcode. Where there is no polkit, the answer is
/// `org.freedesktop.DBus.Error.AccessDenied`; while it is asked about another call of the same
/// user, `LimitsExceeded`.
///
/// Source: R50, R51, L3, L4.
@BusActor
public protocol Device1Service: AnyObject {
    /// Lists what is enrolled for the user on this sensor.
    ///
    /// Each template has an id, a label and the time it was created (Unix seconds, 0 unknown).
    ///
    /// Options: `uid` (u, of another user: root, or whom polkit lets; default the caller's).
    ///
    /// Errors: `org.localauth.Error.BiometryNotAvailable`;
    /// `org.freedesktop.DBus.Error.AccessDenied` for option `uid` from whom polkit doesn't let; an
    /// error of the sensor, passed on unchanged.
    ///
    /// Source: R51.
    func listTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[Template]>

    /// Enrols a finger, a face or a companion; the reply is the id of the new template.
    ///
    /// Progress comes as `Event` signals before it. A caller that leaves the bus cancels it.
    ///
    /// Who enrols sits at the machine, from the call to its answer: a caller in a remote session,
    /// or in none whose prompt isn't known to be shown at the machine, is refused before the
    /// passcode is asked for, and so is one whose session is locked or not in front. A lock, a
    /// switch of session, a logout and sleep end it, and a template that was made meanwhile is
    /// removed. Root, and whom polkit lets enrol another user, may be anywhere; sleep ends theirs
    /// as well.
    ///
    /// `label`: the person's name for it, shown in lists, at most 256 bytes; control and
    /// bidirectional-override characters are stripped.
    ///
    /// Options:
    /// - `context` (o, an evaluated context whose mechanism was `passcode` at most 60 s ago,
    ///   default: the daemon prompts)
    /// - `timeout` (t, milliseconds, default 120000, 0 is the default, at most 600000)
    /// - `parent-window` (s, handle of the caller's window, default none)
    /// - `activation-token` (s, default none)
    /// - `uid` (u, of another user: root, or whom polkit lets; default the caller's)
    ///
    /// Errors: `org.localauth.Error.AppCancel` after CancelEnroll; `BiometryNotAvailable`, also in
    /// a remote session; `NotInteractive` in a session that is locked or not in front;
    /// `PasscodeNotSet`, `AuthenticationFailed`, `UserCancel`, `NotInteractive` from the passcode
    /// prompt; `SystemCancel` at the deadline and when the session or sleep ends it;
    /// `org.localauth.Sensor1.Error.Busy`, `Full`, `Duplicate`, `Disconnected`, `Failed`;
    /// `org.freedesktop.DBus.Error.AccessDenied`, `InvalidArgs`, `LimitsExceeded`.
    ///
    /// Source: R40, R50, L2, L4, L12.
    func enroll(
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String>

    /// Cancels the enrolment of this caller on this sensor.
    ///
    /// Its Enroll call is answered with `org.localauth.Error.AppCancel`. Nothing running: nothing
    /// happens.
    func cancelEnroll(call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Lists what the sensor has learned of the user since the enrolment: its id, the id of the
    /// template that it is a part of, and when it was learned (Unix seconds).
    ///
    /// Empty for a sensor that doesn't learn. It is no part of the domain state.
    ///
    /// Options: as of ListTemplates.
    ///
    /// Errors: as of ListTemplates.
    ///
    /// Source: L12.
    func listLearned(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<[LearnedEntry]>

    /// Removes something that was learned; what was enrolled stays, and so does the domain state.
    ///
    /// Options: as of RemoveTemplate.
    ///
    /// Errors: as of RemoveTemplate.
    ///
    /// Source: L12.
    func removeLearned(
        id: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Gives a template another label.
    ///
    /// Labels are no part of the domain state; no passcode is needed. A label is as in Enroll.
    ///
    /// Options: `uid` (u, of another user: root, or whom polkit lets; default the caller's).
    ///
    /// Errors: `org.localauth.Sensor1.Error.NoTemplates` for an unknown id;
    /// `org.localauth.Error.BiometryNotAvailable`; `org.freedesktop.DBus.Error.AccessDenied`,
    /// `InvalidArgs`.
    ///
    /// Source: L12.
    func renameTemplate(
        id: String,
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Removes a template for good.
    ///
    /// Options:
    /// - `context` (o, as in Enroll)
    /// - `timeout` (t, milliseconds), `parent-window` (s), `activation-token` (s, as in Enroll)
    /// - `uid` (u, of another user: root, or whom polkit lets; default the caller's)
    ///
    /// Errors: `org.localauth.Sensor1.Error.NoTemplates` for an unknown id;
    /// `org.localauth.Error.BiometryNotAvailable` and those of the passcode prompt as in Enroll;
    /// `org.freedesktop.DBus.Error.AccessDenied`, `InvalidArgs`.
    ///
    /// Source: R40, R50, L12.
    func removeTemplate(
        id: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Removes all templates of the user on this sensor and says how many there were.
    ///
    /// Options and errors are those of RemoveTemplate; without templates the answer is 0.
    ///
    /// Source: R40, R50, L12.
    func removeAllTemplates(
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<UInt32>

    /// Name of the sensor: the last element of its bus name.
    ///
    /// What the option `sensors` of an evaluation takes.
    func name(for peer: Peer?) throws(DBusError) -> String

    /// The sensor's own words for people, untrusted plain text.
    func description(for peer: Peer?) throws(DBusError) -> String

    /// What it recognises: 0 a companion, 1 fingerprint, 2 face, 4 iris.
    ///
    /// Source: L13.
    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32

    /// How much a match proves: `strong`, `weak` or `convenience`.
    ///
    /// Source: L8.
    func strength(for peer: Peer?) throws(DBusError) -> String

    /// Whether the sensor could take part in an evaluation now.
    ///
    /// Source: L3, L4.
    func available(for peer: Peer?) throws(DBusError) -> Bool

    /// Why the sensor is not available; empty when it is.
    ///
    /// One of `no-hardware`, `starting`, `lid-closed`, `suspended`, `crashed`, `failed`,
    /// `incompatible`, `untrusted`, `remote-session`. One that is `starting` has not said yet what
    /// it is: Evaluate and CanEvaluate wait for it, so long as a sensor may take to start.
    ///
    /// Source: L2, L3, L4, L16, L26.
    func unavailability(for peer: Peer?) throws(DBusError) -> String

    /// What a person is asked to do, by language, in the words of the sensor: untrusted plain text,
    /// stripped and at most 80 characters.
    ///
    /// Empty: it has none, and the biometry type says what.
    ///
    /// Source: L14, L19.
    func instructions(for peer: Peer?) throws(DBusError) -> [String: String]

    /// Number of stages of an enrolment; -1 unknown.
    func enrollStages(for peer: Peer?) throws(DBusError) -> Int32
}

/// Serves `org.localauth.Device1` by a `Device1Service`, which it keeps.
public struct Device1Interface: ServedInterface {
    private let service: any Device1Service

    /// Makes the adapter of a service.
    public init(_ service: any Device1Service) {
        self.service = service
    }

    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "ListTemplates": try listTemplates(call)
        case "Enroll": try enroll(call)
        case "CancelEnroll": try cancelEnroll(call)
        case "ListLearned": try listLearned(call)
        case "RemoveLearned": try removeLearned(call)
        case "RenameTemplate": try renameTemplate(call)
        case "RemoveTemplate": try removeTemplate(call)
        case "RemoveAllTemplates": try removeAllTemplates(call)
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
    public func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }

    private func listTemplates(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("a{sv}") { (reader) throws(DBusError) in
            try reader.read([String: Variant].self)
        }
        let answer = try service.listTemplates(options: input, call: call)
        call.answer(answer, "a(ssx)") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func enroll(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("sa{sv}") { (reader) throws(DBusError) in
            (label: try reader.read(String.self), options: try reader.read([String: Variant].self))
        }
        let answer = try service.enroll(label: input.label, options: input.options, call: call)
        call.answer(answer, "s") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func cancelEnroll(_ call: IncomingCall) throws(DBusError) {
        try call.read("") { (_) throws(DBusError) in }
        let answer = try service.cancelEnroll(call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func listLearned(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("a{sv}") { (reader) throws(DBusError) in
            try reader.read([String: Variant].self)
        }
        let answer = try service.listLearned(options: input, call: call)
        call.answer(answer, "a(ssx)") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func removeLearned(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("sa{sv}") { (reader) throws(DBusError) in
            (id: try reader.read(String.self), options: try reader.read([String: Variant].self))
        }
        let answer = try service.removeLearned(id: input.id, options: input.options, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func renameTemplate(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("ssa{sv}") { (reader) throws(DBusError) in
            (
                id: try reader.read(String.self),
                label: try reader.read(String.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.renameTemplate(
            id: input.id,
            label: input.label,
            options: input.options,
            call: call
        )
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func removeTemplate(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("sa{sv}") { (reader) throws(DBusError) in
            (id: try reader.read(String.self), options: try reader.read([String: Variant].self))
        }
        let answer = try service.removeTemplate(id: input.id, options: input.options, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func removeAllTemplates(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("a{sv}") { (reader) throws(DBusError) in
            try reader.read([String: Variant].self)
        }
        let answer = try service.removeAllTemplates(options: input, call: call)
        call.answer(answer, "u") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }
}

/// Sends the signals of `org.localauth.Device1` from one object.
@BusActor
public struct Device1Signals {
    private let connection: Connection
    private let path: ObjectPath

    /// Makes the sender of the object at a path.
    public init(_ connection: Connection, path: ObjectPath) {
        self.connection = connection
        self.path = path
    }

    /// Progress of an enrolment, sent to its caller only.
    ///
    /// Kinds and details:
    /// - `stage` (`stage` u, done so far; `stages` i, in all, -1 unknown)
    /// - `busy` (`by` s, as in `org.localauth.Sensor1.Event`; it is waited for)
    /// - `ready` (the sensor looks now: at first, and after `busy`)
    /// - `hint` (`hint` s, as in `org.localauth.Sensor1.Event`)
    ///
    /// Receivers ignore kinds and keys that they don't know.
    public func event(kind: String, detail: [String: Variant], to destination: String) {
        connection.emit(
            path: path,
            interface: Device1.interface,
            member: "Event",
            signature: "sa{sv}",
            to: destination
        ) { (writer) throws(DBusError) in
            try writer.write(kind)
            try writer.write(detail)
        }
    }
}
