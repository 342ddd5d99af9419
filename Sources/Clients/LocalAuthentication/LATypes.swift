/// What has to be proved.
public enum LAPolicy: Int, Sendable {
    /// Biometry, nothing else.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// Biometry or the passcode.
    case deviceOwnerAuthentication = 2
    /// A companion device.
    case deviceOwnerAuthenticationWithCompanion = 3
    /// Biometry or a companion device.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

    /// The older name of ``deviceOwnerAuthenticationWithCompanion``.
    public static let deviceOwnerAuthenticationWithWatch = deviceOwnerAuthenticationWithCompanion
    /// The older name of ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
    public static let deviceOwnerAuthenticationWithBiometricsOrWatch =
        deviceOwnerAuthenticationWithBiometricsOrCompanion
}

/// What the strongest sensor looks at.
public enum LABiometryType: Int, Sendable {
    /// There is no sensor.
    case none = 0
    /// A fingerprint.
    case touchID = 1
    /// A face.
    case faceID = 2
    /// An iris.
    case opticID = 4

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The older name of ``none``, in Apple's own spelling.
    public static let LABiometryNone = none
}

/// A secret that an app gives to its context.
public enum LACredentialType: Int, Sendable {
    /// The password of the app.
    case applicationPassword = 0
    /// The PIN of a smart card.
    case smartCardPIN = -3
}

/// What is done with an item or a key.
public enum LAAccessControlOperation: Int, Sendable {
    /// Storing an item.
    case createItem = 0
    /// Reading an item.
    case useItem = 1
    /// Making a key.
    case createKey = 2
    /// Signing.
    case useKeySign = 3
    /// Decrypting.
    case useKeyDecrypt = 4
    /// Agreeing on a secret.
    case useKeyKeyExchange = 5
}

/// What kind of device stands in for the person.
public enum LACompanionType: Int, Sendable {
    /// What is worn, or carried near: a security key, a phone.
    case watch = 1
    /// Another computer.
    case mac = 2
    /// A headset.
    case vision = 4
}
