import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct KeychainCreateKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create-key",
        abstract: localized("Make a P-256 key, and write its id and its public half."),
        discussion: localized("The private half never leaves the service.")
    )

    @Option(help: ArgumentHelp(localized("The tag of a key."), valueName: "text"))
    var tag: String

    @Option(help: ArgumentHelp(localized("A name for people."), valueName: "text"))
    var label: String?

    @OptionGroup var access: AccessArguments
    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        var new: [String: Variant] = ["class": .string("keys"), "atag": .bytes(Array(tag.utf8))]
        new["labl"] = label.map(Variant.string)
        let (key, access, output) = (new, access, output)
        try perform(bus) { service in
            let made = try await service.keychain.createKey(
                attributes: key,
                accessControl: access.variants,
                options: try await access.options(service)
            )
            let publicKey = Base64.text(made.publicKey)
            if output.json {
                let members = [("id", JSON.string(made.id)), ("publicKey", .string(publicKey))]
                print(JSON.object(members).text)
            } else {
                print("\(made.id)\n\(publicKey)")
            }
        }
    }
}
