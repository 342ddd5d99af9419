/// An attribute of Apple's keychain, as this one has it: the classes that have it, and its type.
struct ItemAttribute: Sendable {
    /// What its values are.
    enum Kind: Sendable {
        /// A text; bytes are taken, too, and come back as bytes.
        case text
        /// Bytes; a text is taken, too, and comes back as a text.
        case bytes
        case number
        /// A number, which Apple's constants write as a text.
        case constant
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

    /// By their names, those of ``ItemDictionary`` apart: access control, group and such.
    static let known: [String: ItemAttribute] = {
        var known: [String: ItemAttribute] = [
            "labl": Self(.text, all), "crtr": Self(.number, all), "cdat": Self(.date, all),
            "mdat": Self(.date, all), "agrp": Self(.text, all), "vwht": Self(.text, all),
            "acct": Self(.text, passwords), "desc": Self(.text, passwords),
            "icmt": Self(.text, passwords), "invi": Self(.flag, passwords),
            "nega": Self(.flag, passwords), "svce": Self(.text, ["genp"]),
            "gena": Self(.bytes, ["genp"]), "port": Self(.number, ["inet"]),
            "type": Self(.constant, all), "atag": Self(.bytes, ["keys"]),
            "klbl": Self(.bytes, ["keys"]), "kcls": Self(.constant, ["keys"]),
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
