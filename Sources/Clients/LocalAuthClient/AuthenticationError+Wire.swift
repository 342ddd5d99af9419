internal import DBus
internal import LocalAuthBus

extension AuthenticationError {
    /// Bus errors that mean no process owns the service's name.
    private static let absences: Set<DBusError.Name> = [
        .nameHasNoOwner, .serviceUnknown,
    ]

    static let noService = AuthenticationError(
        .biometryNotAvailable,
        "The authentication service is not running. "
            + "Start it with “systemctl start localauthd”; "
            + "“localauthctl doctor” says what is missing."
    )

    /// The error for a service that runs and does not answer.
    package static let silent = AuthenticationError(
        .biometryNotAvailable,
        "The authentication service doesn’t answer: “localauthctl doctor” says more."
    )

    static let invalidated = AuthenticationError(.appCancel, "The context was invalidated.")

    /// Converts an error from the bus.
    ///
    /// Errors without a code of their own become `systemCancel`.
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
