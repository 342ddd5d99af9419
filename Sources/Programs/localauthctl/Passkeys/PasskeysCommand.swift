import AgentKit
import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization
import Passkeys

struct PasskeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passkeys",
        abstract: localized("Manage the passkeys that websites know."),
        subcommands: [
            PasskeysListCommand.self, PasskeysRemoveCommand.self, PasskeysExportCommand.self,
            PasskeysImportCommand.self,
        ]
    )
}

struct PasskeysListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: localized("List your passkeys.")
    )

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let output = output
        try perform(bus) { service in
            let rows = try await service.search(Passkey.query).compactMap(StoredPasskey.init)
            if output.json {
                print(JSON.array(rows.map(\.json)).text)
            } else if rows.isEmpty {
                print(localized("No passkey. Websites and “ssh-keygen -t ecdsa-sk” make them."))
            } else {
                let titles = [
                    localized("ID"), localized("SITE"), localized("ACCOUNT"), localized("CREATED"),
                ]
                printTable([titles] + rows.map(\.row))
            }
        }
    }
}

struct PasskeysRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: localized("Delete passkeys for good."),
        discussion: localized(
            "Shows no prompt. A site without another way to sign in can't be entered any more."
        )
    )

    @Argument(help: ArgumentHelp(localized("Ids, as “localauthctl passkeys list” shows them.")))
    var ids: [String]

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let (ids, output) = (Set(ids), output)
        try perform(bus) { service in
            let rows = try await service.search(Passkey.query).compactMap(StoredPasskey.init)
                .filter { ids.contains($0.id) }
            for row in rows {
                // The key last: without its item, no program finds a passkey.
                let keys = try await service.search(row.passkey.keyQuery)
                    .compactMap { $0["id"]?.asString }
                _ = try await service.keychain.delete(ids: [row.id] + keys)
            }
            if output.json {
                print(JSON.object([("deleted", .int(Int64(rows.count)))]).text)
            } else {
                print(localizedCount("Deleted %1$s passkey.", "Deleted %1$s passkeys.", rows.count))
            }
            guard rows.count == ids.count else {
                throw Failure.noPasskey
            }
        }
    }
}

extension StoredPasskey {
    fileprivate var json: JSON {
        .object([
            ("id", .string(id)), ("site", .string(passkey.site)),
            ("account", .string(passkey.account)), ("created", .int(created)),
            ("credential", .string(Passkey.name(of: passkey.id))),
            ("exportable", .bool(passkey.isExportable)),
        ])
    }

    fileprivate var row: [String] {
        [
            id, plainText(passkey.site, limit: 128), plainText(passkey.account, limit: 128),
            day(created),
        ]
    }
}

extension Failure {
    static var noPasskey: Failure {
        Failure(
            .refused,
            localized("The passkey does not exist."),
            hint: "localauthctl passkeys list"
        )
    }
}
