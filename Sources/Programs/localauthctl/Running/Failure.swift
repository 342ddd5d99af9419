import AgentKit
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct Failure: Error {
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

    init(_ status: Status, _ error: DBusError, hint: String? = nil) {
        let message = serviceText(plainText(error.message, limit: 512))
        if status == .unreachable {
            self.init(
                status,
                localized("The service can't be reached: %1$s", message),
                hint: Advice.forUnreachable
            )
        } else {
            self.init(status, message, hint: hint ?? remedy(for: error.name, error.message))
        }
    }

    /// Wraps an error reply, or the loss of the service.
    init(_ error: DBusError) {
        let gone: Set<DBusError.Name> = [
            .serviceUnknown, .nameHasNoOwner, .noServer, .disconnected, .noReply, .timeout,
        ]
        self.init(gone.contains(error.name) ? .unreachable : .refused, error)
    }
}

func shortName(_ name: DBusError.Name) -> String {
    name.rawValue.split(separator: ".").last.map(String.init) ?? name.rawValue
}

/// The error for Apple's code; nil for an unknown code.
func errorName(_ code: Int32) -> DBusError.Name? {
    RefusalCode(rawValue: code)?.errorName
}

/// The remedy for an error; nil when its sentence is enough.
///
/// If an error has several causes, the service's message distinguishes them.
func remedy(for name: DBusError.Name, _ message: String) -> String? {
    switch name {
    case .passcodeNotSet where message.contains("the program that verifies it can't be asked"),
        .systemCancel where message.hasPrefix("The settings have a mistake: "):
        "localauthctl doctor"
    case .authenticationFailed: localized("try again, or localauthctl evaluate --policy 2")
    case .passcodeNotSet: "passwd"
    case .biometryNotAvailable: localized("localauthctl sensors, localauthctl doctor")
    case .biometryNotEnrolled: "localauthctl enroll"
    case .biometryLockout: "localauthctl evaluate --policy 2"
    case .companionNotAvailable, .biometryNotPaired: "localauthctl sensors"
    case .biometryDisconnected: localized("connect the sensor again, then localauthctl sensors")
    case .notInteractive: localized("localauthctl agent (in the background of this terminal)")
    case .agentExists: localized("end the other agent, or localauthctl agent --fallback")
    case .systemCancel, .keychainUserCanceled: localized("try again")
    case .limitsExceeded where message.contains("prompt"):
        localized("wait for the prompts that are up")
    case .limitsExceeded where message.contains("64 KiB") || message.contains("A secret has"):
        localized("keep it in a file, and the key of that file here")
    case .limitsExceeded where message.hasSuffix(" items."): "localauthctl keychain list"
    case .limitsExceeded where message.contains("ttributes of an item have at most"),
        .limitsExceeded where message.contains("n attribute has at most"):
        localized("use shorter texts")
    case .limitsExceeded: localized("try again")
    case .accessDenied: localized("use your own account, or root's")
    case .sensorDuplicate: "localauthctl templates"
    case .keychainDuplicate, .keychainNotFound: "localauthctl keychain list"
    case .keychainAuthFailed:
        localized("try again; localauthctl doctor shows the cause")
    case .keychainInteractionNotAllowed:
        localized("let it ask: without --no-prompt, or localauthctl agent")
    case .keychainParameter, .invalidArgs: localized("localauthctl help, and the verb")
    case .keychainDecode:
        localized("put an untouched copy back, or delete it and store it again")
    case .keychainNotAvailable: "localauthctl doctor"
    default: nil
    }
}
