internal import DBus

/// An attribute of Apple's keychain, as this one has it: the classes that have it, and its type.
struct ItemAttribute: Sendable {
    /// What its values are.
    enum Kind: Sendable {
        /// A text; bytes are taken, too, and come back as bytes.
        case text
        /// Bytes; a text is taken, too, and comes back as a text.
        case bytes
        /// A number; Apple's constants, and some programs, write it as a text.
        case number
        case flag
        case date
    }

    let kind: Kind
    private let classes: Set<String>

    private init(_ kind: Kind, _ classes: Set<String>) {
        self.kind = kind
        self.classes = classes
    }

    func isOf(_ itemClass: String) -> Bool { classes.contains(itemClass) }

    private static let passwords: Set = ["genp", "inet"]
    private static let all: Set = ["genp", "inet", "keys"]

    /// What names a password, and counts as empty where an item or a query doesn't say it; a port
    /// is zero then.
    ///
    /// So Apple's keychain has it: such items are the same one, and show the empty values.
    static let names: [String: [String]] = [
        "genp": ["acct", "svce"], "inet": ["acct", "atyp", "path", "port", "ptcl", "sdmn", "srvr"],
    ]

    /// What an item's class and attributes are that no other item has, as the service has it.
    static func primaryKey(of item: [String: Variant]) -> [String: Variant] {
        let itemClass = item["class"]?.asString ?? ""
        let keys = [
            "atag", "bsiz", "crtr", "edat", "esiz", "kcls", "klbl", "sdat", "type",
        ]
        let names = (Self.names[itemClass] ?? keys) + ["class", "agrp", "sync"]
        let empty: [Variant] = [.string(""), .uint32(0), .bool(false), .bytes([])]
        return item.filter { names.contains($0.key) && !empty.contains($0.value) }
    }

    /// Whether a value of an attribute says no more than if there were none.
    static func isEmpty(_ value: Variant?, _ name: String) -> Bool {
        let isName = name == "agrp" || names.values.contains { $0.contains(name) }
        return isName && [nil, .string(""), .uint32(0)].contains(value)
    }

    /// By their names, those of ``ItemDictionary`` apart: access control, group and such.
    static let known: [String: ItemAttribute] = {
        var known: [String: ItemAttribute] = [
            "labl": Self(.text, all), "crtr": Self(.number, all), "cdat": Self(.date, all),
            "mdat": Self(.date, all), "agrp": Self(.text, all), "vwht": Self(.text, all),
            "acct": Self(.text, passwords), "desc": Self(.text, passwords),
            "icmt": Self(.text, passwords), "invi": Self(.flag, passwords),
            "nega": Self(.flag, passwords), "svce": Self(.text, ["genp"]),
            "gena": Self(.bytes, ["genp"]), "port": Self(.number, ["inet"]),
            "type": Self(.number, all), "atag": Self(.bytes, ["keys"]),
            "klbl": Self(.bytes, ["keys"]), "kcls": Self(.number, ["keys"]),
            "bsiz": Self(.number, ["keys"]), "esiz": Self(.number, ["keys"]),
            "sdat": Self(.date, ["keys"]), "edat": Self(.date, ["keys"]),
            "tkid": Self(.text, ["keys"]),
        ]
        for name in ["srvr", "sdmn", "ptcl", "atyp", "path"] { known[name] = Self(.text, ["inet"]) }
        for name in [
            "perm", "sens", "extr", "encr", "decr", "drve", "sign", "vrfy", "wrap", "unwp",
        ] { known[name] = Self(.flag, ["keys"]) }
        return known
    }()
}
