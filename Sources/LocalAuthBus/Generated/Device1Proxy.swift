// Made by dbus-codegen from dbus/org.localauth.Device1.xml. Do not edit.
public import DBus

/// Calls `org.localauth.Device1` of one object; the docs are at `Device1Service`.
@BusActor
public struct Device1Proxy: Sendable {
    private nonisolated static let interface = Device1.interface

    /// What the calls go over.
    public let connection: Connection

    /// The bus name that the calls go to.
    public let destination: String

    /// The object that the calls go to.
    public let path: ObjectPath

    /// Makes the proxy of an object; nothing is sent.
    public init(_ connection: Connection, destination: String, path: ObjectPath) {
        self.connection = connection
        self.destination = destination
        self.path = path
    }

    /// Lists what is enrolled for the user on this sensor.
    public func listTemplates(
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) -> [Template] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "ListTemplates",
            signature: "a{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(options)
        }
        return try reply.read("a(ssx)") { (reader) throws(DBusError) in
            try reader.read([Template].self)
        }
    }

    /// Enrols a finger, a face or a companion; the reply is the id of the new template.
    public func enroll(
        label: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) -> String {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Enroll",
            signature: "sa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(label)
            try writer.write(options)
        }
        return try reply.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
    }

    /// Starts `Enroll` and follows its events until the reply.
    public func enrollStream(
        label: String,
        options: [String: Variant]
    ) throws(DBusError) -> StreamingCall<String> {
        try connection.stream(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Enroll",
            signature: "sa{sv}",
            matching: .path
        ) { (writer) throws(DBusError) in
            try writer.write(label)
            try writer.write(options)
        } reply: { (reply) throws(DBusError) in
            try reply.read("s") { (reader) throws(DBusError) in
                try reader.read(String.self)
            }
        }
    }

    /// Cancels the enrolment of this caller on this sensor.
    public func cancelEnroll(timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "CancelEnroll",
            signature: "",
            timeout: timeout
        )
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `CancelEnroll` and asks for no reply.
    public func sendCancelEnroll() {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "CancelEnroll",
            signature: ""
        )
    }

    /// Lists what the sensor has learned of the user since the enrolment: its id, the id of the
    /// template that it is a part of, and when it was learned (Unix seconds).
    public func listLearned(
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) -> [LearnedEntry] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "ListLearned",
            signature: "a{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(options)
        }
        return try reply.read("a(ssx)") { (reader) throws(DBusError) in
            try reader.read([LearnedEntry].self)
        }
    }

    /// Removes something that was learned; what was enrolled stays, and so does the domain state.
    public func removeLearned(
        id: String,
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RemoveLearned",
            signature: "sa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(options)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `RemoveLearned` and asks for no reply.
    public func sendRemoveLearned(id: String, options: [String: Variant]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RemoveLearned",
            signature: "sa{sv}"
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(options)
        }
    }

    /// Gives a template another label.
    public func renameTemplate(
        id: String,
        label: String,
        options: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RenameTemplate",
            signature: "ssa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(label)
            try writer.write(options)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `RenameTemplate` and asks for no reply.
    public func sendRenameTemplate(id: String, label: String, options: [String: Variant]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RenameTemplate",
            signature: "ssa{sv}"
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(label)
            try writer.write(options)
        }
    }

    /// Removes a template for good.
    public func removeTemplate(
        id: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RemoveTemplate",
            signature: "sa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(options)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `RemoveTemplate` and asks for no reply.
    public func sendRemoveTemplate(id: String, options: [String: Variant]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RemoveTemplate",
            signature: "sa{sv}"
        ) { (writer) throws(DBusError) in
            try writer.write(id)
            try writer.write(options)
        }
    }

    /// Removes all templates of the user on this sensor and says how many there were.
    public func removeAllTemplates(
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) -> UInt32 {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RemoveAllTemplates",
            signature: "a{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(options)
        }
        return try reply.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
    }

    /// Name of the sensor: the last element of its bus name.
    public func name() async throws(DBusError) -> String {
        try await connection.property(
            "Name",
            of: Self.interface,
            at: path,
            on: destination,
            as: String.self
        )
    }

    /// The sensor's own words for people, untrusted plain text.
    public func description() async throws(DBusError) -> String {
        try await connection.property(
            "Description",
            of: Self.interface,
            at: path,
            on: destination,
            as: String.self
        )
    }

    /// What it recognises: 0 a companion, 1 fingerprint, 2 face, 4 iris.
    public func biometryType() async throws(DBusError) -> UInt32 {
        try await connection.property(
            "BiometryType",
            of: Self.interface,
            at: path,
            on: destination,
            as: UInt32.self
        )
    }

    /// How much a match proves: `strong`, `weak` or `convenience`.
    public func strength() async throws(DBusError) -> String {
        try await connection.property(
            "Strength",
            of: Self.interface,
            at: path,
            on: destination,
            as: String.self
        )
    }

    /// Whether the sensor could take part in an evaluation now.
    public func available() async throws(DBusError) -> Bool {
        try await connection.property(
            "Available",
            of: Self.interface,
            at: path,
            on: destination,
            as: Bool.self
        )
    }

    /// Why the sensor is not available; empty when it is.
    public func unavailability() async throws(DBusError) -> String {
        try await connection.property(
            "Unavailability",
            of: Self.interface,
            at: path,
            on: destination,
            as: String.self
        )
    }

    /// What a person is asked to do, by language, in the words of the sensor: untrusted plain text,
    /// stripped and at most 80 characters.
    public func instructions() async throws(DBusError) -> [String: String] {
        try await connection.property(
            "Instructions",
            of: Self.interface,
            at: path,
            on: destination,
            as: [String: String].self
        )
    }

    /// Number of stages of an enrolment; -1 unknown.
    public func enrollStages() async throws(DBusError) -> Int32 {
        try await connection.property(
            "EnrollStages",
            of: Self.interface,
            at: path,
            on: destination,
            as: Int32.self
        )
    }

    /// Progress of an enrolment, sent to its caller only.
    ///
    /// The sender is a unique name; where it is left out, `destination` must be one.
    public func onEvent(
        sender: String? = nil,
        _ body: @escaping @BusActor (_ kind: String, _ detail: [String: Variant]) -> Void
    ) -> EventSource {
        connection.subscribe(
            sender: sender ?? destination,
            path: path,
            interface: Self.interface,
            member: "Event",
            broadcast: false
        ) { message in
            let values = try? message.read("sa{sv}") { (reader) throws(DBusError) in
                (
                    kind: try reader.read(String.self),
                    detail: try reader.read([String: Variant].self)
                )
            }
            guard let values else { return }
            body(values.kind, values.detail)
        }
    }

    /// All properties with their present values.
    public func properties(timeout: Duration? = nil) async throws(DBusError) -> [String: Variant] {
        try await connection.properties(
            of: Self.interface,
            at: path,
            on: destination,
            timeout: timeout
        )
    }

    /// Tells what properties have changed, with the new values of some.
    ///
    /// The sender is a unique name; where it is left out, `destination` must be one. Without
    /// `broadcast` only what is sent to this connection by name is told.
    public func onPropertiesChanged(
        sender: String? = nil,
        broadcast: Bool = true,
        _ body: @escaping @BusActor (_ changed: [String: Variant], _ invalidated: [String]) -> Void
    ) -> EventSource {
        connection.onPropertiesChanged(
            of: Self.interface,
            at: path,
            sender: sender ?? destination,
            broadcast: broadcast,
            body
        )
    }
}
