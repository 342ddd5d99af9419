import AgentKit
import ArgumentParser
import DBus
import Glibc
import KeychainStore
import Linux
import Localization
import Sealing

struct KeychainExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export-recovery-key",
        abstract: localized("Print the master key, to be kept in a safe place."),
        discussion: localized(
            "Together with the state directory, the recovery key reads every "
                + "secret."
        )
    )

    @Option(
        help: ArgumentHelp(
            localized("Seal the recovery key to this X25519 public key, in PEM."),
            valueName: "file"
        ),
        completion: .file()
    )
    var publicKey: String?

    @Option(
        help: ArgumentHelp(
            localized("Write the sealed key into this new file, or to this open descriptor."),
            valueName: "file"
        ),
        completion: .file()
    )
    var to: ExportTarget?

    @OptionGroup var sealed: SealedKeyArguments
    @OptionGroup var state: StateArguments

    func validate() throws {
        guard to == nil || publicKey != nil else {
            throw ValidationError(localized("--to goes with --public-key."))
        }
    }

    func run() throws {
        try performOnLoop {
            let owner = try StateOwner(state)
            let unsealed = try unsealed()
            let credentials = StatePath.path(in: "CREDENTIALS_DIRECTORY")
            let key = try owner.perform { directory throws(KeychainError) in
                if let unsealed {
                    return try KeychainStore.recoveryKey(of: unsealed, directory: directory)
                }
                return try KeychainStore.recoveryKey(directory: directory, credentials: credentials)
            }
            try hand(out: key.text)
            guard let doubt = key.doubt else { return }
            tell(
                localized(
                    "The key was not compared with the keychain: %1$s",
                    serviceText(doubt.message)
                )
            )
        }
    }

    private func hand(out text: String) throws(Failure) {
        guard let publicKey else { return print(text) }
        let sealed = try SealedRecoveryKey.seal(text, to: publicKey)
        guard let to else { return print(sealed, terminator: "") }
        try to.write(sealed)
    }

    /// The sealed key, if it was named or if the standard state directory has no key file.
    private func unsealed() throws(Failure) -> SecretBytes? {
        if sealed.credential != nil { return try sealed.key.unseal() }
        let file = try state.path() + "/keychain/master.key"
        guard state.stateDirectory == nil, access(file, F_OK) != 0, sealed.key.isThere else {
            return nil
        }
        return try sealed.key.unseal()
    }
}

struct KeychainRestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: localized("Put the master key back, from its recovery key."),
        discussion: localized("Stop the service first. The command overwrites no file.")
    )

    @Option(
        help: ArgumentHelp(
            localized("The recovery key: a file, or - for a pipe."),
            valueName: "file"
        ),
        completion: .file()
    )
    var keyFile: String?

    @OptionGroup var state: StateArguments

    func run() throws {
        try performOnLoop {
            let key = try await SecretInput.secret(
                keyFile,
                label: localized("Recovery key:"),
                option: "--key-file"
            )
            let owner = try StateOwner(state)
            let text = key.use { String(decoding: $0, as: UTF8.self) }
            let setAside = try owner.perform { directory throws(KeychainError) in
                try KeychainStore.restore(text, directory: directory)
            }
            tell(setAside: setAside)
            print(localized("The master key is in place. Start the service."))
            let standard = SealedKey(path: SealedKey.standard, device: nil)
            guard state.stateDirectory == nil, standard.isThere else { return }
            let seal = localized(
                "move %1$s away, which comes first, and seal again: %2$s",
                standard.path,
                "localauthctl keychain init --tpm"
            )
            print("  " + localized("Next: %1$s", seal))
        }
    }
}
