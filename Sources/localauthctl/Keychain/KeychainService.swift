import ArgumentParser
import DBus
import LocalAuthBus
import Localization

extension Service {
    var keychain: Keychain1Proxy {
        Keychain1Proxy(
            connection,
            destination: owner,
            path: ObjectPath(trusted: "/org/localauth/Keychain1")
        )
    }

    /// A context that has an application password.
    func context(lending password: OwnedDescriptor) async throws -> Context1Proxy {
        let path = try await manager.createContext(properties: [:])
        let context = Context1Proxy(connection, destination: owner, path: path)
        guard try await context.setCredential(credentialType: 0, secret: password) else {
            throw Failure(.refused, localized("The service did not take the password."))
        }
        return context
    }
}

/// Which item is meant: by its id, or by what it says of itself.
struct ItemArguments: ParsableArguments {
    @Argument(help: ArgumentHelp(localized("The id, as “localauthctl keychain list” shows it.")))
    var id: String?

    @OptionGroup var attributes: AttributeArguments

    func validate() throws {
        guard (id == nil) != attributes.variants.isEmpty else {
            throw ValidationError(localized("Give an id, or attributes that one item has."))
        }
    }

    /// The one item that is meant.
    @BusActor func find(_ service: Service, class word: String? = nil) async throws -> String {
        if let id { return id }
        var query = attributes.variants
        if let word, query["class"] == nil { query["class"] = .string(word) }
        let found = try await service.keychain.search(query: query, options: [:])
            .map(ItemRow.init)
        if let item = found.first, found.count == 1 { return item.id }
        throw found.isEmpty
            ? Failure(
                .refused,
                localized("There is no such item."),
                hint: "localauthctl keychain list"
            )
            : Failure(
                .usage,
                localized("Several items are like that."),
                hint: localized("give one id of %1$s", found.map(\.id).joined(separator: ", "))
            )
    }
}
