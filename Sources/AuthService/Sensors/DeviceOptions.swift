import DBus

/// The options of Device1's methods, checked.
struct DeviceOptions {
    /// Whose templates the call is about: the caller's own, or those that root names.
    let uid: UInt32
    /// A context that may have been given a passcode.
    let context: ObjectPath?
    let timeout: Duration

    /// - Throws: InvalidArgs, AccessDenied.
    @BusActor
    init(_ options: [String: Variant], of peer: Peer) throws(DBusError) {
        let reader = OptionReader(options)
        let named = try reader.value("uid", \.asUInt32)
        guard named == nil || peer.uid == 0 else { throw .denied("option uid is for root") }
        guard named != UInt32.max else { throw .invalid("there is no such user") }
        uid = named ?? peer.uid
        context = try reader.value("context", \.asObjectPath)
        timeout = try EvaluateOptions(options.filter { $0.key == "timeout" }).timeout
    }
}
