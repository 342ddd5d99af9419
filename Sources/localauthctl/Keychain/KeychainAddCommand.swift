import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct KeychainAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: localized("Store a secret."),
        discussion: localized("Asks for it on this terminal when no file is given.")
    )

    @Option(
        help: ArgumentHelp(localized("The secret: a file, or - for a pipe."), valueName: "file"),
        completion: .file()
    )
    var secretFile: String?

    @OptionGroup var attributes: AttributeArguments
    @OptionGroup var access: AccessArguments
    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func validate() throws {
        guard attributes.itemClass != .keys else {
            throw ValidationError(localized("Keys are made with keychain create-key."))
        }
        guard secretFile != "-" || access.passwordFile != "-" else {
            throw ValidationError(localized("Only one secret can come from standard input."))
        }
    }

    func run() throws {
        var new = attributes.variants
        if new["class"] == nil {
            new["class"] = .string(attributes.server == nil ? "genp" : "inet")
        }
        let (item, access, file, output) = (new, access, secretFile, output)
        try perform(bus) { service in
            let secret = try await SecretInput.sealed(
                file,
                label: localized("Secret:"),
                option: "--secret-file"
            )
            let id = try await service.keychain.add(
                attributes: item,
                secret: secret,
                accessControl: access.variants,
                options: try await access.options(service)
            )
            if output.json {
                print(JSON.object([("id", .string(id))]).text)
            } else {
                print(localized("Stored as %1$s.", id))
            }
        }
    }
}
