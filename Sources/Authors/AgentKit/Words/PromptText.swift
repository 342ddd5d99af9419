import Contract
internal import Localization

/// All sentences of a prompt, in the user's language.
public enum PromptText {
    public static var heading: String { localized("Authentication Required") }

    public static func requestSentence(_ details: PromptDetails) -> String {
        let reason = translation(of: details.reason, like: reasons)
        let caller = caller(details)
        guard details.requester.isEmpty else {
            return localized(
                "%1$s, on behalf of “%2$s”, is trying to %3$s",
                caller,
                details.requester,
                reason
            )
        }
        return details.isSandboxed || details.program != nil
            ? localized("%1$s is trying to %2$s", caller, reason)
            : localized("%1$s wants to %2$s", caller, reason)
    }

    private static func caller(_ details: PromptDetails) -> String {
        guard !details.appName.isEmpty else { return appTitle(details) }
        return details.isSandboxed
            ? localized("The sandboxed app “%1$s”", details.appName)
            : localized("“%1$s”", details.appName)
    }

    /// The service's own reasons; an app's reason stays in the app's language.
    private static let reasons = [
        marked("add a fingerprint, a face or a key to %1$s"),
        marked("remove a fingerprint, a face or a key from %1$s"),
        marked("remove everything of yours from %1$s"),
    ]

    /// The caller's name, or a description of a caller without a verified name (L33).
    public static func appTitle(_ details: PromptDetails) -> String {
        guard details.appName.isEmpty else {
            return details.appName.count > 64 ? details.appName.prefix(63) + "…" : details.appName
        }
        return details.isSandboxed
            ? localized("A sandboxed app") : localized("A program that hides what it is")
    }

    public static func sensorName(_ type: UInt32) -> String {
        switch type {
        case 1: localized("Fingerprint sensor")
        case 2: localized("Camera")
        case 4: localized("Iris scanner")
        default: localized("Security key")
        }
    }

    /// The caller's program or sandboxed app, without its name.
    public static func origin(_ details: PromptDetails) -> String {
        let pid = "\(details.pid)"
        if details.isSandboxed {
            return details.sandboxID.isEmpty
                ? localized("Process %1$s is in a sandbox that does not name its app.", pid)
                : localized("Sandboxed app %1$s", details.sandboxID)
        }
        return details.program?.path
            ?? localized("Process %1$s does not show which program it runs.", pid)
    }

    /// A sentence about the app that the caller claims to act for; nil without a claim.
    public static func claimedRequester(_ details: PromptDetails) -> String? {
        guard !details.requester.isEmpty else { return nil }
        return details.requesterPID == 0
            ? localized("“%1$s” is the app's own claim.", details.requester)
            : localized(
                "“%1$s” (process %2$s) is the app's own claim.",
                details.requester,
                "\(details.requesterPID)"
            )
    }

    /// Further facts about the caller, one a line.
    public static func facts(_ details: PromptDetails) -> [String] {
        var lines = [localized("Process: %1$s", "\(details.pid)")]
        guard let program = details.program else { return lines }
        if !program.ancestors.isEmpty {
            let chain = program.ancestors.joined(separator: " ← ")
            lines.append(localized("Started by: %1$s", chain))
        }
        lines.append(localized("Any program of yours can start this program."))
        return lines
    }

    /// The instructions at the start of a prompt.
    public static func invitation(_ details: PromptDetails) -> String {
        switch details.stage {
        case .passcode: localized("Enter your password.")
        case .applicationPassword: localized("Enter the password of this item.")
        case .biometry:
            invitation(
                details,
                at: details.types,
                takesPassword: details.takesPasscodeAtOnce
            )
        }
    }

    /// The instructions for sensors of these types, with a line for each sensor's own text.
    static func invitation(
        _ details: PromptDetails,
        at types: [UInt32],
        takesPassword: Bool
    ) -> String {
        let sensors = Array(zip(details.sensors, details.sensorTypes))
        let own = sensors.filter { sensor, type in
            (type == 0 || types.contains(type)) && details.instructions[sensor] != nil
        }
        var lines = own.map { localized("%1$s: “%2$s”", $0.0, details.instructions[$0.0] ?? "") }
        // Skip types whose sensors all bring their own text.
        let plain = types.filter { type in
            let others = sensors.filter { $0.1 == type && details.instructions[$0.0] == nil }
            return !others.isEmpty || !own.contains { $0.1 == type }
        }
        if !plain.isEmpty || own.isEmpty {
            lines.append(generalInvitation(Set(plain), takesPassword))
        } else if takesPassword {
            lines.append(localized("You can also enter your password."))
        }
        return lines.joined(separator: "\n")
    }

