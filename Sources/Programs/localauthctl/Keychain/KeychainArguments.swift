import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization
import Sealing

/// Selects an item: by its id, or by attributes that match a single item.
struct ItemArguments: ParsableArguments {
    @Argument(help: ArgumentHelp(localized("The id, as “localauthctl keychain list” shows it.")))
    var id: String?

    @OptionGroup var attributes: AttributeArguments

    func validate() throws {
        guard (id == nil) != attributes.variants.isEmpty else {
            throw ValidationError(localized("Give an id, or attributes of exactly one item."))
        }
    }

    /// Finds the single item that matches.
    @BusActor func find(_ service: RemoteService, class word: String? = nil) async throws -> ItemRow
    {
        var query = attributes.variants
        if let word, id == nil, query["class"] == nil { query["class"] = .string(word) }
        var found = try await service.search(query).map(ItemRow.init)
        if let id {
            // The service reports a missing item.
            found = [found.first { $0.id == id } ?? ItemRow(["id": .string(id)])]
        }
        if let item = found.first, found.count == 1 { return item }
        throw found.isEmpty
            ? Failure(
                .refused,
                localized("The item does not exist."),
                hint: "localauthctl keychain list"
            )
            : Failure(
                .usage,
                localized("Several items are like that."),
                hint: localized("give an id out of %1$s", found.map(\.id).joined(separator: ", "))
            )
    }
}

struct AttributeArguments: ParsableArguments {
    @Option(
        name: .customLong("class"),
        help: ArgumentHelp(localized("The kind: genp (a password), inet (of a server) or keys."))
    )
    var itemClass: ItemClassArgument?

    @Option(help: ArgumentHelp(localized("The service that a password is for."), valueName: "text"))
    var service: String?

    @Option(help: ArgumentHelp(localized("The account."), valueName: "text"))
    var account: String?

    @Option(help: ArgumentHelp(localized("The server that a password is for."), valueName: "host"))
    var server: String?

    @Option(help: ArgumentHelp(localized("The server's protocol."), valueName: "text"))
    var `protocol`: String?

    @Option(help: ArgumentHelp(localized("The server's port."), valueName: "number"))
    var port: UInt32?

    @Option(help: ArgumentHelp(localized("The path on the server."), valueName: "text"))
    var path: String?

    @Option(help: ArgumentHelp(localized("The tag of a key."), valueName: "text"))
    var tag: String?

    @Option(help: ArgumentHelp(localized("A name for people."), valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp(localized("A comment."), valueName: "text"))
    var comment: String?

    /// The attributes by their names on the bus.
    var variants: [String: Variant] {
        let texts = [
            "svce": service, "acct": account, "srvr": server, "ptcl": self.protocol, "path": path,
            "labl": label, "icmt": comment,
        ]
        var variants = texts.compactMapValues { $0.map(Variant.string) }
        variants["port"] = port.map(Variant.uint32)
        variants["atag"] = tag.map { .bytes(Array($0.utf8)) }
        variants["class"] = itemClass.map { .string($0.rawValue) }
        return variants
    }
}

/// The kind of an item, in Apple's words.
enum ItemClassArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case genp
    case inet
    case keys
}

struct AccessArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            localized(
                "The access control: flags or a number, joined by commas. Without it, reading the "
                    + "item needs no authentication."
            ),
            valueName: "flags"
        )
    )
    var flags: FlagsArgument?

    @Option(help: ArgumentHelp(localized("When it can be read: ak, ck, aku, cku or akpu.")))
    var accessible: AccessibleArgument?

    @Option(
        help: ArgumentHelp(
            localized(
                "The item's own password, with application-password: a file, or - for a "
                    + "pipe."
            ),
            valueName: "file"
        ),
        completion: .file()
    )
    var passwordFile: String?

    var needsPassword: Bool { flags?.needsPassword == true }

    var variants: [String: Variant] {
        var variants: [String: Variant] = [:]
        variants["flags"] = flags.map { .uint64($0.bits) }
        variants["accessible"] = accessible.map { .string($0.rawValue) }
        return variants
    }
}

/// When an item can be read, in Apple's words.
enum AccessibleArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case ak
    case ck
    case aku
    case cku
    case akpu
}

/// Flags of an access control, such as `biometry-any,or,device-passcode`.
struct FlagsArgument: ExpressibleByArgument, Sendable {
    let bits: UInt64

