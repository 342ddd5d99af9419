import Crypto

/// A value of an attribute.
///
/// The letters are its D-Bus types.
package enum AttributeValue: Hashable, Sendable {
    /// `s`.
    case text(String)
    /// `ay`.
    case bytes([UInt8])
    /// `u`.
    case number(UInt32)
    /// `b`.
    case flag(Bool)
    /// Unix seconds (`x`).
    case seconds(Int64)

    /// Whether both values have equal bytes.
    ///
    /// Two Unicode spellings of a text are different.
    func isSame(as other: AttributeValue) -> Bool {
        guard case .text(let text) = self, case .text(let otherText) = other else {
            return self == other
        }
        return text.utf8.elementsEqual(otherText.utf8)
    }

    func isOfSameType(as other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.text, .text), (.bytes, .bytes), (.number, .number), (.flag, .flag),
            (.seconds, .seconds):
            true
        default: false
        }
    }

    /// Whether the value is empty or zero, like a missing attribute of a primary key.
    var isDefault: Bool { [.text(""), .bytes([]), .number(0), .flag(false)].contains(self) }
}

/// The class of an item.
///
/// Raw values are Apple's.
package enum ItemClass: String, Sendable, CaseIterable {
    case genericPassword = "genp"
    case internetPassword = "inet"
    case key = "keys"

    /// The attributes that together must be unique among a user's items.
    var primaryKey: [String] {
        switch self {
        case .genericPassword: ["agrp", "svce", "acct"]
        case .internetPassword:
            ["agrp", "srvr", "acct", "sdmn", "ptcl", "atyp", "port", "path"]
        case .key: ["agrp", "atag"]
        }
    }

    /// Attributes that also belong to the primary key of an item that has them.
    ///
    /// They are listed apart, because an item without them must keep the digest that earlier
    /// versions stored.
    fileprivate var laterPrimaryKey: [String] {
        switch self {
        case .genericPassword, .internetPassword: ["sync"]
        case .key: ["bsiz", "crtr", "edat", "esiz", "kcls", "klbl", "sdat", "sync", "type"]
        }
    }

    /// The attributes that only this class and related classes have.
    fileprivate var own: Set<String> {
        switch self {
        case .genericPassword: ["svce", "acct", "gena"]
        case .internetPassword: ["srvr", "acct", "sdmn", "ptcl", "atyp", "port", "path"]
        case .key:
            [
                "atag", "klbl", "kcls", "bsiz", "esiz", "sdat", "edat", "encr", "decr", "drve",
                "sign", "vrfy", "wrap", "unwp", "perm", "sens", "extr", "tkid",
            ]
        }
    }
}

