/// The proof that an evaluation needs; raw values are Apple's.
public enum Policy: UInt32, Sendable, CaseIterable {
    /// Biometry alone.
    case biometrics = 1
    /// Biometry, or the password of the account.
    case biometricsOrPasscode = 2
    /// A companion device: a security key, a phone.
    case companion = 3
    /// Biometry or a companion device, whichever answers first.
    case biometricsOrCompanion = 4
}

/// The proof that a person gave: `mechanism` in the result of Evaluate.
public enum Mechanism: String, Sendable, CaseIterable {
    /// A sensor matched.
    case biometry
    /// The password of the account was right.
    case passcode
    /// A companion device answered.
    case companion
    /// A biometric unlock of the device was recent enough (R34).
    case reuse
    /// The context had succeeded before (R33).
    case context
    /// The app's own password, if an access control asks for that alone.
    case applicationPassword = "application-password"
}

/// The code of a refused evaluation, or of a negative answer to CanEvaluate.
///
/// Raw values are Apple's `LAError` codes; ``limitsExceeded`` is ours.
public enum RefusalCode: Int32, Sendable, CaseIterable {
    /// The attempts are used up.
    case authenticationFailed = -1
    /// The person canceled.
    case userCancel = -2
    /// The person chose the fallback.
    case userFallback = -3
    /// A lock, a deadline or a stop came first.
    case systemCancel = -4
    /// The person has no password.
    case passcodeNotSet = -5
    /// No sensor can be used.
    case biometryNotAvailable = -6
    /// The person is enrolled on no sensor.
    case biometryNotEnrolled = -7
    /// A password is needed before biometry.
    case biometryLockout = -8
    /// Invalidate came while it ran.
    case appCancel = -9
    /// Invalidate came before the call.
    case invalidContext = -10
    /// No companion device can be used.
    case companionNotAvailable = -11
    /// No companion device is paired.
    case biometryNotPaired = -12
    /// The sensor with the templates is away.
    case biometryDisconnected = -13
    /// In Apple's table; the service never sends it.
    case invalidDimensions = -14
    /// A prompt is not possible or not allowed.
    case notInteractive = -1004
    /// Too many at once.
    case limitsExceeded = 1
}
