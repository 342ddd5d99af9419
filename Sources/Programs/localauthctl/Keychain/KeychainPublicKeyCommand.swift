import ArgumentParser
import DBus
import LocalAuthClient
import Localization

struct KeychainPublicKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "public-key",
        abstract: localized("Write the public half of a key."),
        discussion: localized("As X9.63 in Base64, or as openssl and ssh-keygen take it.")
    )

    @Flag(help: ArgumentHelp(localized("Write a PEM file.")))
    var pem = false

    @OptionGroup var item: ItemArguments
    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func validate() throws {
        guard !pem || !output.json else {
            throw ValidationError(localized("Choose --pem or --json."))
        }
    }

    func run() throws {
        let (pem, item, output) = (pem, item, output)
        try perform(bus) { service in
            let found = try await item.find(service, class: "keys")
            guard let point = found.publicKey else {
                throw Failure(
                    .refused,
                    localized("“%1$s” is no key with a public half.", found.title),
                    hint: "localauthctl keychain keys"
                )
            }
            let text = Base64.text(point)
            if output.json {
                print(JSON.object([("publicKey", .string(text))]).text)
            } else {
                print(pem ? try Self.pem(point) : text)
            }
        }
    }

    /// SubjectPublicKeyInfo with id-ecPublicKey and prime256v1, in lines of 64 characters.
    private static func pem(_ point: [UInt8]) throws(Failure) -> String {
        guard point.count == 65 else {
            throw Failure(.refused, localized("The key is no P-256 key."))
        }
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
            0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        let text = Array(Base64.text(head + point))
        let lines = stride(from: 0, to: text.count, by: 64)
            .map { String(text[$0..<min($0 + 64, text.count)]) }
        return (["-----BEGIN PUBLIC KEY-----"] + lines + ["-----END PUBLIC KEY-----"])
            .joined(separator: "\n")
    }
}
