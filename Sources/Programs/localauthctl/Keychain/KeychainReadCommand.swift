import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct KeychainReadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: localized("Write a secret to standard output, or into a file."),
        discussion: localized("Shows a prompt when the item needs it. Ctrl-C cancels.")
    )

    @OptionGroup var item: ItemArguments
    @OptionGroup var use: UseArguments
    @OptionGroup var target: SecretOutput
    @OptionGroup var bus: BusArguments

    func run() throws {
        let (item, use, target) = (item, use, target)
        try perform(bus) { service in
            let found = try await item.find(service)
            try await target.receive {
                try await use.receive(service) { options throws(DBusError) in
                    try await service.keychain.read(
                        id: found.id,
                        reason: use.reason(found),
                        options: options
                    )
                }
            }
        }
    }
}