    /// An empty set stands for companions only.
    private static func generalInvitation(_ types: Set<UInt32>, _ takesPassword: Bool) -> String {
        switch types {
        case [], [0]:
            takesPassword
                ? localized("Use your security key or enter your password.")
                : localized("Use your security key.")
        case [1]:
            takesPassword
                ? localized("Touch the fingerprint sensor or enter your password.")
                : localized("Touch the fingerprint sensor.")
        case [2]:
            takesPassword
                ? localized("Look at the camera or enter your password.")
                : localized("Look at the camera.")
        case [4]:
            takesPassword
                ? localized("Look at the iris scanner or enter your password.")
                : localized("Look at the iris scanner.")
        case [1, 2]:
            takesPassword
                ? localized(
                    "Touch the fingerprint sensor, look at the camera, or enter your password."
                )
                : localized("Touch the fingerprint sensor or look at the camera.")
        case [0, 1] where !takesPassword:
            localized("Touch the fingerprint sensor or use your security key.")
        case [0, 2] where !takesPassword:
            localized("Look at the camera or use your security key.")
        default:
            takesPassword
                ? localized("Use one of your sensors or enter your password.")
                : localized("Use one of your sensors.")
        }
    }

    /// The label before the password field.
    public static func passcodeLabel(
        _ details: PromptDetails,
        asksApplicationPassword: Bool
    ) -> String {
        let label =
            if asksApplicationPassword {
                localized("Password of the item:")
            } else if details.user.isEmpty {
                localized("Password:")
            } else {
                localized("Password of %1$s:", details.user)
            }
        return label + " "
    }

    /// A sentence about an event; nil for an event without text.
    public static func sentence(_ progress: PromptProgress) -> String? {
        sentence(progress, instructions: [:])
    }

    /// A sentence about an event, with the sensors' own instructions of ``PromptDetails``.
    public static func sentence(
        _ progress: PromptProgress,
        instructions: [String: String]
    ) -> String? {
        switch progress {
        case .promptShown: nil
        case .sensorReady(let sensor, let type):
            ready(sensor, type, instructions[sensor])
        case .sensorBusy(let sensor, let type, let program): busy(sensor, type, program)
        case .sensorFailed(let sensor, let type, let cause): failed(sensor, type, cause)
        case .hint(let hint): advice(hint)
        case .noMatch(let left): missed(left)
        case .fallbackAvailable: nil
        case .confirmationRequired: localized("Press Enter to confirm.")
        case .passcodeRequired(let cause, let text): required(cause, text)
        case .applicationPasswordRequired: localized("Enter the password of this item.")
        case .passcodeRejected(let left): rejected(left)
        case .passcodeDelayed(let seconds): delayed(seconds)
        case .secretRefused:
            localized("The service did not take the password. Enter it again.")
        case .success: localized("Recognized.")
        }
    }

    public static func sentence(_ outcome: PromptOutcome) -> String {
        switch outcome {
        case .success: localized("Done.")
        case .failed: localized("Not recognized.")
        case .canceled: localized("Canceled.")
        case .fallback: localized("The app goes on without.")
        case .lockout:
            localized("Too many failed attempts: enter your password next time.")
        case .system: localized("Interrupted.")
        }
    }

    public static func advice(_ hint: String) -> String {
        switch SensorHint(rawValue: hint) {
        case .moveCloser: localized("Move closer.")
        case .moveAway: localized("Move a little away.")
        case .center: localized("Center your finger or face.")
        case .tooDark: localized("It is too dark.")
        case .tooBright: localized("It is too bright.")
        case .holdStill: localized("Hold still.")
        case .swipeTooShort: localized("The swipe was too short.")
        case .tooFast: localized("That was too fast.")
        case .liftAndRetry: localized("Lift your finger and try again.")
        case .cleanSensor: localized("Clean the sensor.")
        case .lookAtCamera: localized("Look at the camera.")
        case .openEyes: localized("Open your eyes.")
        case .onePerson: localized("Only one person can be in front of the camera.")
        case .confirmPresence: localized("Touch the security key.")
        case .turnLeft: localized("Turn your head to the left.")
        case .turnRight: localized("Turn your head to the right.")
        case nil: hint
        }
    }

    /// The sentence for a cause; the only foreign text in it is an administrator's, quoted.
    private static func required(_ cause: String, _ text: String) -> String {
        switch PasscodeCauseWord(rawValue: cause) {
        case .attempts, .lockout:
            localized("Too many attempts failed: enter your password.")
        case .sensorFailed: localized("No sensor works: enter your password.")
        case .verifierFailed where text.isEmpty:
            localized("The password could not be checked. Enter it again.")
        case .verifierFailed: localized("The system refused the password: “%1$s”", text)
        case .delayOver: localized("You can enter your password again.")
        case .boot: localized("After a restart or a logout, your password is needed once.")
        case .hours: localized("The last unlock was long ago: enter your password.")
        case .hoursWithBiometry:
            localized("You last entered your password long ago: enter it again.")
        case .remote where text.isEmpty:
            localized("Your administrator asked for the password.")
        case .remote: localized("Your administrator asked for the password: “%1$s”.", text)
        case .program: localized("A program of yours asked for the password.")
        case .damaged: localized("Stored data was damaged: enter your password.")
        default: localized("Enter your password.")
        }
    }

