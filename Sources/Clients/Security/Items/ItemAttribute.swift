internal import DBus

/// The type of an attribute, and the item classes that have it.
struct ItemAttribute: Sendable {
    enum Kind: Sendable {
        /// A text.
        ///
        /// Bytes and numbers are accepted, and returned as bytes and numbers.
        case text
        /// A text.
        ///
        /// Bytes are accepted, and returned as bytes.
        case word
        /// Bytes.
        ///
        /// A text is accepted, and returned as a text.
        case bytes
        /// A number.
        ///
        /// A text is accepted, because Apple's constants and some programs use texts. Digits are
        /// returned as a number, as in Apple's keychain; every other text is returned as a text.
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

    /// The attributes that identify a password; missing values count as empty or zero.
    ///
    /// Apple's keychain treats a missing value and an empty value as equal, and returns the empty
    /// value.
    static let names: [String: [String]] = [
        "genp": ["acct", "svce"], "inet": ["acct", "atyp", "path", "port", "ptcl", "sdmn", "srvr"],
    ]

    /// The class and the attributes that must be unique, equal to the service's primary key.
    static func primaryKey(of item: [String: Variant]) -> [String: Variant] {
        let itemClass = item["class"]?.asString ?? ""
        let keys = [
            "atag", "bsiz", "crtr", "edat", "esiz", "kcls", "klbl", "sdat", "type",
        ]
        let names = (Self.names[itemClass] ?? keys) + ["class", "agrp", "sync"]
        let empty: [Variant] = [.string(""), .uint32(0), .bool(false), .bytes([])]
        return item.filter { names.contains($0.key) && !empty.contains($0.value) }
    }

    /// Whether a value is equal to a missing value.
    static func isEmpty(_ value: Variant?, _ name: String) -> Bool {
        let isName = name == "agrp" || names.values.contains { $0.contains(name) }
        return isName && [nil, .string(""), .uint32(0)].contains(value)
    }

    /// The attributes by name, without the attributes that ``ItemDictionary`` handles itself.
    static let known: [String: ItemAttribute] = {
        var known: [String: ItemAttribute] = [
            "labl": Self(.text, all), "crtr": Self(.number, all), "cdat": Self(.date, all),
            "mdat": Self(.date, all), "agrp": Self(.word, all), "vwht": Self(.word, all),
            "acct": Self(.text, passwords), "desc": Self(.text, passwords),
            "icmt": Self(.text, passwords), "invi": Self(.flag, passwords),
            "nega": Self(.flag, passwords), "svce": Self(.text, ["genp"]),
            "gena": Self(.bytes, ["genp"]), "port": Self(.number, ["inet"]),
            "type": Self(.number, all), "atag": Self(.bytes, ["keys"]),
            "klbl": Self(.bytes, ["keys"]), "kcls": Self(.number, ["keys"]),
            "bsiz": Self(.number, ["keys"]), "esiz": Self(.number, ["keys"]),
            "sdat": Self(.date, ["keys"]), "edat": Self(.date, ["keys"]),
            "tkid": Self(.word, ["keys"]),
        ]
        for name in ["srvr", "sdmn", "ptcl", "atyp", "path"] { known[name] = Self(.text, ["inet"]) }
        for name in [
            "perm", "sens", "extr", "encr", "decr", "drve", "sign", "vrfy", "wrap", "unwp",
        ] { known[name] = Self(.flag, ["keys"]) }
        return known
    }()
}
