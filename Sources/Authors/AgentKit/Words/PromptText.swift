import Contract
internal import Localization

/// Every sentence that a prompt shows, in one place and in the user's language.
public enum PromptText {
    /// The first line: the caller and its request.
    public static func question(_ details: PromptDetails) -> String {
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

    /// What the service itself asks for; the reasons of apps come in the language of the app.
    private static let reasons = [
        marked("add to what %1$s knows"), marked("remove from what %1$s knows"),
        marked("make %1$s forget you"),
    ]

    /// The name to stand alone, or words for a caller without a proved name (L33).
    public static func appTitle(_ details: PromptDetails) -> String {
        guard details.appName.isEmpty else {
            return details.appName.count > 64 ? details.appName.prefix(63) + "…" : details.appName
        }
        return details.isSandboxed
            ? localized("A sandboxed app") : localized("A program that hides what it is")
    }

    /// What a sensor is called.
    public static func sensorName(_ type: UInt32) -> String {
        switch type {
        case 1: localized("Fingerprint sensor")
        case 2: localized("Camera")
        case 4: localized("Iris scanner")
        default: localized("Security key")
        }
    }

    /// The caller's process and program or app, and the name that it claims to ask for.
    public static func origin(_ details: PromptDetails) -> String {
        let process = process(details)
        guard !details.requester.isEmpty else { return process }
        let claim =
            details.requesterPID == 0
            ? localized("“%1$s” is the app's own claim.", details.requester)
            : localized(
                "“%1$s” (process %2$s) is the app's own claim.",
                details.requester,
                "\(details.requesterPID)"
            )
        return "\(process) \(claim)"
    }

    private static func process(_ details: PromptDetails) -> String {
        let pid = "\(details.pid)"
        if details.isSandboxed {
            return details.sandboxID.isEmpty
                ? localized("Asked by a sandboxed app (process %1$s).", pid)
                : localized(
                    "Asked by the sandboxed app %1$s (process %2$s).",
                    details.sandboxID,
                    pid
                )
        }
        guard let program = details.program else {
            return localized(
                "The program of process %1$s is hidden, or its file was replaced after it started.",
                pid
            )
        }
        guard !program.ancestors.isEmpty else {
            return localized(
                "Asked by %1$s (process %2$s), which nobody vouches for.",
                program.path,
                pid
            )
        }
        return localized(
            "Asked by %1$s (process %2$s, started by %3$s), which nobody vouches for.",
            program.path,
            pid,
            program.ancestors.joined(separator: " ← ")
        )
    }

    /// What the user can do now.
    public static func invitation(_ details: PromptDetails) -> String {
        switch details.stage {
        case .passcode:
            return localized("Type your password.")
        case .applicationPassword:
            return localized("Type the password of this item.")
        case .biometry:
            let ways = ways(details)
            let way =
                ways.isEmpty
                ? localized("Use your security key")
                : ways.dropFirst()
                    .reduce(ways[0]) { first, next in
                        // In the middle of a sentence now.
                        let next = next.prefix(1).lowercased() + next.dropFirst()
                        return localized("%1$s or %2$s", first, next)
                    }
            return details.takesPasscodeAtOnce
                ? localized("%1$s, or type your password.", way) : localized("%1$s.", way)
        }
    }

    /// What to do at the sensors, each way once: in their own words where they have some.
    private static func ways(_ details: PromptDetails) -> [String] {
        var ways: [String] = []
        guard !details.instructions.isEmpty, details.sensorTypes.count == details.sensors.count
        else { return details.biometryTypes.map(gesture) }
        for (sensor, type) in zip(details.sensors, details.sensorTypes) {
            let own = details.instructions[sensor]
                .map {
                    localized("“%1$s” (%2$s)", $0, sensor)
                }
            // Companions have no words of a type beside others.
            guard let way = own ?? (type == 0 ? nil : gesture(type)), !ways.contains(way) else {
                continue
            }
            ways.append(way)
        }
        return ways
    }

    /// The label before the typed passcode.
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

    /// What has just happened; nil when there is nothing to say.
    public static func sentence(_ progress: PromptProgress) -> String? {
        sentence(progress, instructions: [:])
    }

    /// The same, with the sensors' own words of ``PromptDetails``.
    public static func sentence(
        _ progress: PromptProgress,
        instructions: [String: String]
    ) -> String? {
        switch progress {
        case .promptShown: nil
        case .sensorReady(let sensor, let type):
            ready(sensor, gesture(type, instructions[sensor]))
        case .sensorBusy(let sensor, let type, let program): busy(sensor, type, program)
        case .sensorFailed(let sensor, let type, let cause): failed(sensor, type, cause)
        case .hint(let hint): advice(hint)
        case .noMatch(let left): localized("No match. %1$s", attempts(left))
        case .fallbackAvailable: nil
        case .confirmationRequired: localized("Recognized. Press Enter to confirm.")
        case .passcodeRequired(let cause, let text): required(cause, text)
        case .applicationPasswordRequired: localized("Now type the password of this item.")
        case .passcodeRejected(let left): localized("Wrong password. %1$s", attempts(left))
        case .passcodeDelayed(let seconds): delayed(seconds)
        case .secretRefused:
            localized("The service did not take the password. Type it again.")
        case .success: localized("Recognized.")
        }
    }

    /// How a prompt ended.
    public static func sentence(_ outcome: PromptOutcome) -> String {
        switch outcome {
        case .success: localized("Done.")
        case .failed: localized("Not recognized.")
        case .canceled: localized("Canceled.")
        case .fallback: localized("The app goes on without.")
        case .lockout:
            localized("Too many failed attempts. The password is needed the next time.")
        case .system: localized("Interrupted.")
        }
    }

    /// What to do better, in words.
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
        case .confirmPresence: localized("Touch the security key.")
        case .turnLeft: localized("Turn your head to the left.")
        case .turnRight: localized("Turn your head to the right.")
        case nil: hint
        }
    }

    /// The sentence for a cause: no word from outside, but for the quotation of an administrator.
    private static func required(_ cause: String, _ text: String) -> String {
        switch PasscodeCauseWord(rawValue: cause) {
        case .attempts: localized("The password is needed after so many failed attempts.")
        case .lockout: localized("The password is needed: too many attempts have failed.")
        case .sensorFailed: localized("The password is needed: no sensor works any more.")
        case .verifierFailed: localized("The password could not be checked. Type it again.")
        case .delayOver: localized("You can type the password again now.")
        case .boot: localized("The password is needed after a restart or a logout.")
        case .hours: localized("The password is needed after so long without unlocking.")
        case .hoursWithBiometry:
            localized("The password is needed: it has not been typed for a long time.")
        case .remote where text.isEmpty:
            localized("Your administrator asked for the password.")
        case .remote: localized("Your administrator asked for the password: “%1$s”.", text)
        case .program: localized("A program of yours asked for the password.")
        case .damaged: localized("The password is needed: the stored state was damaged.")
        default: localized("The password is needed.")
        }
    }

    /// What to do for one stage of an enrolment.
    static func turn(_ gesture: String, _ stage: Int, of stages: Int) -> String {
        localized("%1$s (%2$s of %3$s).", gesture, "\(stage)", "\(stages)")
    }

    /// What to do at a sensor: in its own words, which are quoted, or in those of its type.
    static func gesture(_ type: UInt32, _ ownWords: String?) -> String {
        ownWords.map { localized("“%1$s”", $0) } ?? gesture(type)
    }

    static func gesture(_ type: UInt32) -> String {
        switch BiometryType(rawValue: type) {
        case BiometryType.none?: localized("Use your security key")
        case .fingerprint: localized("Touch the fingerprint sensor")
        case .face: localized("Look at the camera")
        case .iris: localized("Look at the iris scanner")
        case nil: localized("Use the sensor")
        }
    }

    private static func ready(_ sensor: String, _ gesture: String) -> String {
        sensor.isEmpty
            ? localized("%1$s.", gesture) : localized("%1$s (%2$s is ready).", gesture, sensor)
    }

    private static func device(_ sensor: String, _ type: UInt32) -> String {
        switch BiometryType(rawValue: type) {
        case .fingerprint: localized("The fingerprint reader")
        case .face: localized("The camera")
        case _ where sensor.isEmpty: localized("The sensor")
        default: sensor
        }
    }

    /// Which sensor gave up; the rest is what doctor is for.
    private static func failed(_ sensor: String, _ type: UInt32, _ cause: String) -> String {
        let device = device(sensor, type)
        return switch SensorFailure.Cause(rawValue: cause) {
        case .denied:
            localized("%1$s may not be used: “localauthctl doctor” says why.", device)
        case .missing: localized("%1$s is not connected any more.", device)
        default: localized("%1$s does not work: “localauthctl doctor” says why.", device)
        }
    }

    /// Which sensor another program has.
    private static func busy(_ sensor: String, _ type: UInt32, _ program: String) -> String {
        let device = device(sensor, type)
        return program.isEmpty
            ? localized("%1$s is in use by another program.", device)
            : localized("%1$s is in use by %2$s.", device, program)
    }

    /// Minutes, rounded up, while there are many seconds.
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

    private static func attempts(_ left: UInt32) -> String {
        left == 0
            ? localized("No attempt is left.")
            : localizedCount("%1$s attempt is left.", "%1$s attempts are left.", Int(left))
    }
}
