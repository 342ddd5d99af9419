internal import DBus
import LocalAuthBus

/// Something that happened while an evaluation runs: progress, never the verdict.
public enum AuthenticationEvent: Hashable, Sendable {
    /// The prompt is visible.
    case promptShown
    /// A sensor looks.
    case sensorReady(sensor: String, BiometryType)
    /// What the person could do better, such as `move-closer`.
    case hint(String)
    /// Somebody else, or nothing recognisable.
    case noMatch(attemptsLeft: Int)
    /// The fallback button is offered now.
    case fallbackAvailable
    /// A match waits for the person's confirmation.
    case confirmationRequired
    /// The passcode is asked for, and why.
    case passcodeRequired(cause: String)
    /// A wrong passcode.
    case passcodeRejected(attemptsLeft: Int)
    /// A kind of a later version.
    case other(String)

    init(_ event: StreamEvent) {
        let detail = event.detail
        let attempts = Int(detail["attempts-left"]?.asUInt32 ?? 0)
        switch event.kind {
        case "prompt-shown": self = .promptShown
        case "sensor-ready":
            let type = detail["biometry-type"]?.asUInt32 ?? 0
            self = .sensorReady(
                sensor: detail["sensor"]?.asString ?? "",
                BiometryType(rawValue: type) ?? .none
            )
        case "hint": self = .hint(detail["hint"]?.asString ?? "")
        case "no-match": self = .noMatch(attemptsLeft: attempts)
        case "fallback-available": self = .fallbackAvailable
        case "confirmation-required": self = .confirmationRequired
        case "passcode-required":
            self = .passcodeRequired(cause: detail["cause"]?.asString ?? "")
        case "passcode-rejected": self = .passcodeRejected(attemptsLeft: attempts)
        default: self = .other(event.kind)
        }
    }
}
