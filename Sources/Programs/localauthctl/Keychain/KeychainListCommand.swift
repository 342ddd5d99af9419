import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct KeychainListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: localized("List items, without their secrets."),
        discussion: localized("Lists items that match all given attributes. Shows no prompt.")
    )

    @OptionGroup var attributes: AttributeArguments
    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let (query, output) = (attributes.variants, output)
        try perform(bus) { try await list(query, $0, output.json) }
    }
}

struct KeychainKeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: localized("List keys, with their public halves in JSON.")
    )

    @Option(help: ArgumentHelp(localized("The tag of a key."), valueName: "text"))
    var tag: String?

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        var query: [String: Variant] = ["class": .string("keys")]
        query["atag"] = tag.map { .bytes(Array($0.utf8)) }
        let (wanted, output) = (query, output)
        try perform(bus) { try await list(wanted, $0, output.json) }
    }
}

@BusActor private func list(
    _ query: [String: Variant],
    _ service: RemoteService,
    _ json: Bool
) async throws {
    let items = try await service.search(query).map(ItemRow.init)
    if json {
        print(JSON.array(items.map(\.json)).text)
    } else if items.isEmpty {
        print(localized("No item. Next: %1$s", Advice.complete("localauthctl keychain add")))
    } else {
        printTable([ItemRow.titles] + items.map(\.row))
    }
}
