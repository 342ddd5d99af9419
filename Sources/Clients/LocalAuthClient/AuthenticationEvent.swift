internal import DBus
import LocalAuthBus

/// Progress of a running evaluation, never the verdict.
public enum AuthenticationEvent: Hashable, Sendable {
    case promptShown
    /// A sensor is ready for the user.
    case sensorReady(sensor: String, BiometryType)
    /// Another program uses the sensor, and the evaluation waits. `by` is empty if unknown.
    case sensorBusy(sensor: String, BiometryType, by: String)
    /// A sensor failed; the cause is `denied`, `missing` or `failed`.
    case sensorFailed(sensor: String, BiometryType, cause: String)
    /// Advice for the user, such as `move-closer`.
    case hint(String)
    /// A miss: the sensor recognised no enrolled template.
    case noMatch(attemptsLeft: Int)
    /// The fallback button is visible.
    case fallbackAvailable
    /// A match waits for the user's confirmation.
    case confirmationRequired
    /// The prompt asks for the password, for the given cause.
    case passcodeRequired(cause: String)
    /// The user entered a wrong password.
    case passcodeRejected(attemptsLeft: Int)
    /// An event that this version does not know.
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
