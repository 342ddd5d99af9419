extension LAError {
    public static var authenticationFailed: LAError.Code { .authenticationFailed }
    public static var userCancel: LAError.Code { .userCancel }
    public static var userFallback: LAError.Code { .userFallback }
    public static var systemCancel: LAError.Code { .systemCancel }
    public static var passcodeNotSet: LAError.Code { .passcodeNotSet }
    public static var biometryNotAvailable: LAError.Code { .biometryNotAvailable }
    public static var biometryNotEnrolled: LAError.Code { .biometryNotEnrolled }
    public static var biometryLockout: LAError.Code { .biometryLockout }
    public static var touchIDNotAvailable: LAError.Code { .touchIDNotAvailable }
    public static var touchIDNotEnrolled: LAError.Code { .touchIDNotEnrolled }
    public static var touchIDLockout: LAError.Code { .touchIDLockout }
    public static var appCancel: LAError.Code { .appCancel }
    public static var invalidContext: LAError.Code { .invalidContext }
    public static var companionNotAvailable: LAError.Code { .companionNotAvailable }
    public static var watchNotAvailable: LAError.Code { .watchNotAvailable }
    public static var biometryNotPaired: LAError.Code { .biometryNotPaired }
    public static var biometryDisconnected: LAError.Code { .biometryDisconnected }
    public static var invalidDimensions: LAError.Code { .invalidDimensions }
    public static var notInteractive: LAError.Code { .notInteractive }
}
