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
            localized("Replace the secret of an existing item. Its access control stays.")
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
            throw ValidationError(localized("Standard input can carry only one secret."))
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
            let typed = try await SecretInput.secret(
                file,
                label: localized("Secret:"),
                option: "--secret-file"
            )
            let options = try await access.options(service).merging(RemoteService.sealed) { $1 }
            let secret = try await service.seal(typed)
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
                let found = try await Self.find(item, service)
                try Self.check(found, access)
                id = found["id"]?.asString ?? ""
                try await service.keychain.setSecret(id: id, secret: secret, options: options)
            }
            if output.json {
                print(JSON.object([("id", .string(id))]).text)
            } else {
                print(localized("Stored as %1$s.", id))
            }
        }
    }

    /// The attributes that identify an item, with its class; an absent attribute is empty.
    private static let key = [
        "agrp", "svce", "acct", "srvr", "sdmn", "ptcl", "atyp", "port", "path",
    ]

    private static func isEmpty(_ value: Variant?) -> Bool {
        [nil, .string(""), .uint32(0)].contains(value)
    }

    /// Refuses to replace an item whose protection differs from the requested protection.
    private static func check(
        _ item: [String: Variant],
        _ access: AccessArguments
    ) throws(Failure) {
        let isSame =
            access.flags.map { $0.bits == item["flags"]?.asUInt64 ?? 0 } ?? true
            && access.accessible.map { .string($0.rawValue) == item["pdmn"] } ?? true
        guard isSame else {
            throw Failure(
                .refused,
                localized("The access control of the item differs."),
                hint: "localauthctl keychain list"
            )
        }
    }

    /// Finds the item that prevents the addition of another item with these attributes.
    @BusActor private static func find(
        _ item: [String: Variant],
        _ service: RemoteService
    ) async throws -> [String: Variant] {
        let given = item.filter { name, value in
            name == "class" || (key.contains(name) && !isEmpty(value))
        }
        let found = try await service.search(given)
            .filter { row in key.allSatisfy { given[$0] != nil || isEmpty(row[$0]) } }
        guard let item = found.first, found.count == 1 else {
            throw Failure(
                .refused,
                localized("Several items are like that."),
                hint: "localauthctl keychain list"
            )
        }
        return item
    }
}
