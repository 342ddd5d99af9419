import ArgumentParser
import DBus
import Localization

/// What an item says of itself.
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

    /// As they stand on the bus.
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

/// What kind of item; the words are Apple's.
enum ItemClassArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case genp
    case inet
    case keys
}

/// Who may read an item, and when.
struct AccessArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            localized(
                "What a person proves first: words or a number, joined by commas; nothing if none."
            ),
            valueName: "flags"
        )
    )
    var flags: FlagsArgument?

    @Option(help: ArgumentHelp(localized("When it can be read: ak, ck, aku, cku or akpu.")))
    var accessible: String?

    @Option(
        help: ArgumentHelp(
            localized("Its own password, with application-password: a file, or - for a pipe."),
            valueName: "file"
        )
    )
    var passwordFile: String?

    var needsPassword: Bool { flags?.needsPassword == true }

    var variants: [String: Variant] {
        var variants: [String: Variant] = [:]
        variants["flags"] = flags.map { .uint64($0.bits) }
        variants["accessible"] = accessible.map(Variant.string)
        return variants
    }
}

/// Flags of an access control, such as `biometry-any,or,device-passcode`.
struct FlagsArgument: ExpressibleByArgument, Sendable {
    let bits: UInt64

    /// Apple's bits.
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

    static var allValueStrings: [String] { words.map(\.word) }
}
