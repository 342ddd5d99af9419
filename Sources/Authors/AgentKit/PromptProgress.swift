public import DBus
import LocalAuthBus

@_exported public import enum Contract.PromptOutcome
@_exported public import enum Contract.PromptStage

/// What happens while a prompt is up.
public enum PromptProgress: Hashable, Sendable {
    /// The prompt is up.
    case promptShown
    /// A sensor looks; the type is 0 for a companion, 1 fingerprint, 2 face, 4 iris.
    case sensorReady(sensor: String, biometryType: UInt32)
    /// Another program has a sensor, which is waited for: its name, or empty.
    case sensorBusy(sensor: String, biometryType: UInt32, by: String)
    /// A sensor gave up: `denied`, `missing` or `failed`.
    case sensorFailed(sensor: String, biometryType: UInt32, cause: String)
    /// What to do better: one of the contract's hints, or one that is newer than this agent.
    case hint(String)
    /// A failed attempt, and how many are left.
    case noMatch(attemptsLeft: UInt32)
    /// The fallback is on offer from now on.
    case fallbackAvailable
    /// A match waits to be confirmed.
    case confirmationRequired
    /// The service asks for the password, with the cause; `text` is an administrator's.
    case passcodeRequired(cause: String, text: String = "")
    /// A wrong passcode, and how many attempts are left.
    case passcodeRejected(attemptsLeft: UInt32)
    /// No passcode is taken for so many seconds, after too many wrong ones; told each second.
    case passcodeDelayed(seconds: Int)
    /// The app's own password is asked for from now on.
    case applicationPasswordRequired
    /// The service refused a submission; the prompt itself reports this, not the service.
    case secretRefused
    /// It was the user.
    case success

    /// Decodes an event; nil for an unknown kind, or when a detail is missing.
    public init?(kind: String, detail: [String: Variant]) {
        let left = detail["attempts-left"]?.asUInt32
        switch EventKind(rawValue: kind) {
        case .promptShown:
            self = .promptShown
        case .sensorReady:
            let sensor = plainText(detail["sensor"]?.asString ?? "", limit: 64)
            self = .sensorReady(
                sensor: sensor,
                biometryType: detail["biometry-type"]?.asUInt32 ?? 0
            )
        case .sensorBusy:
            self = .sensorBusy(
                sensor: plainText(detail["sensor"]?.asString ?? "", limit: 64),
                biometryType: detail["biometry-type"]?.asUInt32 ?? 0,
                by: plainText(detail["by"]?.asString ?? "", limit: 64)
            )
        case .sensorFailed:
            self = .sensorFailed(
                sensor: plainText(detail["sensor"]?.asString ?? "", limit: 64),
                biometryType: detail["biometry-type"]?.asUInt32 ?? 0,
                cause: plainText(detail["cause"]?.asString ?? "", limit: 64)
            )
        case .hint:
            guard let hint = detail["hint"]?.asString else { return nil }
            self = .hint(plainText(hint, limit: 64))
        case .noMatch:
            guard let left else { return nil }
            self = .noMatch(attemptsLeft: left)
        case .fallbackAvailable:
            self = .fallbackAvailable
        case .confirmationRequired:
            self = .confirmationRequired
        case .passcodeRequired:
            self = .passcodeRequired(
                cause: plainText(detail["cause"]?.asString ?? "", limit: 64),
                text: withoutQuotationMarks(plainText(detail["text"]?.asString ?? "", limit: 64))
            )
        case .passcodeRejected:
            guard let left else { return nil }
            let delay = detail["delay"]?.asUInt64 ?? 0
            self =
                delay == 0
                ? .passcodeRejected(attemptsLeft: left)
                : .passcodeDelayed(seconds: Int(min(delay, 86_400_000) + 999) / 1000)
        case .applicationPasswordRequired:
            self = .applicationPasswordRequired
        case .success:
            self = .success
        case nil:
            return nil
        }
    }
}