    /// The bits of Apple's SecAccessControlCreateFlags.
    private static let words: [(word: String, bit: UInt64)] = [
        ("user-presence", 1 << 0), ("biometry-any", 1 << 1), ("biometry-current-set", 1 << 3),
        ("device-passcode", 1 << 4), ("companion", 1 << 5), ("or", 1 << 14), ("and", 1 << 15),
        ("private-key-usage", 1 << 30), ("application-password", 1 << 31),
    ]

    init?(argument: String) {
        var bits: UInt64 = 0
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let known = Self.words.first { $0.word == part }?.bit
            guard let bit = known ?? UInt64(part) else { return nil }
            bits |= bit
        }
        self.bits = bits
    }

    var needsPassword: Bool { bits & 1 << 31 != 0 }

    /// The flags as words; a bit without a word is a number.
    static func words(of bits: UInt64) -> String {
        var rest = bits
        var words: [String] = []
        for (word, bit) in Self.words where bits & bit != 0 {
            words.append(word)
            rest &= ~bit
        }
        return (words + (rest == 0 ? [] : ["\(rest)"])).joined(separator: ",")
    }

    static var allValueStrings: [String] { words.map(\.word) }
}

extension AccessArguments {
    /// The options of Add and CreateKey: a context with the item's own password, if it has one.
    @BusActor func options(_ service: RemoteService) async throws -> [String: Variant] {
        guard needsPassword else { return [:] }
        let password = try await SecretInput.password(passwordFile)
        return ["context": .objectPath(try await service.context(lending: password).path)]
    }
}

/// Options for the use of an item: the prompt, its timeout, and the item's own password.
struct UseArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            localized("The reason. The prompt shows it as “The program is trying to …”.")
        )
    )
    var reason: String?

    @Option(
        help: ArgumentHelp(localized("Give up after this time, such as 30s."), valueName: "time")
    )
    var timeout: TimeArgument?

    @Flag(help: ArgumentHelp(localized("Fail instead of showing a prompt.")))
    var noPrompt = false

    @Flag(
        help: ArgumentHelp(
            localized("Never show a prompt on this terminal, even without an agent.")
        )
    )
    var noAgent = false

    @Option(
        help: ArgumentHelp(
            localized("The item's own password: a file, or - for a pipe."),
            valueName: "file"
        ),
        completion: .file()
    )
    var passwordFile: String?

    /// The prompt's reason; by default it names the item.
    func reason(_ item: ItemRow) -> String {
        reason ?? localized("use “%1$s” of your keychain", item.title)
    }

    /// Makes a call that may prompt, with an agent on this terminal when no other serves it.
    @BusActor func perform<Value: Sendable>(
        _ service: RemoteService,
        _ call: @BusActor ([String: Variant]) async throws(DBusError) -> Value
    ) async throws -> Value {
        var options: [String: Variant] = [:]
        if let timeout { options["timeout"] = .uint64(timeout.milliseconds) }
        if noPrompt { options["interaction-not-allowed"] = .bool(true) }
        let context = try await lent(service)
        if let context { options["context"] = .objectPath(context.path) }
        let own = noPrompt ? nil : try await OwnAgent.start(service, isWanted: !noAgent)
        onInterruption {
            own?.abort()
            // The command ends with the reply to the call, not with the reply to Invalidate.
            onLoop {
                if let context {
                    try? await context.invalidate()
                } else {
                    try? await service.manager.invalidate()
                }
            }
        }
        let answer: Result<Value, DBusError>
        do throws(DBusError) {
            answer = .success(try await call(options))
        } catch {
            answer = .failure(error)
        }
        await own?.stop()
        return try answer.get()
    }

    /// Makes a call that returns a secret, like ``perform(_:_:)``.
    @BusActor func receive(
        _ service: RemoteService,
        _ call: @BusActor ([String: Variant]) async throws(DBusError) -> [UInt8]
    ) async throws -> SecretBytes {
        let reply = try await perform(service) { options throws(DBusError) in
            try await call(options.merging(RemoteService.sealingReply) { $1 })
        }
        return try service.open(reply)
    }

    @BusActor private func lent(_ service: RemoteService) async throws -> Context1Proxy? {
        guard let passwordFile else { return nil }
        return try await service.context(lending: SecretInput.password(passwordFile))
    }
}

extension RemoteService {
    func context(lending password: SecretBytes) async throws -> Context1Proxy {
        let path = try await manager.createContext(properties: [:])
        let context = context(at: path)
        guard try await context.setCredential(0, sealing: password) else {
            throw Failure(.refused, localized("The service did not take the password."))
        }
        return context
    }
}
