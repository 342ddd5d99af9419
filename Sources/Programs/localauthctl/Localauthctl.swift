import ArgumentParser
import Localization

@main struct Localauthctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "localauthctl",
        abstract: localized("Authenticates users and manages sensors, templates and the keychain."),
        discussion: localized(
            "Exit status: 0 yes, 1 no (refused or failed), 3 the service can't be reached, "
                + "64 wrong usage."
        ),
        version: "localauthctl 0.1.0",
        subcommands: [
            StatusCommand.self, CanEvaluateCommand.self, EvaluateCommand.self,
            ApproveCommand.self, SensorsCommand.self, EnrollCommand.self, TemplatesCommand.self,
            RemoveCommand.self,
            LockCommand.self, LockScreensCommand.self, MonitorCommand.self, AgentCommand.self,
            DoctorCommand.self,
            KeychainCommand.self, PasskeysCommand.self, SealCommand.self,
        ]
    )

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            guard exitCode(for: error).isSuccess else { exit(withError: error) }
            let text = translatedHelp(fullMessage(for: error))
            if !text.isEmpty { print(text) }
        }
    }
}
