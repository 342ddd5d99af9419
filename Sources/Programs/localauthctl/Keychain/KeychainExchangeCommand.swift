import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct KeychainExchangeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exchange",
        abstract: localized("Agree on a secret with the owner of another key.")
    )

    @Option(
        help: ArgumentHelp(
            localized("The other public half, in Base64 as create-key writes it."),
            valueName: "base64"
        )
    )
    var publicKey: PublicKeyArgument

    @Option(help: ArgumentHelp(localized("The derivation of the secret."), valueName: "name"))
    var algorithm = ExchangeArgument.derived

    @Option(
        help: ArgumentHelp(
            localized("The information that both sides derive the secret with."),
            valueName: "text"
        )
    )
    var sharedInfo: String?

    @Option(
        help: ArgumentHelp(localized("The length in bytes (default: 32)."), valueName: "number")
    )
    var size: UInt32?

    @OptionGroup var item: ItemArguments
    @OptionGroup var use: UseArguments
    @OptionGroup var target: SecretOutput
    @OptionGroup var bus: BusArguments

    func validate() throws {
        guard algorithm == .derived || (sharedInfo == nil && size == nil) else {
            throw ValidationError(
                localized("--shared-info and --size go with ecdh-x963-sha256 only.")
            )
        }
    }

    func run() throws {
        let (publicKey, algorithm, item) = (publicKey.bytes, algorithm.rawValue, item)
        let (use, target) = (use, target)
        var more: [String: Variant] = [:]
        more["shared-info"] = sharedInfo.map { .bytes(Array($0.utf8)) }
        more["size"] = size.map(Variant.uint32)
        let derivation = more
        try perform(bus) { service in
            let found = try await item.find(service, class: "keys")
            try await target.receive {
                try await use.receive(service) { options throws(DBusError) in
                    try await service.keychain.keyExchange(
                        id: found.id,
                        algorithm: algorithm,
                        publicKey: publicKey,
                        reason: use.reason(found),
                        options: options.merging(derivation) { $1 }
                    )
                }
            }
        }
    }
}

enum ExchangeArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case plain = "ecdh"
    case derived = "ecdh-x963-sha256"
}

/// A public key in Base64.
struct PublicKeyArgument: ExpressibleByArgument, Sendable {
    let bytes: [UInt8]

    init?(argument: String) {
        guard let bytes = Base64.decode(argument), !bytes.isEmpty else { return nil }
        self.bytes = bytes
    }
}
