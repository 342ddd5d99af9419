#if Prompt
import AgentKit
import Localization

/// A finding of the diagnosis in words for people, with the window's action.
///
/// The service's remedies are for `localauthctl doctor`: some name commands. The window never shows
/// a command.
struct Problem: Hashable {
    enum Action {
        case checkAgain, enterPassword, startPrompts, openUsers

        var title: String {
            switch self {
            case .checkAgain: localized("Try Again")
            case .enterPassword: localized("Enter Password")
            case .startPrompts: localized("Start Prompts")
            case .openUsers: localized("Open Users Settings")
            }
        }
    }

    let message: String
    let remedy: String
    let action: Action?
    let isFailure: Bool
    let stateTitle: String

    /// Nil for findings without a row: the state `ok`, facts that the list of sensors shows, and
    /// hints for programmers.
    ///
    /// With `needsPassword` the sensors work again after the next correct password.
    init?(_ finding: DiagnosisLine, needsPassword: Bool) {
        guard finding.state != "ok" else { return nil }
        var message = finding.title
        var remedy = Self.namesCommand(finding.remedy) ? "" : finding.advice
        var action: Action? = .checkAgain
        switch finding.name {
        case "sensors", "enrolment", "options": return nil
        case "biometry":
            guard needsPassword else { return nil }
            remedy = localized("Enter your password once.")
            action = .enterPassword
        case "state":
            remedy = localized("Enter your password once.")
            action = .enterPassword
        case "agent":
            message = localized("No program shows the prompts for passwords and sensors.")
            remedy = localized("Start it now, or log out and in again.")
            action = .startPrompts
        case "passcode" where finding.message == "Your account has no password.":
            remedy = localized("Set a password for your account.")
            action = .openUsers
        case "passcode":
            message = localized("Passwords can't be checked.")
            remedy = ""
        case "bus":
            message = localized(
                "Your other programs can read everything that the service "
                    + "protects."
            )
            (remedy, action) = ("", nil)
        case "policy":
            message = localized("The installation is incomplete.")
            action = nil
        case "journal":
            message = localized("Decisions are not recorded.")
            action = nil
        case "fprintd": message = localized("The fingerprint reader needs the program fprintd.")
        case "keychain", "display": action = nil
        default: break
        }
        if remedy.isEmpty {
            remedy =
                action == nil
                ? localized("Ask an administrator for help.")
                : localized("Wait a moment. If that does not help, restart the computer.")
        }
        self.message = message
        self.remedy = remedy
        self.action = action
        isFailure = !finding.isPassed
        stateTitle = finding.stateTitle
    }

    /// Whether a sentence of the service is about commands, options, files or manual pages.
    static func namesCommand(_ words: String) -> Bool {
        ["ctl", "--", "/", "(8)", "man ", "passwd", "systemd"].contains(where: words.contains)
    }
}
#endif
