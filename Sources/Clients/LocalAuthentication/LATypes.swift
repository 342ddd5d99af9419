/// The proof that an evaluation needs.
public enum LAPolicy: Int, Sendable {
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// Biometry or the password.
    case deviceOwnerAuthentication = 2
    case deviceOwnerAuthenticationWithCompanion = 3
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

    /// The older name of ``deviceOwnerAuthenticationWithCompanion``.
    public static let deviceOwnerAuthenticationWithWatch = deviceOwnerAuthenticationWithCompanion
    /// The older name of ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
    public static let deviceOwnerAuthenticationWithBiometricsOrWatch =
        deviceOwnerAuthenticationWithBiometricsOrCompanion
}

/// The kind of the strongest sensor.
public enum LABiometryType: Int, Sendable {
    case none = 0
    case touchID = 1
    case faceID = 2
    case opticID = 4

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The older name of ``none``, in Apple's own spelling.
    public static let LABiometryNone = none
}

public enum LACredentialType: Int, Sendable {
    case applicationPassword = 0
    case smartCardPIN = -3
}

/// An operation on an item or a key.
public enum LAAccessControlOperation: Int, Sendable {
    case createItem = 0
    /// Reading an item.
    case useItem = 1
    case createKey = 2
    case useKeySign = 3
    case useKeyDecrypt = 4
    case useKeyKeyExchange = 5
}

/// The kind of a companion device.
public enum LACompanionType: Int, Sendable {
    /// A device near the user: a security key, a phone or a wearable.
    case watch = 1
    /// Another computer.
    case mac = 2
    /// A headset.
    case vision = 4
}
