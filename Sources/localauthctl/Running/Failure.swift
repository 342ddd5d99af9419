import AgentKit
import DBus
import LocalAuthClient
import Localization

/// Why a command failed: one sentence, and what to do next.
struct Failure: Error {
    /// The exit status.
    enum Status: Int32 {
        case refused = 1
        case unreachable = 3
        case usage = 64
    }

    let status: Status
    let message: String
    let hint: String?

    init(_ status: Status, _ message: String, hint: String? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
    }

    init(_ status: Status, _ error: DBusError) {
        let message = serviceText(plainText(error.message, limit: 512))
        if status == .unreachable {
            self.init(
                status,
                localized("The service can't be reached: %1$s", message),
                hint: localized("systemctl status localauthd, or another --bus")
            )
        } else {
            self.init(status, message, hint: remedy(for: error.name))
        }
    }

    /// An error reply of the service, or that the service is gone.
    init(_ error: DBusError) {
        let gone: Set<DBusError.Name> = [
            .serviceUnknown, .nameHasNoOwner, .disconnected, .noReply, .timeout,
        ]
        self.init(gone.contains(error.name) ? .unreachable : .refused, error)
    }
}

/// The last element of a D-Bus error's name.
func shortName(_ name: DBusError.Name) -> String {
    name.rawValue.split(separator: ".").last.map(String.init) ?? name.rawValue
}

/// Apple's code for an error of the service; nil when it has none.
func code(of name: DBusError.Name) -> Int32? {
    AuthenticationError.codes[name].map { Int32($0.rawValue) }
}

/// The name of the refusal with this code.
func refusalName(_ code: Int32) -> String? {
    AuthenticationError.codes.first { $0.value.rawValue == code }.map { shortName($0.key) }
}

/// What to do about an error; nil when its sentence is all there is to say.
func remedy(for name: DBusError.Name) -> String? {
    remedy(forRefusal: shortName(name))
}

/// What to do about a refusal, by its short name.
func remedy(forRefusal name: String) -> String? {
    switch name {
    case "AuthenticationFailed": localized("try again, or localauthctl evaluate --policy 2")
    case "PasscodeNotSet": "passwd"
    case "BiometryNotAvailable": localized("localauthctl sensors, localauthctl doctor")
    case "BiometryNotEnrolled": "localauthctl enroll"
    case "BiometryLockout": "localauthctl evaluate --policy 2"
    case "CompanionNotAvailable", "BiometryNotPaired": "localauthctl sensors"
    case "BiometryDisconnected": localized("connect the sensor again, then localauthctl sensors")
    case "NotInteractive": localized("localauthctl agent (in the background of this terminal)")
    case "AgentExists": localized("end the other agent, or localauthctl agent --fallback")
    case "SystemCancel": localized("try again")
    case "LimitsExceeded": localized("wait for the prompts that are up")
    case "AccessDenied": localized("use your own account, or root's")
    case "Duplicate", "NotFound": "localauthctl keychain list"
    case "AuthFailed": localized("try again; localauthctl doctor says what keeps you from it")
    case "InteractionNotAllowed":
        localized("let it ask: without --no-prompt, or localauthctl agent")
    case "UserCanceled": localized("try again")
    case "Parameter", "InvalidArgs": localized("localauthctl help, and the verb")
    case "Decode": localized("put an untouched copy back, or delete it and store it again")
    case "NotAvailable": "localauthctl doctor"
    default: nil
    }
}
