public import AuthEngine

/// What an administrator may set in `localauth.conf`; the names are those of the keys.
public struct Configuration: Hashable, Sendable {
    /// Whether biometry needs a passcode first after a boot; nil: on the system bus only.
    public var passcodeAfterBoot: Bool?
    /// Hours without any unlock after which biometry needs a passcode first; 0: never.
    public var passcodeAfterHours = 48
    /// Hours without a passcode, the last four of them without biometry, likewise; 0: never.
    public var passcodeAfterHoursWithBiometry = 156
    /// Consecutive non-matches until biometry is locked.
    public var lockoutAttempts = 5
    /// Non-matches of a finger in one evaluation.
    public var attemptsFingerprint = 3
    /// Non-matches of a face or an iris in one evaluation.
    public var attemptsFace = 2
    /// When a passive match has to be confirmed.
    public var faceConfirmation = Settings.Confirmation.automatic
    /// Whether a face may be learned from a match that the passcode has confirmed.
    public var faceLearning = false
    /// The weakest sensor that may open a keychain item.
    public var keychainStrength = Strength.strong
    /// The longest that a success stays with its context, in minutes.
    public var successMinutes = 10
    /// Wrong passcodes in one prompt.
    public var passcodeAttempts = 5
    /// Sensors that are not used: last elements of bus names.
    public var disabledSensors: Set<String> = []
    /// Context objects of one connection.
    public var contextsPerConnection = 256
    /// Context objects of one user.
    public var contextsPerUser = 1024
    /// Evaluations of one connection that have not been answered.
    public var pendingPerConnection = 8
    /// Evaluations that wait for the prompt of one session.
    public var queuePerSession = 8
    /// Keychain items of one user.
    public var itemsPerUser = 20_000

    /// The defaults.
    public init() {}

    /// What of it the engine goes by: for the whole system's service a boot counts (L11).
    public func engineSettings(isSystemBus: Bool) -> Settings {
        var settings = Settings()
        settings.passcodeAfterBoot = passcodeAfterBoot ?? isSystemBus
        settings.passcodeAfter = Self.hours(passcodeAfterHours)
        settings.passcodeAfterWithBiometry = Self.hours(passcodeAfterHoursWithBiometry)
        settings.lockoutAttempts = lockoutAttempts
        settings.fingerprintAttempts = attemptsFingerprint
        settings.faceAttempts = attemptsFace
        settings.faceConfirmation = faceConfirmation
        settings.learnsFaces = faceLearning
        settings.contextLifetime = .seconds(successMinutes * 60)
        settings.passcodeAttempts = passcodeAttempts
        settings.queuePerSession = queuePerSession
        settings.pendingPerConnection = pendingPerConnection
        return settings
    }

    private static func hours(_ count: Int) -> Duration? {
        count == 0 ? nil : .seconds(count * 3600)
    }
}

/// Why a configuration can't be used, with the place.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file as it was named.
    public let file: String
    /// The line, counted from 1; nil when it is about the whole file.
    public let line: Int?
    /// One sentence that names the key and what it takes.
    public let message: String

    /// `FILE:LINE: message`, or `FILE: message`.
    public var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}
