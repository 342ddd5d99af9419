import Contract

/// The numbers that an administrator may set.
package struct Settings: Hashable, Sendable {
    /// When a passive match has to be confirmed (L7).
    package enum Confirmation: Hashable, Sendable {
        /// Unless the sensor is strong or the caller declines it.
        case automatic
        case always
        case never
    }

    /// Consecutive non-matches until biometry is locked (R3).
    package var lockoutAttempts = 5
    /// Non-matches of a finger in one evaluation (R1).
    package var fingerprintAttempts = 3
    /// Non-matches of a face or an iris in one evaluation (R2).
    package var faceAttempts = 2
    /// When a passive match has to be confirmed.
    package var faceConfirmation = Confirmation.automatic
    /// Whether a face may be learned from a match that the passcode has confirmed.
    package var learnsFaces = false
    /// Whether biometry waits for a passcode after a boot and after a logout (L11).
    package var passcodeAfterBoot = false
    /// The time without any unlock after which it does; nil: never.
    package var passcodeAfter: Duration? = .seconds(48 * 3600)
    /// The time without a passcode, the end of it without a biometric unlock, after which it does;
    /// nil: never.
    package var passcodeAfterWithBiometry: Duration? = .seconds(156 * 3600)
    /// How long that end is.
    package var withoutBiometry = Duration.seconds(4 * 3600)
    /// The oldest biometric unlock that answers an evaluation (R34).
    package var longestReuse = Duration.seconds(300)
    /// Wrong passcodes in one prompt (L10).
    package var passcodeAttempts = 5
    /// Evaluations that wait for the prompt of one session (L9).
    package var queuePerSession = 8
    /// Evaluations of one connection that have not been answered.
    package var pendingPerConnection = 8
    /// Of these, evaluations that wait for the prompt (L9).
    package var waitingPerConnection = 2
    /// How long no passcode is taken after the 6th, 7th, 8th, and each later wrong one (L10).
    package var passcodeDelays: [Duration] = [
        .seconds(60), .seconds(300), .seconds(900), .seconds(3600),
    ]
    /// How long a success stays with its context at most.
    package var contextLifetime = Duration.seconds(600)
    /// How long an agent may take to show a prompt.
    package var agentPatience = Duration.seconds(5)

    package init() {}

    /// How long no passcode is taken after so many consecutive wrong ones; nil: no delay (L10).
    ///
    /// After a boot the whole current delay starts again.
    package func passcodeDelay(afterWrong count: Int) -> Duration? {
        guard count >= Settings.firstDelayedPasscode, !passcodeDelays.isEmpty else { return nil }
        let step = min(count - Settings.firstDelayedPasscode, passcodeDelays.count - 1)
        return passcodeDelays[step]
    }

    /// The consecutive wrong passcode that starts the first delay.
    static let firstDelayedPasscode = 6

    /// Non-matches of this type in one evaluation; a companion counts like a finger.
    func attempts(of type: BiometryType) -> Int {
        type.isPassive ? faceAttempts : fingerprintAttempts
    }

    /// The non-match of this type that brings the fallback button (R2).
    func fallbackThreshold(of type: BiometryType) -> Int {
        type.isPassive ? min(2, faceAttempts) : 1
    }
}