    static func turn(_ type: UInt32, _ ownWords: String?, _ stage: Int, of stages: Int) -> String {
        let (stage, stages) = ("\(stage)", "\(stages)")
        if let ownWords { return localized("“%1$s” (%2$s of %3$s).", ownWords, stage, stages) }
        return switch BiometryType(rawValue: type) {
        case BiometryType.none?: localized("Use your security key (%1$s of %2$s).", stage, stages)
        case .fingerprint: localized("Touch the fingerprint sensor (%1$s of %2$s).", stage, stages)
        case .face: localized("Look at the camera (%1$s of %2$s).", stage, stages)
        case .iris: localized("Look at the iris scanner (%1$s of %2$s).", stage, stages)
        case nil: localized("Use the sensor (%1$s of %2$s).", stage, stages)
        }
    }

    private static func ready(_ sensor: String, _ type: UInt32, _ ownWords: String?) -> String {
        if let ownWords { return localized("“%1$s” (%2$s is ready).", ownWords, sensor) }
        guard !sensor.isEmpty else { return generalInvitation([type], false) }
        return switch BiometryType(rawValue: type) {
        case BiometryType.none?: localized("Use your security key (%1$s is ready).", sensor)
        case .fingerprint: localized("Touch the fingerprint sensor (%1$s is ready).", sensor)
        case .face: localized("Look at the camera (%1$s is ready).", sensor)
        case .iris: localized("Look at the iris scanner (%1$s is ready).", sensor)
        case nil: localized("Use the sensor (%1$s is ready).", sensor)
        }
    }

    /// The sentence for a sensor that gave up; `localauthctl doctor` shows the details.
    private static func failed(_ sensor: String, _ type: UInt32, _ cause: String) -> String {
        switch (BiometryType(rawValue: type), SensorFailure.Cause(rawValue: cause)) {
        case (.fingerprint, .denied): localized("The fingerprint reader may not be used.")
        case (.fingerprint, .missing): localized("The fingerprint reader was disconnected.")
        case (.fingerprint, _): localized("The fingerprint reader does not work.")
        case (.face, .denied): localized("The camera may not be used.")
        case (.face, .missing): localized("The camera was disconnected.")
        case (.face, _): localized("The camera does not work.")
        case (_, .denied): localized("The sensor %1$s may not be used.", sensor)
        case (_, .missing): localized("The sensor %1$s was disconnected.", sensor)
        case (_, _): localized("The sensor %1$s does not work.", sensor)
        }
    }

    /// The sentence for a sensor that another program uses.
    private static func busy(_ sensor: String, _ type: UInt32, _ program: String) -> String {
        switch (BiometryType(rawValue: type), program.isEmpty) {
        case (.fingerprint, true):
            localized("Another program uses the fingerprint reader.")
        case (.fingerprint, false): localized("%1$s uses the fingerprint reader.", program)
        case (.face, true): localized("Another program uses the camera.")
        case (.face, false): localized("%1$s uses the camera.", program)
        case (_, true): localized("Another program uses the sensor %1$s.", sensor)
        case (_, false): localized("%1$s uses the sensor %2$s.", program, sensor)
        }
    }

    /// Gives long delays in minutes, rounded up.
    private static func delayed(_ seconds: Int) -> String {
        seconds < 120
            ? localizedCount(
                "Too many wrong passwords: wait %1$s second.",
                "Too many wrong passwords: wait %1$s seconds.",
                seconds
            )
            : localizedCount(
                "Too many wrong passwords: wait %1$s minute.",
                "Too many wrong passwords: wait %1$s minutes.",
                (seconds + 59) / 60
            )
    }

    private static func missed(_ left: UInt32) -> String {
        left == 0
            ? localized("Not recognized. No attempt is left.")
            : localizedCount(
                "Not recognized. %1$s attempt is left.",
                "Not recognized. %1$s attempts are left.",
                Int(left)
            )
    }

    private static func rejected(_ left: UInt32) -> String {
        left == 0
            ? localized("Wrong password. No attempt is left.")
            : localizedCount(
                "Wrong password. %1$s attempt is left.",
                "Wrong password. %1$s attempts are left.",
                Int(left)
            )
    }
}
