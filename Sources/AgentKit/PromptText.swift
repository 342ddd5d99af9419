/// Every sentence that a prompt shows, in one place.
public enum PromptText {
    /// The first line: who asks, for what.
    public static func question(_ details: PromptDetails) -> String {
        "“\(details.appName)” is trying to \(details.reason)"
    }

    /// Who it is that asks, as far as anybody knows.
    public static func origin(_ details: PromptDetails) -> String {
        let process = details.process.isEmpty ? "a process" : details.process
        let number = details.pid == 0 ? "" : " (process \(details.pid))"
        return details.isAppVerified
            ? "Verified app \(details.appID)."
            : "Asked by \(process)\(number), which nobody vouches for."
    }

    /// What the user can do now.
    public static func invitation(_ details: PromptDetails) -> String {
        switch details.stage {
        case .passcode:
            return "Type your password."
        case .applicationPassword:
            return "Type the password of this item."
        case .biometry:
            let ways = details.biometryTypes.map(gesture)
            let first = ways.isEmpty ? "Use your security key" : ways.joined(separator: " or ")
            return details.takesPasscodeAtOnce ? "\(first), or type your password." : "\(first)."
        }
    }

    /// The label before the typed passcode.
    public static func passcodeLabel(_ details: PromptDetails) -> String {
        if details.stage == .applicationPassword { return "Password of the item: " }
        return details.user.isEmpty ? "Password: " : "Password of \(details.user): "
    }

    /// What has just happened; nil when there is nothing to say.
    public static func sentence(_ progress: PromptProgress) -> String? {
        switch progress {
        case .promptShown: nil
        case .sensorReady(let sensor, let type): ready(sensor, type)
        case .hint(let hint): advice(hint)
        case .noMatch(let left): "No match. \(attempts(left))"
        case .fallbackAvailable: nil
        case .confirmationRequired: "Recognized. Press Enter to confirm."
        case .passcodeRequired(let cause): required(cause)
        case .passcodeRejected(let left): "Wrong password. \(attempts(left))"
        case .success: "Recognized."
        }
    }

    /// How a prompt ended.
    public static func sentence(_ outcome: PromptOutcome) -> String {
        switch outcome {
        case .success: "Done."
        case .failed: "Not recognized."
        case .canceled: "Canceled."
        case .fallback: "The app goes on without."
        case .lockout: "Too many failed attempts. The password is needed the next time."
        case .system: "Interrupted."
        }
    }

    /// What to do better, in words.
    public static func advice(_ hint: String) -> String {
        switch hint {
        case "move-closer": "Move closer."
        case "move-away": "Move a little away."
        case "center": "Center your finger or face."
        case "too-dark": "It is too dark."
        case "too-bright": "It is too bright."
        case "hold-still": "Hold still."
        case "swipe-too-short": "The swipe was too short."
        case "too-fast": "That was too fast."
        case "lift-and-retry": "Lift your finger and try again."
        case "clean-sensor": "Clean the sensor."
        case "look-at-camera": "Look at the camera."
        case "confirm-presence": "Touch the security key."
        default: hint
        }
    }

    /// The service's own causes are words of a machine; others are sentences already.
    private static func required(_ cause: String) -> String {
        switch cause {
        case "", "fallback": "The password is needed."
        case "attempts": "The password is needed after so many failed attempts."
        case "lockout": "The password is needed: too many attempts have failed."
        case "sensor-failed": "The password is needed: no sensor works any more."
        case "verifier-failed": "The password could not be checked. Type it again."
        case "delay-over": "You can type the password again now."
        default: "The password is needed: \(cause)"
        }
    }

    private static func gesture(_ type: UInt32) -> String {
        switch type {
        case 1: "Touch the fingerprint sensor"
        case 2: "Look at the camera"
        case 4: "Look at the iris scanner"
        default: "Use the sensor"
        }
    }

    private static func ready(_ sensor: String, _ type: UInt32) -> String {
        sensor.isEmpty ? "\(gesture(type))." : "\(gesture(type)) (\(sensor) is ready)."
    }

    private static func attempts(_ left: UInt32) -> String {
        switch left {
        case 0: "No attempt is left."
        case 1: "1 attempt is left."
        default: "\(left) attempts are left."
        }
    }
}
