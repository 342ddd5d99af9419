import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct KeychainDeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: localized("Delete items for good."),
        discussion: localized("Shows no prompt. Exit status 1 when an item does not exist.")
    )

    @Argument(help: ArgumentHelp(localized("Ids, as “localauthctl keychain list” shows them.")))
    var ids: [String]

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let (ids, output) = (ids, output)
        try perform(bus) { service in
            let deleted = try await service.keychain.delete(ids: ids)
            if output.json {
                print(JSON.object([("deleted", .int(Int64(deleted)))]).text)
            } else {
                print(localizedCount("Deleted %1$s item.", "Deleted %1$s items.", Int(deleted)))
            }
            guard deleted == Set(ids).count else {
                throw Failure(
                    .refused,
                    localized("The item does not exist."),
                    hint: "localauthctl keychain list"
                )
            }
        }
    }
}
