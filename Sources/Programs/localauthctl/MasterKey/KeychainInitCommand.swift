import ArgumentParser
import KeychainStore
import Localization
import Sealing

struct KeychainInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: localized("Make the keychain's master key, or seal it with the TPM."),
        discussion: localized("The service has to be stopped. No key is ever overwritten.")
    )

    @Flag(help: ArgumentHelp(localized("Seal the key with systemd-creds; its file goes.")))
    var tpm = false

    @OptionGroup var sealed: SealedKeyArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var output: OutputArguments

    func validate() throws {
        guard tpm || (sealed.credential == nil && sealed.device == nil) else {
            throw ValidationError(localized("--credential and --tpm2-device go with --tpm."))
        }
        // The default credential belongs to the service's own state directory.
        guard !tpm || state.stateDirectory == nil || sealed.credential != nil else {
            throw ValidationError(
                localized("--tpm with --state-directory needs --credential too.")
            )
        }
    }

    func run() throws {
        try performOnLoop {
            let owner = try StateOwner(state)
            let place = tpm ? try seal(owner) : try make(owner)
            if output.json {
                let members = [("key", place.name), (tpm ? "credential" : "file", place.path)]
                print(JSON.object(members.map { ($0.0, .string($0.1)) }).text)
            } else {
                print(localized("The master key %1$s is in %2$s.", place.name, place.path))
                let export = localized(
                    "localauthctl keychain export-recovery-key, for a safe place"
                )
                print("  " + localized("Next: %1$s", export))
            }
        }
    }

    private func make(_ owner: StateOwner) throws(Failure) -> (name: String, path: String) {
        let standard = SealedKey(path: SealedKey.standard, device: nil)
        guard state.stateDirectory != nil || !standard.isThere else { throw taken(standard) }
        return try owner.perform { directory throws(KeychainError) in
            let keychain = try IdleKeychain(directory: directory)
            tell(setAside: keychain.setAside)
            let key = try keychain.freshKey()
            try keychain.writeKeyFile(key)
            return (try keychain.tie(to: key), keychain.keyFile)
        }
    }

    /// Seals the key, then removes the key file.
    ///
    /// A crash at any point leaves at least one complete copy of the key on the disk.
    private func seal(_ owner: StateOwner) throws(Failure) -> (name: String, path: String) {
        let place = sealed.key
        let (keychain, kept) = try owner.perform { directory throws(KeychainError) in
            let keychain = try IdleKeychain(directory: directory)
            tell(setAside: keychain.setAside)
            return (keychain, try keychain.fileKey())
        }
        let key: SecretBytes
        if place.isThere {
            guard let kept else { throw taken(place) }
            try compare(place, kept, keychain.keyFile)
            key = kept
        } else {
            key = try owner.perform { _ throws(KeychainError) in
                if let kept { kept } else { try keychain.freshKey() }
            }
            try place.seal(key)
        }
        return try owner.perform { _ throws(KeychainError) in
            let name = try keychain.tie(to: key)
            try keychain.removeKeyFile(of: key)
            return (name, place.path)
        }
    }

    private func taken(_ place: SealedKey) -> Failure {
        Failure(
            .refused,
            localized("A master key is sealed in %1$s already.", place.shown),
            hint: "localauthctl keychain export-recovery-key"
        )
    }

    /// Accepts a credential that an interrupted run has sealed already, if it holds this key.
    private func compare(
        _ place: SealedKey,
        _ kept: SecretBytes,
        _ file: String
    ) throws(Failure) {
        let opened = try place.unseal()
        guard opened.use({ bytes in kept.use { $0 == bytes } }) else {
            throw Failure(
                .refused,
                localized("%1$s holds another key than %2$s.", place.shown, file),
                hint: localized("move the wrong key away")
            )
        }
    }
}
