extension LAError {
    /// The code of that name.
    public static var authenticationFailed: LAError.Code { .authenticationFailed }
    /// The code of that name.
    public static var userCancel: LAError.Code { .userCancel }
    /// The code of that name.
    public static var userFallback: LAError.Code { .userFallback }
    /// The code of that name.
    public static var systemCancel: LAError.Code { .systemCancel }
    /// The code of that name.
    public static var passcodeNotSet: LAError.Code { .passcodeNotSet }
    /// The code of that name.
    public static var biometryNotAvailable: LAError.Code { .biometryNotAvailable }
    /// The code of that name.
    public static var biometryNotEnrolled: LAError.Code { .biometryNotEnrolled }
    /// The code of that name.
    public static var biometryLockout: LAError.Code { .biometryLockout }
    /// The code of that name.
    public static var touchIDNotAvailable: LAError.Code { .touchIDNotAvailable }
    /// The code of that name.
    public static var touchIDNotEnrolled: LAError.Code { .touchIDNotEnrolled }
    /// The code of that name.
    public static var touchIDLockout: LAError.Code { .touchIDLockout }
    /// The code of that name.
    public static var appCancel: LAError.Code { .appCancel }
    /// The code of that name.
    public static var invalidContext: LAError.Code { .invalidContext }
    /// The code of that name.
    public static var companionNotAvailable: LAError.Code { .companionNotAvailable }
    /// The code of that name.
    public static var watchNotAvailable: LAError.Code { .watchNotAvailable }
    /// The code of that name.
    public static var biometryNotPaired: LAError.Code { .biometryNotPaired }
    /// The code of that name.
    public static var biometryDisconnected: LAError.Code { .biometryDisconnected }
    /// The code of that name.
    public static var invalidDimensions: LAError.Code { .invalidDimensions }
    /// The code of that name.
    public static var notInteractive: LAError.Code { .notInteractive }
}
