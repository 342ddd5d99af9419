// Made by dbus-codegen from dbus/org.localauth.SensorHost1.xml. Do not edit.
public import DBus

/// Calls `org.localauth.SensorHost1` of one object; the docs are at `SensorHost1Service`.
@BusActor
public struct SensorHost1Proxy: Sendable {
    private nonisolated static let interface = SensorHost1.interface

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

    /// One failed attempt of a Verify; answered when it is counted and on the disk.
    public func noMatch(
        operation: UInt64,
        attempt: UInt32,
        timeout: Duration? = nil
    ) async throws(DBusError) -> UInt32 {
        let reply = try await connection.call(
            to: destination,
            path: path,
            interface: Self.interface,
            member: "NoMatch",
            signature: "tu",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(operation)
            try writer.write(attempt)
        }
        return try reply.read("u") { (reader) throws(DBusError) in
            try reader.read(UInt32.self)
        }
    }
}
