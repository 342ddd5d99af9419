/// Why the passcode is asked for, or has to be given before biometry.
///
/// A word of the interface's documentation, or a sentence that an administrator sent.
public struct PasscodeCause: RawRepresentable, Hashable, Sendable {
    /// As it is stored and sent.
    public let rawValue: String

    /// A cause by its word, known or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    // MARK: Biometry waits for a passcode

    /// After a boot or a logout (L11).
    public static let boot = PasscodeCause(rawValue: "boot")
    /// After too long without any unlock (L11).
    public static let hours = PasscodeCause(rawValue: "hours")
    /// After too long without a passcode, whatever biometry did (L11).
    public static let hoursWithBiometry = PasscodeCause(rawValue: "hours-with-biometry")
    /// The device was locked remotely.
    public static let remote = PasscodeCause(rawValue: "remote")
    /// The stored state was damaged.
    public static let damaged = PasscodeCause(rawValue: "damaged")
    /// Somebody required it without saying why.
    public static let required = PasscodeCause(rawValue: "required")

    // MARK: A prompt asks for it

    /// Too many attempts failed, over all evaluations (R3).
    public static let lockout = PasscodeCause(rawValue: "lockout")
    /// The attempts of this evaluation are used up.
    public static let attempts = PasscodeCause(rawValue: "attempts")
    /// The person chose it.
    public static let fallback = PasscodeCause(rawValue: "fallback")
    /// No sensor looks any more.
    public static let sensorFailed = PasscodeCause(rawValue: "sensor-failed")
    /// The delay after wrong passcodes is over (L10).
    public static let delayOver = PasscodeCause(rawValue: "delay-over")
    /// What was typed could not be checked.
    public static let verifierFailed = PasscodeCause(rawValue: "verifier-failed")
    /// The app's own password is asked for.
    public static let applicationPassword = PasscodeCause(rawValue: "application-password")
    /// The access control asks for it as well.
    public static let accessControl = PasscodeCause(rawValue: "access-control")

    /// A cause from outside as it may be kept and shown: short, and printable.
    var bounded: PasscodeCause {
        let printable = rawValue.unicodeScalars.prefix(64)
            .filter { scalar in
                let properties = scalar.properties
                return properties.generalCategory != .control
                    && properties.generalCategory != .format
            }
        guard !printable.isEmpty else { return .required }
        return PasscodeCause(rawValue: String(String.UnicodeScalarView(printable)))
    }
}
