import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization
import Sealing

struct KeychainSignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: localized("Sign with a key; the signature is DER."),
        discussion: localized(
            "For more than 64 KiB, sign the digest: openssl dgst -sha256 -binary FILE | "
                + "localauthctl keychain sign ID --algorithm ecdsa-digest-sha256"
        )
    )

    @Option(
        help: ArgumentHelp(
            localized("The algorithm: over the message, or over its SHA-256 digest."),
            valueName: "name"
        )
    )
    var algorithm = SignatureArgument.message

    @Option(
        help: ArgumentHelp(
            localized("The data to sign (default: standard input)."),
            valueName: "file"
        ),
        completion: .file()
    )
    var file: String?

    @OptionGroup var item: ItemArguments
    @OptionGroup var use: UseArguments
    @OptionGroup var target: SecretOutput
    @OptionGroup var bus: BusArguments

    func run() throws {
        let (algorithm, file, item) = (algorithm.rawValue, file, item)
        let (use, target) = (use, target)
        try perform(bus) { service in
            let data = try SecretInput.read(file)
            let found = try await item.find(service, class: "keys")
            let signature = try await use.perform(service) { options throws(DBusError) in
                try await service.keychain.sign(
                    id: found.id,
                    algorithm: algorithm,
                    data: data.use { $0 },
                    reason: use.reason(found),
                    options: options
                )
            }
            try target.write(signature, named: "signature")
        }
    }
}

enum SignatureArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case message = "ecdsa-message-sha256"
    case digest = "ecdsa-digest-sha256"
}
