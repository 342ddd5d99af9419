import AgentKit
import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization
import Passkeys
import Sealing

extension SealedFile {
    fileprivate static let passkeys = SealedFile(
        label: "LOCALAUTH PASSKEYS",
        purpose: .passkeys,
        limit: PasskeyExport.longestFile
    )
}

struct PasskeysExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: localized("Copy exportable passkeys, sealed to a public key."),
        discussion: localized(
            "Shows a prompt. The private key and the copies together sign in without you."
        )
    )

    @Argument(help: ArgumentHelp(localized("Ids, as “localauthctl passkeys list” shows them.")))
    var ids: [String] = []

    @Option(
        help: ArgumentHelp(
            localized("Seal the passkeys to this X25519 public key, in PEM."),
            valueName: "file"
        ),
        completion: .file()
    )
    var publicKey: String

    @Option(
        help: ArgumentHelp(
            localized("Write the passkeys into this new file, or to this open descriptor."),
            valueName: "file"
        ),
        completion: .file()
    )
    var to: ExportTarget?

    @OptionGroup var agent: OwnAgentArguments
    @OptionGroup var bus: BusArguments

    func run() throws {
        let (ids, publicKey, to, isAgentWanted) = (Set(ids), publicKey, to, !agent.noAgent)
        try perform(bus) { service in
            let stored = try await service.search(Passkey.query).compactMap(StoredPasskey.init)
                .filter { ids.isEmpty || ids.contains($0.id) }
            guard stored.count >= ids.count else { throw Failure.noPasskey }
            let exportable = stored.filter(\.passkey.isExportable)
            try Self.check(exportable)
            // A wrong file must not cost a prompt.
            _ = try SealedFile.passkeys.seal([], to: publicKey)
            let entries = try await Self.read(exportable, service, isAgentWanted)
            let text = try SealedFile.passkeys.seal(PasskeyExport(entries).encoded, to: publicKey)
            if let to { try to.write(text) } else { print(text, terminator: "") }
            tell(
                localizedCount("Exported %1$s passkey.", "Exported %1$s passkeys.", entries.count)
            )
            let rest = stored.count - entries.count
            guard rest > 0 else { return }
            tell(
                localizedCount(
                    "%1$s passkey can't be exported: its key never leaves this computer.",
                    "%1$s passkeys can't be exported: their keys never leave this computer.",
                    rest
                )
            )
        }
    }

    private static func check(_ exportable: [StoredPasskey]) throws(Failure) {
        guard !exportable.isEmpty else {
            throw Failure(
                .refused,
                localized("No passkey can be exported."),
                hint: localized("man localauth-passkey says how to make exportable passkeys")
            )
        }
        guard exportable.count <= PasskeyExport.most else {
            throw Failure(
                .refused,
                localized("A file holds at most %1$s passkeys.", "\(PasskeyExport.most)"),
                hint: localized("name some of the ids")
            )
        }
    }

    /// Reads the guarded halves, after one prompt.
    @BusActor private static func read(
        _ stored: [StoredPasskey],
        _ service: RemoteService,
        _ isAgentWanted: Bool
    ) async throws -> [PasskeyExport.Entry] {
        let context = service.context(at: try await service.manager.createContext(properties: [:]))
        let answer = try await evaluate(
            service,
            on: context,
            policy: AuthenticationPolicy.biometricsOrPasscode.rawValue,
            reason: localizedCount(
                "copy the private key of %1$s passkey into a file",
                "copy the private keys of %1$s passkeys into a file",
                stored.count
            ),
            options: ["minimum-strength": .string(BiometryStrength.strong.rawValue)],
            isAgentWanted: isAgentWanted
        )
        _ = try answer.get()
        let options: [String: Variant] = [
            "context": .objectPath(context.path), "interaction-not-allowed": .bool(true),
        ]
        var entries: [PasskeyExport.Entry] = []
        for item in stored {
            let sealed = try await service.keychain.read(
                id: item.id,
                reason: "",
                options: options.merging(RemoteService.sealingReply) { $1 }
            )
            guard let secrets = try service.open(sealed).use({ PasskeySecrets($0) }),
                secrets.key != nil
            else {
                let site = plainText(item.passkey.site, limit: 128)
                throw Failure(.refused, localized("The passkey for “%1$s” is damaged.", site))
            }
            entries.append(PasskeyExport.Entry(item.passkey, secrets))
        }
        return entries
    }
}

struct PasskeysImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: localized("Add passkeys that “localauthctl passkeys export” copied."),
        discussion: localized(
            "Passkeys that are here already stay as they are. Import only files of your own: the "
                + "maker of a file can sign in with its passkeys."
        )
    )

    @Option(
        help: ArgumentHelp(
            localized("The sealed passkeys: a file, or - for a pipe."),
            valueName: "file"
        ),
        completion: .file()
    )
    var from: String

    @Option(
        help: ArgumentHelp(localized("Your X25519 private key, in PEM."), valueName: "file"),
        completion: .file()
    )
    var privateKey: String

    @OptionGroup var bus: BusArguments

    func run() throws {
        let (from, privateKey) = (from, privateKey)
        try perform(bus) { service in
            let opened = try SealedFile.passkeys.open(from, with: privateKey)
            guard let entries = opened?.use({ PasskeyExport($0)?.entries }) else {
                throw Failure(
                    .refused,
                    localized("The sealed passkeys do not open with this private key.")
                )
            }
            var known = Set(
                try await service.search(Passkey.query).compactMap { Passkey($0)?.id }
            )
            var count = 0
            for entry in entries where known.insert(entry.passkey.id).inserted {
                _ = try await service.keychain.add(
                    attributes: entry.passkey.attributes,
                    secret: try await service.seal(SecretBytes(entry.secrets.encoded)),
                    accessControl: ["flags": .uint64(Passkey.presence)],
                    options: RemoteService.sealed
                )
                count += 1
            }
            print(localizedCount("Imported %1$s passkey.", "Imported %1$s passkeys.", count))
            guard count < entries.count else { return }
            print(
                localizedCount(
                    "%1$s passkey was here already.",
                    "%1$s passkeys were here already.",
                    entries.count - count
                )
            )
        }
    }
}
