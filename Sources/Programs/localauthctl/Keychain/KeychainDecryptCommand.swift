import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization
import Sealing

struct KeychainDecryptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: localized("Decrypt data that was encrypted for the key's public half."),
        discussion: localized(
            "ECIES, cofactor, X9.63 with SHA-256 and AES-GCM: the sender's point, the encrypted "
                + "bytes, and a tag of 16 bytes."
        )
    )

    @Option(
        help: ArgumentHelp(
            localized("The data to decrypt (default: standard input)."),
            valueName: "file"
        ),
        completion: .file()
    )
    var file: String?

    @OptionGroup var item: ItemArguments
    @OptionGroup var use: UseArguments
    @OptionGroup var target: SecretOutput
    @OptionGroup var bus: BusArguments

    /// The maximum input: a secret, the sender's public point and the authentication tag.
    private static let limit = RemoteService.secretLimit + 65 + 16

    func run() throws {
        let (file, item, use, target) = (file, item, use, target)
        try perform(bus) { service in
            let data = try SecretInput.read(file, limit: Self.limit)
            let found = try await item.find(service, class: "keys")
            try await target.receive {
                try await use.receive(service) { options throws(DBusError) in
                    try await service.keychain.decrypt(
                        id: found.id,
                        algorithm: "ecies-cofactor-x963-sha256-aesgcm",
                        data: data.use { $0 },
                        reason: use.reason(found),
                        options: options
                    )
                }
            }
        }
    }
}
