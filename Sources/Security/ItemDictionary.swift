internal import DBus
internal import Foundation

/// What a caller's dictionary says: a query, an item, or changes of one.
struct ItemDictionary: Sendable {
    /// What a search returns.
    struct Returns: OptionSet, Sendable {
        let rawValue: Int

        static let data = Self(rawValue: 1)
        static let attributes = Self(rawValue: 2)
        static let reference = Self(rawValue: 4)
        static let persistentReference = Self(rawValue: 8)
    }

    /// What happens when an item needs a prompt.
    enum Interaction: Sendable {
        case allowed
        case refused
        case skipped
    }

    /// The attributes that cross the bus, under their names there.
    var attributes: [String: Variant] = [:]
    var secret: [UInt8]?
    var accessControl: SecAccessControl?
    var accessible: String?
    var returns: Returns = []
    /// nil: one item, and not an array of it.
    var limit: Int?
    var context: (any AuthenticationContextSource)?
    var interaction = Interaction.allowed
    var prompt: String?
    var key: SecKey?
    var isPermanent = true
    var keySize = 256

    private static let texts: Set<String> = [
        "class", "svce", "acct", "labl", "desc", "icmt", "srvr", "sdmn", "ptcl", "atyp", "path",
        "agrp",
    ]
    private static let numbers: Set<String> = ["port", "crtr"]
    private static let flags: Set<String> = ["invi", "nega"]
    /// Keys that have no meaning on one machine with one keychain, or are expressed in another way.
    private static let ignored: Set<String> = [
        "sync", "nleg", "tkid", "vwht", "sens", "extr", "encr", "decr", "drve", "sign", "vrfy",
        "wrap", "unwp", "esiz", "klbl", "kcls", "cdat", "mdat", "m_CaseInsensitive", "public",
    ]

    /// - Throws: `errSecParam` for a value of a wrong type, `errSecNoSuchAttr` for an unknown key:
    ///   ignoring it would find what nobody asked for.
    init(_ dictionary: NSDictionary) throws(KeychainFailure) {
        for (key, value) in dictionary {
            guard let key = key as? String else { throw Self.wrong("a key of a dictionary") }
            try take(key, value)
        }
        // A key's type is a text; the attribute of passwords with the same name is a number.
        if attributes["class"] == .string("keys") { attributes["type"] = nil }
    }

    init() {}

    private static func wrong(_ key: String) -> KeychainFailure {
        KeychainFailure(errSecParam, "The value of \(key) has a wrong type.")
    }

    private mutating func take(_ key: String, _ value: Any) throws(KeychainFailure) {
        if Self.texts.contains(key) {
            attributes[key] = .string(try text(key, value))
        } else if Self.numbers.contains(key) {
            attributes[key] = .uint32(try number(key, value))
        } else if Self.flags.contains(key) {
            attributes[key] = .bool(try flag(key, value))
        } else if key == "gena" || key == "atag" {
            attributes[key] = .bytes(try bytes(key, value))
        } else if key == "type" {
            try takeType(value)
        } else if key.hasPrefix("r_") {
            try takeReturn(key, value)
        } else if key.hasPrefix("u_") {
            try takeUse(key, value)
        } else if !Self.ignored.contains(key) {
            try takeRest(key, value)
        }
    }

    private mutating func takeType(_ value: Any) throws(KeychainFailure) {
        if let type = value as? String, let number = UInt32(type) {
            guard number == 73 else {
                throw KeychainFailure(errSecUnimplemented, "Only keys on P-256 are kept here.")
            }
            attributes["type"] = .uint32(number)
        } else {
            attributes["type"] = .uint32(try number("type", value))
        }
    }

    private mutating func takeReturn(_ key: String, _ value: Any) throws(KeychainFailure) {
        guard try flag(key, value) else { return }
        switch key {
        case "r_Data": returns.insert(.data)
        case "r_Attributes": returns.insert(.attributes)
        case "r_Ref": returns.insert(.reference)
        case "r_PersistentRef": returns.insert(.persistentReference)
        default: throw KeychainFailure(errSecNoSuchAttr, "There is no \(key).")
        }
    }

    private mutating func takeUse(_ key: String, _ value: Any) throws(KeychainFailure) {
        switch key {
        case "u_AuthCtx":
            guard let context = value as? any AuthenticationContextSource else {
                throw Self.wrong(key)
            }
            self.context = context
        case "u_OpPrompt": prompt = try text(key, value)
        case "u_NoAuthUI": if try flag(key, value) { interaction = .refused }
        case "u_AuthUI":
            switch try text(key, value) {
            case "u_AuthUIA": interaction = .allowed
            case "u_AuthUIF": interaction = .refused
            case "u_AuthUIS": interaction = .skipped
            default: throw KeychainFailure(errSecParam, "There is no such kSecUseAuthenticationUI.")
            }
        default: throw KeychainFailure(errSecNoSuchAttr, "There is no \(key).")
        }
    }

    private mutating func takeRest(_ key: String, _ value: Any) throws(KeychainFailure) {
        switch key {
        case "v_Data": secret = try bytes(key, value)
        case "v_PersistentRef":
            let id = try bytes(key, value)
            attributes["id"] = .string(String(decoding: id, as: UTF8.self))
        case "v_Ref":
            guard let key = value as? SecKey else { throw Self.wrong(key) }
            self.key = key
            if let id = key.id { attributes["id"] = .string(id) }
        case "accc":
            guard let control = value as? SecAccessControl else { throw Self.wrong(key) }
            accessControl = control
        case "pdmn": accessible = try text(key, value)
        case "perm": isPermanent = try flag(key, value)
        case "bsiz": keySize = Int(try number(key, value))
        case "m_Limit": limit = try limit(value)
        case "private":
            guard let inner = value as? NSDictionary else { throw Self.wrong(key) }
            try merge(inner)
        default: throw KeychainFailure(errSecNoSuchAttr, "There is no attribute \(key).")
        }
    }

    /// The attributes of the private half are those of the key: the public half is not kept.
    private mutating func merge(_ inner: NSDictionary) throws(KeychainFailure) {
        for (key, value) in inner {
            guard let key = key as? String else { throw Self.wrong("a key of a dictionary") }
            try take(key, value)
        }
    }

    private func limit(_ value: Any) throws(KeychainFailure) -> Int? {
        if let word = value as? String {
            switch word {
            case "m_LimitOne": return nil
            case "m_LimitAll": return .max
            default: throw Self.wrong("m_Limit")
            }
        }
        let limit = try number("m_Limit", value)
        guard limit > 0 else { throw Self.wrong("m_Limit") }
        return limit == 1 ? nil : Int(limit)
    }

    // MARK: Values

    private func text(_ key: String, _ value: Any) throws(KeychainFailure) -> String {
        guard let text = value as? String else { throw Self.wrong(key) }
        return text
    }

    private func bytes(_ key: String, _ value: Any) throws(KeychainFailure) -> [UInt8] {
        if let data = value as? Data { return [UInt8](data) }
        if let text = value as? String { return [UInt8](text.utf8) }
        throw Self.wrong(key)
    }

    private func number(_ key: String, _ value: Any) throws(KeychainFailure) -> UInt32 {
        guard let number = value as? NSNumber, let exact = UInt32(exactly: number.int64Value) else {
            throw Self.wrong(key)
        }
        return exact
    }

    private func flag(_ key: String, _ value: Any) throws(KeychainFailure) -> Bool {
        guard let number = value as? NSNumber else { throw Self.wrong(key) }
        return number.boolValue
    }
}
