// Made by dbus-codegen from dbus/org.localauth.Agent1.xml. Do not edit.
public import DBus

/// Calls `org.localauth.Agent1` of one object; the docs are at `Agent1Service`.
@BusActor
public struct Agent1Proxy: Sendable {
    private nonisolated static let interface = Agent1.interface

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

    /// Shows a prompt.
    public func begin(
        prompt: String,
        details: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Begin",
            signature: "sa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
            try writer.write(details)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Begin` and asks for no reply.
    public func sendBegin(prompt: String, details: [String: Variant]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Begin",
            signature: "sa{sv}"
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
            try writer.write(details)
        }
    }

    /// Tells what happens while a prompt is up.
    public func update(
        prompt: String,
        kind: String,
        detail: [String: Variant],
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Update",
            signature: "ssa{sv}",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
            try writer.write(kind)
            try writer.write(detail)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `Update` and asks for no reply.
    public func sendUpdate(prompt: String, kind: String, detail: [String: Variant]) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "Update",
            signature: "ssa{sv}"
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
            try writer.write(kind)
            try writer.write(detail)
        }
    }

    /// Takes a prompt down.
    public func end(
        prompt: String,
        outcome: String,
        timeout: Duration? = nil
    ) async throws(DBusError) {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "End",
            signature: "ss",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
            try writer.write(outcome)
        }
        try reply.read("") { (_) throws(DBusError) in }
    }

    /// Sends `End` and asks for no reply.
    public func sendEnd(prompt: String, outcome: String) {
        connection.send(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "End",
            signature: "ss"
        ) { (writer) throws(DBusError) in
            try writer.write(prompt)
            try writer.write(outcome)
        }
    }
}
