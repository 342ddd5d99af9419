// Made by dbus-codegen from dbus/org.localauth.SimulatedSensor1.xml. Do not edit.
public import DBus

/// Calls `org.localauth.SimulatedSensor1` of one object; the docs are at `SimulatedSensor1Service`.
@BusActor
public struct SimulatedSensor1Proxy: Sendable {
    private nonisolated static let interface = SimulatedSensor1.interface

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

    /// Appends outcomes that Verify consumes in order.
    public func queue(outcomes: [String], timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Queue",
            signature: "as",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(outcomes)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Queue` and asks for no reply.
    public func sendQueue(outcomes: [String]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Queue",
            signature: "as"
        ) { (writer) throws(DBusError) in
            try writer.write(outcomes)
        }
    }

    /// Touches the sensor once, now.
    public func touch(matching: Bool, timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Touch",
            signature: "b",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(matching)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Touch` and asks for no reply.
    public func sendTouch(matching: Bool) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Touch",
            signature: "b"
        ) { (writer) throws(DBusError) in
            try writer.write(matching)
        }
    }

    /// Plugs the sensor in or out.
    public func setPresent(present: Bool, timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetPresent",
            signature: "b",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(present)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `SetPresent` and asks for no reply.
    public func sendSetPresent(present: Bool) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetPresent",
            signature: "b"
        ) { (writer) throws(DBusError) in
            try writer.write(present)
        }
    }

    /// Makes it another kind of sensor: 0 companion, 1 fingerprint, 2 face, 4 iris.
    public func setBiometryType(
        biometryType: UInt32,
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetBiometryType",
            signature: "u",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(biometryType)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `SetBiometryType` and asks for no reply.
    public func sendSetBiometryType(biometryType: UInt32) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetBiometryType",
            signature: "u"
        ) { (writer) throws(DBusError) in
            try writer.write(biometryType)
        }
    }

    /// Makes it `strong`, `weak` or `convenience`.
    public func setStrength(strength: String, timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetStrength",
            signature: "s",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(strength)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `SetStrength` and asks for no reply.
    public func sendSetStrength(strength: String) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "SetStrength",
            signature: "s"
        ) { (writer) throws(DBusError) in
            try writer.write(strength)
        }
    }

    /// Enrols a user without an operation, behind the daemon's back; the reply is the id.
    public func addTemplate(
        uid: UInt32,
        label: String,
        timeout: Duration? = nil
    ) async throws(DBusError) -> String {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "AddTemplate",
            signature: "us",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(uid)
            try writer.write(label)
        }
        return try reply.read("s") { (reader) throws(DBusError) in
            try reader.read(String.self)
        }
    }

    /// Goes back to how the sensor started.
    public func reset(timeout: Duration? = nil) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Reset",
            signature: "",
            timeout: timeout
        )
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Reset` and asks for no reply.
    public func sendReset() {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Reset",
            signature: ""
        )
    }

    /// Queued outcomes that were not consumed yet, the next one first.
    public func pending() async throws(DBusError) -> [String] {
        try await connection.property(
            "Pending",
            of: Self.interface,
            at: path,
            on: destination,
            as: [String].self
        )
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
