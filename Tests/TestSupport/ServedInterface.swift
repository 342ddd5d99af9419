package import DBus

/// Defaults for stand-ins, which often lack methods or properties, and accept no new values.
extension ServedInterface {
    package func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        throw DBusError(.unknownMethod, "There is no such method.")
    }

    package func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        throw DBusError(.unknownProperty, "There is no such property.")
    }

    package func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}
