import Contract

package struct Settings: Hashable, Sendable {
    /// When a passive match needs a confirmation (L7).
    package enum Confirmation: Hashable, Sendable {
        /// Unless the sensor is strong or the caller declines the confirmation.
        case automatic
        case always
        case never
    }

    /// Consecutive misses that lock biometry (R3).
    package var lockoutAttempts = 5
    /// Misses of a finger that use up its attempts in an evaluation (R1).
    package var fingerprintAttempts = 3
    /// Misses of a face or an iris that use up its attempts in an evaluation (R2).
    package var faceAttempts = 2
    package var faceConfirmation = Confirmation.automatic
    /// Whether a face template may be updated from a match that the password has confirmed.
    package var updatesFaceTemplates = false
    /// Whether biometry waits for a password after a boot and after a logout (L11).
    package var passcodeAfterBoot = false
    /// The time without any unlock after which biometry waits for a password; nil means never.
    package var passcodeAfter: Duration? = .seconds(48 * 3600)
    /// The time without a password after which biometry waits for one; nil means never.
    ///
    /// The rule also needs `withoutBiometry` to have passed since the last biometric unlock.
    package var passcodeAfterWithBiometry: Duration? = .seconds(156 * 3600)
    /// The time without a biometric unlock for `passcodeAfterWithBiometry`.
    package var withoutBiometry = Duration.seconds(4 * 3600)
    /// The greatest age of a biometric unlock that answers an evaluation (R34).
    package var longestReuse = Duration.seconds(300)
    /// Wrong passwords that end an evaluation (L10).
    package var passcodeAttempts = 5
    /// Evaluations that may wait for the prompt of one session (L9).
    package var queuePerSession = 8
    /// Evaluations of one connection that may be pending.
    package var pendingPerConnection = 8
    /// Pending evaluations of one connection that may wait for the prompt (L9).
    package var waitingPerConnection = 2
    /// The delays after the 6th, 7th, 8th and each later wrong password (L10).
    package var passcodeDelays: [Duration] = [
        .seconds(60), .seconds(300), .seconds(900), .seconds(3600),
    ]
    /// How long a success stays valid in its context at most.
    package var contextLifetime = Duration.seconds(600)
    package var agentPatience = Duration.seconds(5)

    package init() {}

    /// The delay after this number of consecutive wrong passwords; nil means no delay (L10).
    ///
    /// After a boot, the whole current delay starts again.
    package func passcodeDelay(afterWrong count: Int) -> Duration? {
        guard count >= Settings.firstDelayedPasscode, !passcodeDelays.isEmpty else { return nil }
        let step = min(count - Settings.firstDelayedPasscode, passcodeDelays.count - 1)
        return passcodeDelays[step]
    }

    /// The consecutive wrong password that starts the first delay.
    static let firstDelayedPasscode = 6

    /// Misses allowed in one evaluation.
    ///
    /// A companion counts like a finger.
    func attempts(of type: BiometryType) -> Int {
        type.isPassive ? faceAttempts : fingerprintAttempts
    }

    /// The number of misses after which the fallback button appears (R2).
    func fallbackThreshold(of type: BiometryType) -> Int {
        type.isPassive ? min(2, faceAttempts) : 1
    }
}
