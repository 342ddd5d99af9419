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

    @Flag(
        help: ArgumentHelp(
            localized("If there is such an item, give it this secret; what guards it stays.")
        )
    )
    var replace = false

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
        let replaces = replace
        try perform(bus) { service in
            let secret = try await SecretInput.sealed(
                file,
                label: localized("Secret:"),
                option: "--secret-file"
            )
            let options = try await access.options(service)
            var new: String?
            do throws(DBusError) {
                new = try await service.keychain.add(
                    attributes: item,
                    secret: secret,
                    accessControl: access.variants,
                    options: options
                )
            } catch {
                guard replaces, error.name == .keychainDuplicate else { throw error }
            }
            let id: String
            if let new {
                id = new
            } else {
                id = try await Self.find(item, service)
                try await service.keychain.setSecret(id: id, secret: secret, options: options)
            }
            if output.json {
                print(JSON.object([("id", .string(id))]).text)
            } else {
                print(localized("Stored as %1$s.", id))
            }
        }
    }

    /// What makes an item the same one, beside its class; an attribute that is absent is empty.
    private static let key = ["svce", "acct", "srvr", "ptcl", "port", "path"]

    /// The item that keeps another one with these attributes from being added.
    @BusActor private static func find(
        _ item: [String: Variant],
        _ service: RemoteService
    ) async throws -> String {
        let given = item.filter { key.contains($0.key) || $0.key == "class" }
        let found = try await service.search(given)
            .filter { row in
                key.allSatisfy { given[$0] != nil || [nil, .string("")].contains(row[$0]) }
            }
        guard let id = found.first?["id"]?.asString, found.count == 1 else {
            throw Failure(
                .refused,
                localized("Several items are like that."),
                hint: "localauthctl keychain list"
            )
        }
        return id
    }
}
