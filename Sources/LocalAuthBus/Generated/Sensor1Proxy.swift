// Made by dbus-codegen from dbus/org.localauth.Sensor1.xml. Do not edit.
public import DBus

/// Calls `org.localauth.Sensor1` of one object; the docs are at `Sensor1Service`.
@BusActor
public struct Sensor1Proxy: Sendable {
    private nonisolated static let interface = Sensor1.interface

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

    /// Looks for a match until one comes, Cancel, or a fault; the reply is the template that
    /// matched.
    public func verify(
        operation: UInt64,
        uid: UInt32,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) -> String {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Verify",
            signature: "tua{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(operation)
            try writer.write(uid)
            try writer.write(options)
        }
        return try reply.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
    }

    /// Starts `Verify` and follows its events until the reply.
    public func verifyStream(
        operation: UInt64,
        uid: UInt32,
        options: [String: Variant]
    ) throws(DBusError) -> StreamingCall<String> {
        try connection.stream(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Verify",
            signature: "tua{sv}",
            matching: .operation(operation)
        ) { (writer) throws(DBusError) in
            try writer.write(operation)
            try writer.write(uid)
            try writer.write(options)
        } reply: { (reply) throws(DBusError) in
            try reply.read("s") { (reader) throws(DBusError) in
                try reader.read(String.self)
            }
        }
    }

    /// Enrols the user; the reply is the id of the new template.
    public func enroll(
        operation: UInt64,
        uid: UInt32,
        label: String,
        options: [String: Variant],
        timeout: Duration? = Connection.noTimeout
    ) async throws(DBusError) -> String {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Enroll",
            signature: "tusa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(operation)
            try writer.write(uid)
            try writer.write(label)
            try writer.write(options)
        }
        return try reply.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
    }

    /// Starts `Enroll` and follows its events until the reply.
    public func enrollStream(
        operation: UInt64,
        uid: UInt32,
        label: String,
        options: [String: Variant]
    ) throws(DBusError) -> StreamingCall<String> {
        try connection.stream(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Enroll",
            signature: "tusa{sv}",
            matching: .operation(operation)
        ) { (writer) throws(DBusError) in
            try writer.write(operation)
            try writer.write(uid)
            try writer.write(label)
            try writer.write(options)
        } reply: { (reply) throws(DBusError) in
            try reply.read("s") { (reader) throws(DBusError) in
                try reader.read(String.self)
            }
        }
    }

    /// Ends an operation; its reply is then `org.localauth.Sensor1.Error.Canceled`.
    public func cancel(operation: UInt64, timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Cancel",
            signature: "t",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(operation)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Cancel` and asks for no reply.
    public func sendCancel(operation: UInt64) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Cancel",
            signature: "t"
        ) { (writer) throws(DBusError) in
            try writer.write(operation)
        }
    }

    /// Adds what was seen in a match to the template that matched; the reply is whether it was
    /// added.
    public func learn(operation: UInt64, timeout: Duration? = nil) async throws(DBusError) -> Bool {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Learn",
            signature: "t",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(operation)
        }
        return try reply.read("b") { (reader) throws(DBusError) in
            try reader.read(Bool.self)
        }
    }

    /// Lists what was learned of a user: its id, the id of the template that it is a part of, and
    /// when it was learned (Unix seconds).
    public func listLearned(
        uid: UInt32,
        timeout: Duration? = nil
    ) async throws(DBusError) -> [LearnedEntry] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "ListLearned",
            signature: "u",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
        }
        return try reply.read("a(ssx)") { (reader) throws(DBusError) in
            try reader.read([LearnedEntry].self)
        }
    }

    /// Removes something that was learned, for good.
    public func removeLearned(
        uid: UInt32,
        id: String,
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RemoveLearned",
            signature: "us",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(id)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `RemoveLearned` and asks for no reply.
    public func sendRemoveLearned(uid: UInt32, id: String) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RemoveLearned",
            signature: "us"
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(id)
        }
    }

    /// Lists what is enrolled for a user.
    public func listTemplates(
        uid: UInt32,
        timeout: Duration? = nil
    ) async throws(DBusError) -> [Template] {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "ListTemplates",
            signature: "u",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
        }
        return try reply.read("a(ssx)") { (reader) throws(DBusError) in
            try reader.read([Template].self)
        }
    }

    /// Gives a template another label and keeps its id.
    public func renameTemplate(
        uid: UInt32,
        id: String,
        label: String,
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RenameTemplate",
            signature: "uss",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(id)
            try writer.write(label)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `RenameTemplate` and asks for no reply.
    public func sendRenameTemplate(uid: UInt32, id: String, label: String) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RenameTemplate",
            signature: "uss"
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(id)
            try writer.write(label)
        }
    }

    /// Removes a template for good, and what was learned with it.
    public func removeTemplate(
        uid: UInt32,
        id: String,
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RemoveTemplate",
            signature: "us",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(id)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `RemoveTemplate` and asks for no reply.
    public func sendRemoveTemplate(uid: UInt32, id: String) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RemoveTemplate",
            signature: "us"
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(id)
        }
    }

    /// Removes all templates of a user and says how many there were.
    public func removeAllTemplates(
        uid: UInt32,
        timeout: Duration? = nil
    ) async throws(DBusError) -> UInt32 {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "RemoveAllTemplates",
            signature: "u",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
        }
        return try reply.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
    }

    /// Says how the sensor is, within 1 s whatever else runs.
    public func health(
        timeout: Duration? = nil
    ) async throws(DBusError) -> (state: String, message: String) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Health",
            signature: "",
            timeout: timeout
        )
        return try reply.read("ss") { (reader) throws(DBusError) in
            (state: try reader.read(String.self), message: try reader.read(String.self))
        }
    }

    /// Versions of this protocol that the sensor speaks; this text is version 1.
    public func protocolVersions() async throws(DBusError) -> [UInt32] {
        try await connection.property(
            "ProtocolVersions",
            of: Self.interface,
            at: path,
            on: destination,
            as: [UInt32].self
        )
    }

    /// What the sensor is, for people: maker and model.
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

    /// Whether the hardware is there.
    public func present() async throws(DBusError) -> Bool {
        try await connection.property(
            "Present",
            of: Self.interface,
            at: path,
            on: destination,
            as: Bool.self
        )
    }

    /// Why the sensor can't be used, by the names of `org.localauth.Device1`; empty when it can.
    public func unavailability() async throws(DBusError) -> String {
        try await connection.property(
            "Unavailability",
            of: Self.interface,
            at: path,
            on: destination,
            as: String.self
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

    /// Templates that the sensor can hold; 0 no limit.
    public func maxTemplates() async throws(DBusError) -> UInt32 {
        try await connection.property(
            "MaxTemplates",
            of: Self.interface,
            at: path,
            on: destination,
            as: UInt32.self
        )
    }

    /// What a person is asked to do, in the sensor's own words: by language, such as `en`, `de` or
    /// `zh_CN`, plain text of at most 80 characters without a full stop.
    public func instructions() async throws(DBusError) -> [String: String] {
        try await connection.property(
            "Instructions",
            of: Self.interface,
            at: path,
            on: destination,
            as: [String: String].self
        )
    }

    /// Progress of an operation, sent to its caller only.
    ///
    /// The sender is a unique name; where it is left out, `destination` must be one.
    public func onEvent(
        sender: String? = nil,
        _ body:
            @escaping @BusActor (
                _ operation: UInt64,
                _ kind: String,
                _ detail: [String: Variant]
            ) -> Void
    ) -> EventSource {
        connection.subscribe(
            sender: sender ?? destination,
            path: path,
            interface: Self.interface,
            member: "Event",
            broadcast: false
        ) { message in
            let values = try? message.read("tsa{sv}") { (reader) throws(DBusError) in
                (
                    operation: try reader.read(UInt64.self),
                    kind: try reader.read(String.self),
                    detail: try reader.read([String: Variant].self)
                )
            }
            guard let values else { return }
            body(values.operation, values.kind, values.detail)
        }
    }

    /// A user's set of templates changed, whoever changed it.
    ///
    /// The sender is a unique name; where it is left out, `destination` must be one.
    public func onTemplatesChanged(
        sender: String? = nil,
        _ body: @escaping @BusActor (_ uid: UInt32) -> Void
    ) -> EventSource {
        connection.subscribe(
            sender: sender ?? destination,
            path: path,
            interface: Self.interface,
            member: "TemplatesChanged",
            broadcast: true
        ) { message in
            let values = try? message.read("u") { (reader) throws(DBusError) in
                try reader.read(UInt32.self)
            }
            guard let values else { return }
            body(values)
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
