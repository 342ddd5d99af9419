import DBus

/// The checked options of Device1's methods.
struct DeviceOptions {
    /// The user whose templates the call concerns: the caller, or the user in the option `uid`.
    let uid: UInt32
    /// Whether a caller other than root names another user, so that polkit has to decide.
    let isForOther: Bool
    /// A context in which the user may have given a password.
    let context: ObjectPath?
    let timeout: Duration
    let parentWindow: String?
    let activationToken: String?
    /// How long an administrator may take to answer in calls without a timeout.
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
