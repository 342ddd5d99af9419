// Made by scripts/dbus-codegen from dbus/org.localauth.SensorHost1.xml. Do not edit.
// swift-format-ignore-file
public import DBus

/// The names of `org.localauth.SensorHost1`.
public enum SensorHost1: BusInterface {
    /// The name of the interface.
    public static let interface = "org.localauth.SensorHost1"
    /// The path of the object with it.
    public static let path = ObjectPath(trusted: "/org/localauth/Authentication1")
}

/// Counts the failed attempts of a sensor; for sensors only.
/// The page org.localauth.SensorHost1(5) has all of it.
@BusActor
public protocol SensorHost1Service: AnyObject {
    /// Reports one failed attempt of a Verify. The answer comes when the attempt is counted and on
    /// the disk.
    func noMatch(operation: UInt64, attempt: UInt32,
        call: IncomingCall) throws(DBusError) -> Answer<UInt32>
}

/// Serves `org.localauth.SensorHost1` by a `SensorHost1Service`, which it keeps.
public struct SensorHost1Interface: ServedInterface {
    private let service: any SensorHost1Service
    /// Makes the adapter of a service.
    public init(_ service: any SensorHost1Service) { self.service = service }
    /// The members, with their docs.
    public nonisolated static let description = InterfaceDescription(
        name: SensorHost1.interface,
        doc: "Counts the failed attempts of a sensor; for sensors only.",
        methods: [
            .init("NoMatch", "t operation, u attempt", "u attemptsLeft",
                "Reports one failed attempt of a Verify. The answer comes when the "
                    + "attempt is counted and on the disk."),
        ],
        signals: [
        ],
        properties: [
        ]
    )
    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "NoMatch":
            let input = try call.read("tu") { reader throws(DBusError) in
                (operation: try reader.read(UInt64.self), attempt: try reader.read(UInt32.self))
            }
            let answer = try service.noMatch(operation: input.operation, attempt: input.attempt,
                call: call)
            call.answer(answer, "u") { value, writer throws(DBusError) in try writer.write(value) }
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }
    /// Writes the value of a property.
    public func get(_ property: String, for peer: Peer?, into writer: inout MessageWriter)
        throws(DBusError) {
        throw DBusError(.unknownProperty, "There is no such property.")
    }
    /// Reads the new value of a property and hands it to the service.
    public func set(_ property: String, from reader: inout MessageReader, by peer: Peer)
        throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}

/// Calls `org.localauth.SensorHost1` of one object; the docs are at `SensorHost1Service`.
public typealias SensorHost1Proxy = Proxy<SensorHost1>
extension Proxy<SensorHost1> {
    /// Reports one failed attempt of a Verify. The answer comes when the attempt is counted and on
    /// the disk.
    public func noMatch(operation: UInt64, attempt: UInt32,
        timeout: Duration? = nil) async throws(DBusError) -> UInt32 {
        try await call("NoMatch", "tu", "u", timeout) { writer throws(DBusError) in
            try writer.write(operation); try writer.write(attempt)
        } read: { reader throws(DBusError) in try reader.read(UInt32.self) }
    }
}
