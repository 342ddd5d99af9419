package import AuthEngine
package import Contract

/// The administrator's settings in `localauth.conf`; properties are named after the keys.
package struct Configuration: Hashable, Sendable {
    /// Whether biometry needs a password first after a boot; nil means on the system bus only.
    package var passcodeAfterBoot: Bool?
    /// Hours without any unlock until biometry needs a password; 0 means never.
    package var passcodeAfterHours = 48
    /// Hours without a password, the last four also without biometry, until it is needed; 0 means
    /// never.
    package var passcodeAfterHoursWithBiometry = 156
    /// Consecutive misses until biometry is locked.
    package var lockoutAttempts = 5
    /// Misses of a finger in one evaluation.
    package var attemptsFingerprint = 3
    /// Misses of a face or an iris in one evaluation.
    package var attemptsFace = 2
    /// When the user has to confirm a passive match.
    package var faceConfirmation = Settings.Confirmation.automatic
    /// Whether the face sensor may update a template after a password confirmed the match.
    package var faceLearning = false
    /// The weakest sensor that may open a keychain item.
    package var keychainStrength = Strength.strong
    /// The longest time that a success stays with its context, in minutes.
    package var successMinutes = 10
    package var passcodeAttempts = 5
    /// Sensors that the service ignores, by the last element of their bus names.
    package var disabledSensors: Set<String> = []
    /// Context objects of one connection.
    package var contextsPerConnection = 256
    /// Context objects of one user.
    package var contextsPerUser = 1024
    /// Unanswered evaluations of one connection.
    package var pendingPerConnection = 8
    /// Evaluations that wait for the prompt of one session.
    package var queuePerSession = 8
    /// Keychain items of one user.
    package var itemsPerUser = 20_000

    package init() {}

    /// Returns the engine's settings; by default only the system bus service needs a password after
    /// boot (L11).
    package func engineSettings(isSystemBus: Bool) -> Settings {
        var settings = Settings()
        settings.passcodeAfterBoot = passcodeAfterBoot ?? isSystemBus
        settings.passcodeAfter = Self.hours(passcodeAfterHours)
        settings.passcodeAfterWithBiometry = Self.hours(passcodeAfterHoursWithBiometry)
        settings.lockoutAttempts = lockoutAttempts
        settings.fingerprintAttempts = attemptsFingerprint
        settings.faceAttempts = attemptsFace
        settings.faceConfirmation = faceConfirmation
        settings.updatesFaceTemplates = faceLearning
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

/// Why the configuration can't be used, and where the mistake is.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's path, as given.
    package let file: String
    /// The line, counted from 1; nil if the error concerns the whole file.
    package let line: Int?
    /// A sentence that names the key and its allowed values.
    package let message: String

    package var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}
