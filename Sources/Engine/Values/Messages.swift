import Contract

extension Refusal {
    static let invalidContext = Refusal(
        .invalidContext,
        "This context was invalidated and can't be used any more."
    )
    static let tooManyPending = Refusal(
        .limitsExceeded,
        "This connection waits for too many answers at once."
    )
    static let tooManyWaiting = Refusal(
        .limitsExceeded,
        "Too many others wait for the prompt of this session."
    )
    static let callerUnknown = Refusal(.systemCancel, "The service could not identify the caller.")
    static let noAgent = Refusal(.notInteractive, "No program in this session can show a prompt.")
    static let interactionNotAllowed = Refusal(
        .notInteractive,
        "The user would have to be asked, and the caller forbade it."
    )
    static let deadlinePassed = Refusal(.systemCancel, "The time for this evaluation is over.")
    static let agentSilent = Refusal(.systemCancel, "The prompt did not appear in time.")
    static let agentFailed = Refusal(
        .systemCancel,
        "The program that shows the prompt failed or left."
    )
    static let loginManagerSilent = Refusal(
        .systemCancel,
        "The login manager did not confirm your session. Try again."
    )
    static let templateRemoved = Refusal(
        .systemCancel,
        "The fingerprint or face that matched was removed meanwhile."
    )
    static let unlockFirst = Refusal(.systemCancel, "Unlocking the screen came first.")
    static let sessionLocked = Refusal(.systemCancel, "The session was locked.")
    static let sessionUnlocked = Refusal(.systemCancel, "The session was unlocked.")
    static let sessionLeft = Refusal(.systemCancel, "The session is not in front any more.")
    static let enrolmentChanged = Refusal(.systemCancel, "The enrolled biometry changed meanwhile.")
    static let suspending = Refusal(.systemCancel, "The machine goes to sleep.")
    static let stopping = Refusal(.systemCancel, "The authentication service stops.")
    static let notWritten = Refusal(
        .systemCancel,
        "The authentication service could not write its state."
    )
    static let verifierFailed = Refusal(.systemCancel, "The password could not be checked.")
    static let userCancel = Refusal(.userCancel, "The user canceled.")
    static let userFallback = Refusal(.userFallback, "The user chose another way.")
    static let appCancel = Refusal(.appCancel, "The caller ended the evaluation.")
    static let attemptsUsedUp = Refusal(.authenticationFailed, "No attempt matched.")
    static let passcodesUsedUp = Refusal(.authenticationFailed, "Too many wrong passwords.")
    static let nothingToProve = Refusal(.systemCancel, "This needs no proof.")
    static let wrongPassword = Refusal(.authenticationFailed, "The app's password was wrong.")
    static let passcodeNotSet = Refusal(.passcodeNotSet, "This user has no password.")
    static let passcodeUnknown = Refusal(
        .passcodeNotSet,
        "No password can be given now: the program that verifies it can't be asked."
    )
    /// Returns the refusal for the obstacle that is the easiest to fix.
    static func noSensor(_ obstacles: [Unavailability]) -> Refusal {
        let easiest = easiestFirst.first { $0.reasons.contains(where: obstacles.contains) }
        return Refusal(
            .biometryNotAvailable,
            easiest?.sentence ?? "No biometric sensor can be used now."
        )
    }

    private static let easiestFirst: [(reasons: [Unavailability], sentence: String)] = [
        ([.lidClosed], "No biometric sensor can be used while the lid is closed."),
        ([.failed], "The biometric sensor doesn't work; localauthctl doctor says why."),
        ([.crashed], "The biometric sensor's program ended; localauthctl doctor says more."),
        (
            [.untrusted, .incompatible],
            "The biometric sensor may not be used; localauthctl doctor says why."
        ),
        ([.noHardware], "The biometric sensor has no device; is it plugged in?"),
    ]

    static let sensorStarting = Refusal(
        .biometryNotAvailable,
        "A biometric sensor is still starting: try again in a moment."
    )
    static let remoteSession = Refusal(
        .biometryNotAvailable,
        "Biometric sensors can't be used from a remote session."
    )
    static let promptElsewhere = Refusal(
        .biometryNotAvailable,
        "The caller is in no session, and its prompt is not known to be shown at the machine: "
            + "biometric sensors can't be used."
    )
    static func sensorsFailed(_ loss: Prompt.Loss?) -> Refusal {
        switch loss {
        case nil: Refusal(.biometryNotAvailable, "The biometric sensors failed.")
        case .fault(let fault):
            Refusal(.biometryNotAvailable, "No biometric sensor is left: \(fault.message)")
        case .templateRemoved: templateRemoved
        }
    }

    static let sensorAway = Refusal(
        .biometryDisconnected,
        "This user's sensor is not connected."
    )
    static let notEnrolled = Refusal(
        .biometryNotEnrolled,
        "This user has not enrolled with any sensor."
    )
    static let noCompanion = Refusal(.companionNotAvailable, "No companion device can be used now.")
    static let companionFailed = Refusal(.companionNotAvailable, "The companion device failed.")
    static let companionNotPaired = Refusal(
        .biometryNotPaired,
        "No companion device is paired with this user."
    )
    static let tooManyFailures = Refusal(
        .biometryLockout,
        "Biometry is locked after too many failed attempts; the password unlocks it."
    )
    static let biometryStopped = Refusal(
        .biometryLockout,
        "Biometry was stopped; the password is required first."
    )

    static func passcodeFirst(cause: PasscodeCause) -> Refusal {
        Refusal(.biometryLockout, sentence(for: cause))
    }

    private static func sentence(for cause: PasscodeCause) -> String {
        switch cause.word {
        case .boot: "The password is required before biometry after a restart or a logout."
        case .hours: "The password is required before biometry after so long without unlocking."
        case .hoursWithBiometry:
            "After so long without a password, the password is required before biometry."
        case .damaged:
            "The password is required before biometry because the stored state was damaged."
        case .program: "The password is required before biometry: a program of yours asked."
        case .remote:
            cause.text.map {
                "The password is required before biometry. An administrator says: “\($0)”"
            } ?? "The password is required before biometry: an administrator asked for it."
        default: "The password is required before biometry."
        }
    }

    static func passcodeDelayed(left: Duration) -> Refusal {
        Refusal(
            .authenticationFailed,
            "After too many wrong passwords, you cannot enter a password for another "
                + "\(left.inWords)."
        )
    }
}

extension Duration {
    /// The duration for people.
    ///
    /// Rounded up, because the delay must not last longer than announced.
    package var inWords: String {
        let seconds = max(1, components.seconds + (components.attoseconds > 0 ? 1 : 0))
        return seconds < 120 ? "\(seconds) seconds" : "\((seconds + 59) / 60) minutes"
    }
}

extension Absence {
    package var refusal: Refusal {
        switch self {
        case .noSession:
            Refusal(.notInteractive, "This user has no session at this machine.")
        case .otherUser:
            Refusal(.notInteractive, "The caller is in a session of another user.")
        case .inactive:
            Refusal(.notInteractive, "The session is not in front.")
        case .locked:
            Refusal(.notInteractive, "The session is locked.")
        case .asleep: .suspending
        case .noAgent: .noAgent
        case .noAgentThere:
            Refusal(.notInteractive, "The caller is in no session, and no session has a prompt.")
        case .unknown:
            Refusal(.notInteractive, "Which session the caller is in can't be found out.")
        }
    }
}
