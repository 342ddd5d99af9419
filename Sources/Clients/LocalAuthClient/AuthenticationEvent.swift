internal import DBus
import LocalAuthBus

/// Something that happened while an evaluation runs: progress, never the verdict.
public enum AuthenticationEvent: Hashable, Sendable {
    /// The prompt is visible.
    case promptShown
    /// A sensor looks.
    case sensorReady(sensor: String, BiometryType)
    /// Another program has a sensor, which is waited for; `by` names it where that is known.
    case sensorBusy(sensor: String, BiometryType, by: String)
    /// A sensor gave up; the cause is `denied`, `missing` or `failed`.
    case sensorFailed(sensor: String, BiometryType, cause: String)
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
        switch EventKind(rawValue: event.kind) {
        case .promptShown: self = .promptShown
        case .sensorReady:
            let type = detail["biometry-type"]?.asUInt32 ?? 0
            self = .sensorReady(
                sensor: detail["sensor"]?.asString ?? "",
                BiometryType(rawValue: type) ?? .none
            )
        case .sensorBusy:
            self = .sensorBusy(
                sensor: detail["sensor"]?.asString ?? "",
                BiometryType(rawValue: detail["biometry-type"]?.asUInt32 ?? 0) ?? .none,
                by: detail["by"]?.asString ?? ""
            )
        case .sensorFailed:
            self = .sensorFailed(
                sensor: detail["sensor"]?.asString ?? "",
                BiometryType(rawValue: detail["biometry-type"]?.asUInt32 ?? 0) ?? .none,
                cause: detail["cause"]?.asString ?? ""
            )
        case .hint: self = .hint(detail["hint"]?.asString ?? "")
        case .noMatch: self = .noMatch(attemptsLeft: attempts)
        case .fallbackAvailable: self = .fallbackAvailable
        case .confirmationRequired: self = .confirmationRequired
        case .passcodeRequired:
            self = .passcodeRequired(cause: detail["cause"]?.asString ?? "")
        case .passcodeRejected: self = .passcodeRejected(attemptsLeft: attempts)
        case .applicationPasswordRequired, .success, nil: self = .other(event.kind)
        }
    }
}
