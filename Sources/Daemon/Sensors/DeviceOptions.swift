import DBus

/// The options of Device1's methods, checked.
struct DeviceOptions {
    /// Whose templates the call is about: the caller's own, or those that it names.
    let uid: UInt32
    /// Whether the caller, who isn't root, names another user: polkit is to say whether it may.
    let isForOther: Bool
    /// A context that may have been given a passcode.
    let context: ObjectPath?
    let timeout: Duration
    /// The caller's window, for a prompt.
    let parentWindow: String?
    let activationToken: String?
    /// How long an administrator may take to answer where the call has no timeout.
    static let patience = Duration.seconds(120)

    /// - Throws: InvalidArgs, AccessDenied.
    @BusActor
    init(_ options: [String: Variant], of peer: Peer) throws(DBusError) {
        let reader = OptionReader(options)
        let named = try reader.value("uid", \.asUInt32)
        guard named != UInt32.max else { throw .invalid("there is no such user") }
        uid = named ?? peer.uid
        isForOther = peer.uid != 0 && uid != peer.uid
        guard named == nil || peer.uid == 0 || isForOther else {
            throw .denied("option uid names another user")
        }
        context = try reader.value("context", \.asObjectPath)
        parentWindow = try reader.token("parent-window")
        activationToken = try reader.token("activation-token")
        timeout = try EvaluateOptions(options.filter { $0.key == "timeout" }).timeout
    }
}