/// The attributes of an item.
///
/// None of them is secret.
package struct Attributes: Hashable, Sendable {
    package let itemClass: ItemClass
    package private(set) var values: [String: AttributeValue]

    /// The maximum size of a text or bytes value, in bytes.
    package static let valueLimit = 4096
    /// The maximum size of all attributes of an item, in bytes.
    package static let totalLimit = 8192

    /// Every attribute that callers may set, with a value of its type.
    static let types: [String: AttributeValue] = [
        "svce": .text(""), "acct": .text(""), "gena": .bytes([]), "labl": .text(""),
        "desc": .text(""), "icmt": .text(""), "srvr": .text(""), "sdmn": .text(""),
        "ptcl": .text(""), "atyp": .text(""), "port": .number(0), "path": .text(""),
        "atag": .bytes([]), "agrp": .text(""), "type": .number(0), "crtr": .number(0),
        "invi": .flag(false), "nega": .flag(false), "sync": .flag(false), "vwht": .text(""),
        "form": .text(""), "klbl": .bytes([]), "kcls": .number(0), "bsiz": .number(0),
        "esiz": .number(0), "sdat": .seconds(0), "edat": .seconds(0), "encr": .flag(false),
        "decr": .flag(false), "drve": .flag(false), "sign": .flag(false), "vrfy": .flag(false),
        "wrap": .flag(false), "unwp": .flag(false), "perm": .flag(false), "sens": .flag(false),
        "extr": .flag(false), "tkid": .text(""),
    ]

    /// Creates the attributes of a new item.
    ///
    /// - Throws: `parameter` for an unknown attribute, an attribute of another class, a wrong type,
    ///   or a missing class; `limitsExceeded` if they are too long.
    package init(_ values: [String: AttributeValue]) throws(KeychainError) {
        guard case .text(let word) = values["class"], let itemClass = ItemClass(rawValue: word)
        else { throw .parameter("the attribute class is genp, inet or keys, and can't be missing") }
        self.itemClass = itemClass
        self.values = [:]
        try update(values)
    }

    /// Sets the given attributes and keeps the others.
    ///
    /// - Throws: As the initialiser, and `parameter` for another class.
    package mutating func update(_ changes: [String: AttributeValue]) throws(KeychainError) {
        var changed = values
        for (name, value) in changes {
            if name == "class" {
                guard value == .text(itemClass.rawValue) else {
                    throw .parameter("an item can't change its class")
                }
                continue
            }
            try check(name, value)
            changed[name] = value
        }
        guard changed.reduce(0, { $0 + $1.value.size }) <= Self.totalLimit else {
            throw KeychainError(
                .limitsExceeded,
                "The attributes of an item have at most \(Self.totalLimit) bytes."
            )
        }
        values = changed
    }

    /// The classes of each attribute that not every class has.
    private static let classes: [String: Set<ItemClass>] = ItemClass.allCases
        .reduce(into: [:]) { classes, itemClass in
            for name in itemClass.own { classes[name, default: []].insert(itemClass) }
        }

    private func check(_ name: String, _ value: AttributeValue) throws(KeychainError) {
        guard let type = Self.types[name] else {
            let isOurs = ["id", "cdat", "mdat", "pdmn"].contains(name)
            throw isOurs
                ? .parameter("the attribute \(name) is set by the keychain")
                : .parameter("there is no attribute \(name.prefix(16))")
        }
        guard value.isOfSameType(as: type) else {
            throw .parameter("the attribute \(name) has a wrong type")
        }
        guard Self.classes[name]?.contains(itemClass) ?? true else {
            throw .parameter("an item of class \(itemClass.rawValue) has no attribute \(name)")
        }
        guard value.size <= Self.valueLimit else {
            throw KeychainError(
                .limitsExceeded,
                "An attribute has at most \(Self.valueLimit) bytes."
            )
        }
    }

    /// The digest of the primary key, which is unique among the items of a user and app.
    func primaryKey(app: String) -> [UInt8] {
        var writer = ByteWriter("org.localauth.Keychain.1 primary key")
        writer.add(app)
        writer.add(itemClass.rawValue)
        for name in itemClass.primaryKey {
            let value = values[name].flatMap { $0.isDefault ? nil : $0 }
            writer.add(UInt8(value == nil ? 0 : 1))
            if let value { writer.add(value) }
        }
        for name in itemClass.laterPrimaryKey {
            guard let value = values[name], !value.isDefault else { continue }
            writer.add(name)
            writer.add(value)
        }
        return Array(SHA256.hash(data: writer.bytes))
    }

    func write(to writer: inout ByteWriter) {
        writer.add(itemClass.rawValue)
        writer.add(UInt32(values.count))
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            writer.add(name)
            writer.add(value)
        }
    }

    init(from reader: inout ByteReader) throws(KeychainError) {
        var values = ["class": AttributeValue.text(try reader.text())]
        for _ in 0..<(try reader.number(UInt32.self)) {
            values[try reader.text()] = try reader.attribute()
        }
        try self.init(values)
    }
}

extension AttributeValue {
    var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .number, .flag, .seconds: 8
        }
    }
}

extension ByteWriter {
    mutating func add(_ value: AttributeValue) {
        switch value {
        case .text(let text):
            add(UInt8(ascii: "s"))
            add(text)
        case .bytes(let bytes):
            add(UInt8(ascii: "y"))
            add(bytes)
        case .number(let number):
            add(UInt8(ascii: "u"))
            add(number)
        case .flag(let flag):
            add(UInt8(ascii: "b"))
            add(UInt8(flag ? 1 : 0))
        case .seconds(let seconds):
            add(UInt8(ascii: "x"))
            add(seconds)
        }
    }
}

extension ByteReader {
    fileprivate mutating func attribute() throws(KeychainError) -> AttributeValue {
        switch try number(UInt8.self) {
        case UInt8(ascii: "s"): .text(try text())
        case UInt8(ascii: "y"): .bytes(try value())
        case UInt8(ascii: "u"): .number(try number())
        case UInt8(ascii: "b"): .flag(try number(UInt8.self) != 0)
        case UInt8(ascii: "x"): .seconds(try number())
        default: throw .changed
        }
    }
}
