public import DBus
import LocalAuthBus

@_exported public import enum Contract.PromptOutcome
@_exported public import enum Contract.PromptStage

/// An event in the life of a prompt.
public enum PromptProgress: Hashable, Sendable {
    case promptShown
    /// A sensor looks for a match; `biometryType` is 0 companion, 1 fingerprint, 2 face, 4 iris.
    case sensorReady(sensor: String, biometryType: UInt32)
    /// Another program uses the sensor, so it waits; `by` names that program, or is empty.
    case sensorBusy(sensor: String, biometryType: UInt32, by: String)
    /// A sensor gave up; `cause` is `denied`, `missing` or `failed`.
    case sensorFailed(sensor: String, biometryType: UInt32, cause: String)
    /// Advice for the user: a hint of the contract, or a hint that is newer than this agent.
    case hint(String)
    case noMatch(attemptsLeft: UInt32)
    /// The user may take the fallback from this point on.
    case fallbackAvailable
    /// A match awaits the user's confirmation.
    case confirmationRequired
    /// The service asks for the password; `text` is an administrator's message.
    case passcodeRequired(cause: String, text: String = "")
    /// A wrong password.
    case passcodeRejected(attemptsLeft: UInt32)
    /// A pause after too many wrong passwords; reported each second.
    case passcodeDelayed(seconds: Int)
    /// The prompt asks for the app's own password from this point on.
    case applicationPasswordRequired
    /// The service refused a submission; the prompt reports this itself, not the service.
    case secretRefused
    /// The user was authenticated.
    case success

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
            let cause = plainText(detail["cause"]?.asString ?? "", limit: 64)
            let isRefusal = cause == PasscodeCauseWord.verifierFailed.rawValue
            let text = detail[isRefusal ? "message" : "text"]?.asString ?? ""
            self = .passcodeRequired(
                cause: cause,
                text: withoutQuotationMarks(plainText(text, limit: isRefusal ? 128 : 64))
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
