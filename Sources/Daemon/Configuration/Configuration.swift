package import AuthEngine
package import Contract

/// What an administrator may set in `localauth.conf`; the names are those of the keys.
package struct Configuration: Hashable, Sendable {
    /// Whether biometry needs a passcode first after a boot; nil: on the system bus only.
    package var passcodeAfterBoot: Bool?
    /// Hours without any unlock after which biometry needs a passcode first; 0: never.
    package var passcodeAfterHours = 48
    /// Hours without a passcode, the last four of them without biometry, likewise; 0: never.
    package var passcodeAfterHoursWithBiometry = 156
    /// Consecutive non-matches until biometry is locked.
    package var lockoutAttempts = 5
    /// Non-matches of a finger in one evaluation.
    package var attemptsFingerprint = 3
    /// Non-matches of a face or an iris in one evaluation.
    package var attemptsFace = 2
    /// When a passive match has to be confirmed.
    package var faceConfirmation = Settings.Confirmation.automatic
    /// Whether a face may be learned from a match that the passcode has confirmed.
    package var faceLearning = false
    /// The weakest sensor that may open a keychain item.
    package var keychainStrength = Strength.strong
    /// The longest that a success stays with its context, in minutes.
    package var successMinutes = 10
    /// Wrong passcodes in one prompt.
    package var passcodeAttempts = 5
    /// Sensors that are not used: last elements of bus names.
    package var disabledSensors: Set<String> = []
    /// Context objects of one connection.
    package var contextsPerConnection = 256
    /// Context objects of one user.
    package var contextsPerUser = 1024
    /// Evaluations of one connection that have not been answered.
    package var pendingPerConnection = 8
    /// Evaluations that wait for the prompt of one session.
    package var queuePerSession = 8
    /// Keychain items of one user.
    package var itemsPerUser = 20_000

    /// The defaults.
    package init() {}

    /// What of it the engine goes by: for the whole system's service a boot counts (L11).
    package func engineSettings(isSystemBus: Bool) -> Settings {
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
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file as it was named.
    package let file: String
    /// The line, counted from 1; nil when it is about the whole file.
    package let line: Int?
    /// One sentence that names the key and what it takes.
    package let message: String

    /// `FILE:LINE: message`, or `FILE: message`.
    package var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}
