internal import DBus
internal import LocalAuthBus

extension AuthenticationError {
    /// The errors with which a bus says that nobody is there.
    private static let absences: Set<DBusError.Name> = [
        .nameHasNoOwner, .serviceUnknown,
    ]

    /// What to do when the service can't be reached.
    static let noService = AuthenticationError(
        .biometryNotAvailable,
        "The authentication service is not running. "
            + "Start it with “systemctl start localauthd”; "
            + "“localauthctl doctor” says what is missing."
    )

    /// What a service is called that runs and doesn't answer.
    package static let silent = AuthenticationError(
        .biometryNotAvailable,
        "The authentication service doesn’t answer: “localauthctl doctor” says more."
    )

    /// How a context ends what runs on it.
    static let invalidated = AuthenticationError(.appCancel, "The context was invalidated.")

    /// An error as it came from the service.
    ///
    /// An error that is in no table counts as a refusal by the system.
    init(_ error: DBusError) {
        if let code = RefusalCode(error.name), code != .limitsExceeded {
            self.init(Code(code), error.message)
        } else if Self.absences.contains(error.name) {
            self = Self.noService
        } else if error.name == .noReply || error.name == .disconnected {
            self.init(.systemCancel, "The authentication service ended.")
        } else {
            self.init(.systemCancel, "The authentication service refused: \(error.message)")
        }
    }
}
