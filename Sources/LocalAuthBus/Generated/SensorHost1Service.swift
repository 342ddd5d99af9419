// Made by dbus-codegen from dbus/org.localauth.SensorHost1.xml. Do not edit.
public import DBus

/// What a sensor calls while it looks; for sensors only.
///
/// The object is on the connection that called Verify of `org.localauth.Sensor1`: a sensor
/// addresses that connection by its unique name. A failed attempt is told by a call, not by a
/// signal, because a bus whose queues are full drops signals, and a dropped one would be a free
/// attempt.
///
/// Source: L17, L20.
@BusActor
public protocol SensorHost1Service: AnyObject {
    /// One failed attempt of a Verify; answered when it is counted and on the disk.
    ///
    /// `attempt` counts from 1 in each operation. The sensor looks at nothing between the failed
    /// attempt and the answer, and not at all after an answer of 0: Cancel follows. Without an
    /// answer (an error, or nothing within 5 s) it calls again with the same number until Cancel
    /// comes; a number counts once, however often it is told. A number that skips others is
    /// refused.
    ///
    /// Errors: `org.freedesktop.DBus.Error.InvalidArgs` from another connection than the one that
    /// was asked, for an operation that doesn't run (any more), for an enrolment, and for a number
    /// that is not the next one or an earlier one; then nothing is counted.
    /// `org.freedesktop.DBus.Error.Failed` when it can't be written.
    ///
    /// Source: R1, R3, L17, L20.
    func noMatch(
        operation: UInt64,
        attempt: UInt32,
        call: IncomingCall
    ) throws(DBusError) -> Answer<UInt32>
}

/// Serves `org.localauth.SensorHost1` by a `SensorHost1Service`, which it keeps.
public struct SensorHost1Interface: ServedInterface {
    private let service: any SensorHost1Service

    /// Makes the adapter of a service.
    public init(_ service: any SensorHost1Service) {
        self.service = service
    }

    /// Decodes a call, hands it to the service and answers it.
    public func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        switch member {
        case "NoMatch": try noMatch(call)
        default: throw DBusError(.unknownMethod, "There is no such method.")
        }
    }

    /// Writes the value of a property.
    public func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        throw DBusError(.unknownProperty, "There is no such property.")
    }

    /// Reads the new value of a property and hands it to the service.
    public func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }

    private func noMatch(_ call: IncomingCall) throws(DBusError) {
        let input = try call.read("tu") { (reader) throws(DBusError) in
            (operation: try reader.read(UInt64.self), attempt: try reader.read(UInt32.self))
        }
        let answer = try service.noMatch(
            operation: input.operation,
            attempt: input.attempt,
            call: call
        )
        call.answer(answer, "u") { (value, writer) throws(DBusError) in
            try writer.write(value)
        }
    }
}
