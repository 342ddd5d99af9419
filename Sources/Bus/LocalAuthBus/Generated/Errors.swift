// Made by scripts/dbus-codegen from dbus/*.xml. Do not edit.
// swift-format-ignore-file
public import DBus

extension DBusError.Name {
    /// `org.localauth.Error.AgentExists`.
    public static let agentExists: Self = "org.localauth.Error.AgentExists"
    /// `org.localauth.Error.AppCancel`.
    public static let appCancel: Self = "org.localauth.Error.AppCancel"
    /// `org.localauth.Error.AuthenticationFailed`.
    public static let authenticationFailed: Self = "org.localauth.Error.AuthenticationFailed"
    /// `org.localauth.Error.BiometryDisconnected`.
    public static let biometryDisconnected: Self = "org.localauth.Error.BiometryDisconnected"
    /// `org.localauth.Error.BiometryLockout`.
    public static let biometryLockout: Self = "org.localauth.Error.BiometryLockout"
    /// `org.localauth.Error.BiometryNotAvailable`.
    public static let biometryNotAvailable: Self = "org.localauth.Error.BiometryNotAvailable"
    /// `org.localauth.Error.BiometryNotEnrolled`.
    public static let biometryNotEnrolled: Self = "org.localauth.Error.BiometryNotEnrolled"
    /// `org.localauth.Error.BiometryNotPaired`.
    public static let biometryNotPaired: Self = "org.localauth.Error.BiometryNotPaired"
    /// `org.localauth.Error.CompanionNotAvailable`.
    public static let companionNotAvailable: Self = "org.localauth.Error.CompanionNotAvailable"
    /// `org.localauth.Error.InvalidContext`.
    public static let invalidContext: Self = "org.localauth.Error.InvalidContext"
    /// `org.localauth.Error.InvalidDimensions`.
    public static let invalidDimensions: Self = "org.localauth.Error.InvalidDimensions"
    /// `org.localauth.Error.NotInteractive`.
    public static let notInteractive: Self = "org.localauth.Error.NotInteractive"
    /// `org.localauth.Error.PasscodeNotSet`.
    public static let passcodeNotSet: Self = "org.localauth.Error.PasscodeNotSet"
    /// `org.localauth.Error.SystemCancel`.
    public static let systemCancel: Self = "org.localauth.Error.SystemCancel"
    /// `org.localauth.Error.UserCancel`.
    public static let userCancel: Self = "org.localauth.Error.UserCancel"
    /// `org.localauth.Error.UserFallback`.
    public static let userFallback: Self = "org.localauth.Error.UserFallback"
    /// `org.localauth.Keychain1.Error.AuthFailed`.
    public static let keychainAuthFailed: Self = "org.localauth.Keychain1.Error.AuthFailed"
    /// `org.localauth.Keychain1.Error.Decode`.
    public static let keychainDecode: Self = "org.localauth.Keychain1.Error.Decode"
    /// `org.localauth.Keychain1.Error.Duplicate`.
    public static let keychainDuplicate: Self = "org.localauth.Keychain1.Error.Duplicate"
    /// `org.localauth.Keychain1.Error.InteractionNotAllowed`.
    public static let keychainInteractionNotAllowed:
        Self = "org.localauth.Keychain1.Error.InteractionNotAllowed"
    /// `org.localauth.Keychain1.Error.NotAvailable`.
    public static let keychainNotAvailable: Self = "org.localauth.Keychain1.Error.NotAvailable"
    /// `org.localauth.Keychain1.Error.NotFound`.
    public static let keychainNotFound: Self = "org.localauth.Keychain1.Error.NotFound"
    /// `org.localauth.Keychain1.Error.Parameter`.
    public static let keychainParameter: Self = "org.localauth.Keychain1.Error.Parameter"
    /// `org.localauth.Keychain1.Error.UserCanceled`.
    public static let keychainUserCanceled: Self = "org.localauth.Keychain1.Error.UserCanceled"
    /// `org.localauth.Passcode1.Error.Canceled`.
    public static let passcodeCanceled: Self = "org.localauth.Passcode1.Error.Canceled"
    /// `org.localauth.Passcode1.Error.Failed`.
    public static let passcodeFailed: Self = "org.localauth.Passcode1.Error.Failed"
    /// `org.localauth.Passcode1.Error.Refused`.
    public static let passcodeRefused: Self = "org.localauth.Passcode1.Error.Refused"
    /// `org.localauth.Sensor1.Error.Busy`.
    public static let sensorBusy: Self = "org.localauth.Sensor1.Error.Busy"
    /// `org.localauth.Sensor1.Error.Canceled`.
    public static let sensorCanceled: Self = "org.localauth.Sensor1.Error.Canceled"
    /// `org.localauth.Sensor1.Error.Denied`.
    public static let sensorDenied: Self = "org.localauth.Sensor1.Error.Denied"
    /// `org.localauth.Sensor1.Error.Disconnected`.
    public static let sensorDisconnected: Self = "org.localauth.Sensor1.Error.Disconnected"
    /// `org.localauth.Sensor1.Error.Duplicate`.
    public static let sensorDuplicate: Self = "org.localauth.Sensor1.Error.Duplicate"
    /// `org.localauth.Sensor1.Error.Failed`.
    public static let sensorFailed: Self = "org.localauth.Sensor1.Error.Failed"
    /// `org.localauth.Sensor1.Error.Full`.
    public static let sensorFull: Self = "org.localauth.Sensor1.Error.Full"
    /// `org.localauth.Sensor1.Error.NoTemplates`.
    public static let sensorNoTemplates: Self = "org.localauth.Sensor1.Error.NoTemplates"
}
