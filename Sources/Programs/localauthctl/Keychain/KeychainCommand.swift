import ArgumentParser
import Localization

struct KeychainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychain",
        abstract: localized("Keep secrets and keys that open only to you."),
        discussion: localized(
            "Secrets are read from a file, a pipe or this terminal, never from the command line."
        ),
        subcommands: [
            KeychainListCommand.self, KeychainAddCommand.self, KeychainReadCommand.self,
            KeychainDeleteCommand.self, KeychainKeysCommand.self, KeychainCreateKeyCommand.self,
            KeychainPublicKeyCommand.self, KeychainSignCommand.self, KeychainDecryptCommand.self,
            KeychainExchangeCommand.self,
            KeychainInitCommand.self, KeychainExportCommand.self,
            KeychainOpenRecoveryCommand.self, KeychainRestoreCommand.self,
        ]
    )
}
