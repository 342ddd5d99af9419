// Made by dbus-codegen from dbus/org.localauth.Sensor1.xml. Do not edit.
public import DBus

/// A sensor: looks for a match, enrols, and keeps its templates to itself.
///
/// Implemented by a sensor process that owns a bus name `org.localauth.Sensor1.NAME`, called by the
/// daemon only: methods answer `org.freedesktop.DBus.Error.AccessDenied` to callers that don't own
/// `org.localauth.Authentication1`, while properties, Introspect and Peer answer anybody. An
/// operation ends when its caller leaves the bus. Operations are numbered by the daemon, so that a
/// Cancel never races the start; there is never more than one at a time. Scores, images and
/// templates never cross the bus. A label and an id have at most 256 bytes, and 4294967295 is no
/// uid: else the answer is `org.freedesktop.DBus.Error.InvalidArgs`.
///
/// A sensor may also answer one property that is not declared here, because it may be missing:
/// `BuiltIn` b, read by Get, GetAll and PropertiesChanged like the others. True: the sensor sits
/// under the lid and can't be used while the lid is closed. False: it is external, and the lid
/// doesn't matter. Without it a closed lid counts for the sensor unless the machine is docked.
///
/// Source: R8, R51, L3, L5, L16.
@BusActor
public protocol Sensor1Service: AnyObject {
    /// Looks for a match until one comes, Cancel, or a fault; the reply is the template that
    /// matched.
    ///
    /// Each failed attempt is told by a call: NoMatch of `org.localauth.SensorHost1`, on the
    /// connection that called Verify. The sensor looks at nothing until that is answered. A
    /// canceled scan or a fault of the sensor is not an attempt.
    ///
    /// Options: `learn` (b, default false: whether Learn may follow the match); unknown ones are
    /// ignored.
    ///
    /// Errors: `org.localauth.Sensor1.Error.Canceled` after Cancel; `Busy` while another operation
    /// runs; `NoTemplates` when nothing is enrolled for the user; `Disconnected`; `Denied` when the
    /// sensor is not allowed what it needs; `Failed`. The message of `Denied` and `Failed` is one
    /// sentence for people: what went wrong, and what to do about it.
    ///
    /// Source: R1, R8, L5, L20.
    func verify(
        operation: UInt64,
        uid: UInt32,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String>

    /// Enrols the user; the reply is the id of the new template.
    ///
    /// Each finished stage is an `Event` of kind `stage`. A template exists once the reply is sent,
    /// not before. No options are defined yet; unknown ones are ignored.
    ///
    /// Errors: `org.localauth.Sensor1.Error.Canceled` after Cancel; `Busy` while another operation
    /// runs; `Full` when MaxTemplates is reached; `Duplicate` for what is enrolled already;
    /// `Disconnected`; `Denied`; `Failed`.
    ///
    /// Source: R40, L12.
    func enroll(
        operation: UInt64,
        uid: UInt32,
        label: String,
        options: [String: Variant],
        call: IncomingCall
    ) throws(DBusError) -> Answer<String>

    /// Ends an operation; its reply is then `org.localauth.Sensor1.Error.Canceled`.
    ///
    /// The calls may be served in another order than they were sent: a Cancel that comes before its
    /// operation is remembered, and the operation ends with `Canceled` when it comes.
    ///
    /// A match that is found after Cancel arrived is never reported. An operation that is over or
    /// unknown: nothing happens. A sensor that has not ended its operation 5 s later counts as
    /// failed.
    ///
    /// Source: L4, L5, L16.
    func cancel(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Void>

    /// Adds what was seen in a match to the template that matched; the reply is whether it was
    /// added.
    ///
    /// Optional: a sensor that doesn't learn may answer `org.freedesktop.DBus.Error.UnknownMethod`.
    ///
    /// Called once the person's passcode was right in the same prompt as the match, and never after
    /// a match alone. Only the connection that called Verify may call it, with the number of the
    /// last operation, if that had the option `learn`, ended with a match at most 30 s ago, and no
    /// other began since. The sensor keeps what it saw no longer than that. It adds only what is
    /// far inside its threshold, measured by what was enrolled and not by what was learned, at most
    /// once in 24 h and at most five times for a user.
    ///
    /// The template keeps its id, and no TemplatesChanged is sent: it stands for the same person,
    /// as the passcode said.
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs` for an operation of which nothing may be
    /// learned; `org.localauth.Sensor1.Error.NoTemplates` when the template is gone; `Failed`.
    ///
    /// Source: L12.
    func learn(operation: UInt64, call: IncomingCall) throws(DBusError) -> Answer<Bool>

    /// Lists what was learned of a user: its id, the id of the template that it is a part of, and
    /// when it was learned (Unix seconds).
    ///
    /// Optional: a sensor that doesn't learn may answer `org.freedesktop.DBus.Error.UnknownMethod`.
    ///
    /// Errors: `org.localauth.Sensor1.Error.Disconnected`, `Failed`.
    ///
    /// Source: L12.
    func listLearned(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<[LearnedEntry]>

    /// Removes something that was learned, for good.
    ///
    /// What was enrolled stays, and so does the template's id; no TemplatesChanged is sent.
    ///
    /// Optional: a sensor that doesn't learn may answer `org.freedesktop.DBus.Error.UnknownMethod`.
    ///
    /// Errors: `org.localauth.Sensor1.Error.NoTemplates` for an unknown id; `Busy`; `Disconnected`;
    /// `Failed`.
    ///
    /// Source: L12.
    func removeLearned(
        uid: UInt32,
        id: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Lists what is enrolled for a user.
    ///
    /// Each template has an id, a label and the time it was created (Unix seconds, 0 unknown). The
    /// id must change whenever the biometric data behind it changes. Only what Learn adds, and
    /// RemoveLearned removes, changes no id. Answers while an operation runs.
    ///
    /// It is asked before each decision, together with the properties. A sensor that refuses, or
    /// doesn't answer within 2 s, isn't used for this user until it answers, and items of
    /// `biometryCurrentSet` are neither opened nor deleted meanwhile: what isn't known is never
    /// taken for unchanged.
    ///
    /// A sensor that is there is asked for it also while nothing may look: under a closed lid, and
    /// while `Unavailability` isn't empty. In the second case its list takes nothing away: one that
    /// differs from what is known counts as no answer.
    ///
    /// Errors: `org.localauth.Sensor1.Error.Disconnected`, `Failed`; `Busy` when the device has to
    /// be asked and another program has it, which is asked again.
    ///
    /// Source: R40, R67, L11b, L12.
    func listTemplates(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<[Template]>

    /// Gives a template another label and keeps its id.
    ///
    /// Sends no TemplatesChanged.
    ///
    /// Errors: `org.localauth.Sensor1.Error.NoTemplates` for an unknown id; `Disconnected`;
    /// `Failed`.
    ///
    /// Source: L12.
    func renameTemplate(
        uid: UInt32,
        id: String,
        label: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Removes a template for good, and what was learned with it.
    ///
    /// Errors: `org.localauth.Sensor1.Error.NoTemplates` for an unknown id; `Busy`; `Disconnected`;
    /// `Failed`.
    ///
    /// Source: R40, L12.
    func removeTemplate(
        uid: UInt32,
        id: String,
        call: IncomingCall
    ) throws(DBusError) -> Answer<Void>

    /// Removes all templates of a user and says how many there were.
    ///
    /// Errors: `org.localauth.Sensor1.Error.Busy`, `Disconnected`, `Failed`.
    ///
    /// Source: R40, L12.
    func removeAllTemplates(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<UInt32>

    /// Says how the sensor is, within 1 s whatever else runs.
    ///
    /// `state` is `ok`, `degraded` or `failed`; `message` is one sentence for people, empty when
    /// there is nothing to say.
    ///
    /// Source: L16.
    func health(call: IncomingCall) throws(DBusError) -> Answer<(state: String, message: String)>

    /// Versions of this protocol that the sensor speaks; this text is version 1.
    ///
    /// The highest common one is used; with none in common the sensor is listed as `incompatible`
    /// and never called.
    func protocolVersions(for peer: Peer?) throws(DBusError) -> [UInt32]

    /// What the sensor is, for people: maker and model.
    func description(for peer: Peer?) throws(DBusError) -> String

    /// What it recognises: 0 a companion, 1 fingerprint, 2 face, 4 iris.
    ///
    /// Source: L13.
    func biometryType(for peer: Peer?) throws(DBusError) -> UInt32

    /// How much a match proves: `strong`, `weak` or `convenience`.
    ///
    /// Source: L8.
    func strength(for peer: Peer?) throws(DBusError) -> String

    /// Whether the hardware is there.
    func present(for peer: Peer?) throws(DBusError) -> Bool

    /// Why the sensor can't be used, by the names of `org.localauth.Device1`; empty when it can.
    func unavailability(for peer: Peer?) throws(DBusError) -> String

    /// Number of stages of an enrolment; -1 unknown.
    func enrollStages(for peer: Peer?) throws(DBusError) -> Int32

    /// Templates that the sensor can hold; 0 no limit.
    func maxTemplates(for peer: Peer?) throws(DBusError) -> UInt32

    /// What a person is asked to do, in the sensor's own words: by language, such as `en`, `de` or
    /// `zh_CN`, plain text of at most 80 characters without a full stop.
    ///
    /// Prompts show it in quotation marks, with the sensor's name, in the user's language, else in
    /// English. Empty, or where a sensor doesn't have the property: they have the words of the
    /// biometry type. At most 64 languages, each named in at most 16 bytes.
    ///
    /// Source: L14, L19.
    func instructions(for peer: Peer?) throws(DBusError) -> [String: String]
}

/// Serves `org.localauth.Sensor1` by a `Sensor1Service`, which it keeps.
public struct Sensor1Interface: ServedInterface {
    private let service: any Sensor1Service

    /// Makes the adapter of a service.
    public init(_ service: any Sensor1Service) {
        self.service = service
    }

    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "Verify": try verify(call)
        case "Enroll": try enroll(call)
        case "Cancel": try cancel(call)
        case "Learn": try learn(call)
        case "ListLearned": try listLearned(call)
        case "RemoveLearned": try removeLearned(call)
        case "ListTemplates": try listTemplates(call)
        case "RenameTemplate": try renameTemplate(call)
        case "RemoveTemplate": try removeTemplate(call)
        case "RemoveAllTemplates": try removeAllTemplates(call)
        case "Health": try health(call)
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
    public func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }

    private func verify(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("tua{sv}") { (reader) throws(DBusError) in
            (
                operation: try reader.read(UInt64.self),
                uid: try reader.read(UInt32.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.verify(
            operation: input.operation,
            uid: input.uid,
            options: input.options,
            call: call
        )
        call.answer(answer, "s") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func enroll(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("tusa{sv}") { (reader) throws(DBusError) in
            (
                operation: try reader.read(UInt64.self),
                uid: try reader.read(UInt32.self),
                label: try reader.read(String.self),
                options: try reader.read([String: Variant].self)
            )
        }
        let answer = try service.enroll(
            operation: input.operation,
            uid: input.uid,
            label: input.label,
            options: input.options,
            call: call
        )
        call.answer(answer, "s") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func cancel(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("t") { (reader) throws(DBusError) in
            try reader.read(UInt64.self)
        }
        let answer = try service.cancel(operation: input, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func learn(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("t") { (reader) throws(DBusError) in
            try reader.read(UInt64.self)
        }
        let answer = try service.learn(operation: input, call: call)
        call.answer(answer, "b") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func listLearned(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
        let answer = try service.listLearned(uid: input, call: call)
        call.answer(answer, "a(ssx)") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func removeLearned(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("us") { (reader) throws(DBusError) in
            (uid: try reader.read(UInt32.self), id: try reader.read(String.self))
        }
        let answer = try service.removeLearned(uid: input.uid, id: input.id, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func listTemplates(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
        let answer = try service.listTemplates(uid: input, call: call)
        call.answer(answer, "a(ssx)") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func renameTemplate(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("uss") { (reader) throws(DBusError) in
            (
                uid: try reader.read(UInt32.self),
                id: try reader.read(String.self),
                label: try reader.read(String.self)
            )
        }
        let answer = try service.renameTemplate(
            uid: input.uid,
            id: input.id,
            label: input.label,
            call: call
        )
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func removeTemplate(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("us") { (reader) throws(DBusError) in
            (uid: try reader.read(UInt32.self), id: try reader.read(String.self))
        }
        let answer = try service.removeTemplate(uid: input.uid, id: input.id, call: call)
        call.answer(answer, "") { (_, _) throws(DBusError) in }
    }

    private func removeAllTemplates(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
        let answer = try service.removeAllTemplates(uid: input, call: call)
        call.answer(answer, "u") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }

    private func health(_ call: IncomingCall) throws(DBusError) {
        try call.read("") { (_) throws(DBusError) in }
        let answer = try service.health(call: call)
        call.answer(answer, "ss") { (value, writer) throws(DBusError) in
            try writer.write(value.state)
            try writer.write(value.message)
        }
    }
}

/// Sends the signals of `org.localauth.Sensor1` from one object.
@BusActor
public struct Sensor1Signals {
    private let connection: Connection
    private let path: ObjectPath

    /// Makes the sender of the object at a path.
    public init(_ connection: Connection, path: ObjectPath) {
        self.connection = connection
        self.path = path
    }

    /// Progress of an operation, sent to its caller only.
    ///
    /// Kinds and details:
    /// - `ready` (the sensor looks now)
    /// - `hint` (`hint` s: `move-closer`, `move-away`, `center`, `too-dark`, `too-bright`,
    ///   `hold-still`, `swipe-too-short`, `too-fast`, `lift-and-retry`, `clean-sensor`,
    ///   `look-at-camera`, `confirm-presence`, `turn-left` or `turn-right`)
    /// - `stage` (`stage` u, done so far; `stages` i, in all, -1 unknown)
    /// - `busy` (`by` s, a name, may be empty: another program has the device. The sensor waits for
    ///   it, and `ready` follows, again, within 0.5 s of its being free)
    ///
    /// Receivers ignore kinds and keys that they don't know. A bus may drop signals, so nothing is
    /// counted, locked or refused by one: it is there to be shown.
    ///
    /// Source: R8, R51, L20, L25.
    public func event(
        operation: UInt64,
        kind: String,
        detail: [String: Variant],
        to destination: String
    ) {
        connection.emit(
            path: path,
            interface: Sensor1.interface,
            member: "Event",
            signature: "tsa{sv}",
            to: destination
        ) { (writer) throws(DBusError) in
            try writer.write(operation)
            try writer.write(kind)
            try writer.write(detail)
        }
    }

    /// A user's set of templates changed, whoever changed it.
    ///
    /// Sent after Enroll and Remove, and for changes made outside the daemon; not for a rename.
    ///
    /// Source: L11b, L12.
    public func templatesChanged(uid: UInt32, to destination: String? = nil) {
        connection.emit(
            path: path,
            interface: Sensor1.interface,
            member: "TemplatesChanged",
            signature: "u",
            to: destination
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
        }
    }
}
