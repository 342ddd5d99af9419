internal import DBus
internal import Foundation

/// A parsed dictionary of the caller: a query, an item, or changes of an item.
///
/// Unknown keys are errors. If a query ignored a key, it could find and delete items that the
/// caller did not mean.
struct ItemDictionary: Sendable {
    /// The parts of an item that a search returns.
    struct Returns: OptionSet, Sendable {
        let rawValue: Int

        static let data = Self(rawValue: 1)
        static let attributes = Self(rawValue: 2)
        static let reference = Self(rawValue: 4)
        static let persistentReference = Self(rawValue: 8)
    }

    /// The behaviour for an item that needs a prompt.
    enum Interaction: Sendable {
        case allowed
        case refused
        case skipped
    }

    /// Selects local or synchronised items.
    enum Synchronisation: Sendable {
        case isSet(Bool)
        case any
    }

    var itemClass: String?
    var id: String?
    /// The attributes under their wire names.
    var attributes: [String: Variant] = [:]
    /// The representation of the caller's values, as far as the wire format loses it.
    var form = ValueRepresentation()
    var synchronisation: Synchronisation?
    var secret: [UInt8]?
    var accessControl: SecAccessControl?
    var accessible: String?
    var returns: Returns = []
    /// Nil: the first item, not in an array.
    var limit: Int?
    var isLimited = false
    /// The only items that the query may return.
    var list: [ItemReference]?
    var context: (any AuthenticationContextSource)?
    var interaction = Interaction.allowed
    var prompt: String?
    var key: SecKey?

    /// - Throws: `errSecParam` for a value of a wrong type and an unknown key, `errSecNoSuchAttr` for
    ///   an unknown attribute, `errSecNoSuchClass`, `errSecUnimplemented` for an unsupported key.
    init(_ dictionary: NSDictionary) throws(KeychainFailure) {
        for (key, value) in dictionary {
            guard let key = key as? String else { throw Self.wrong("a key of a dictionary") }
            try take(key, value)
        }
        if let key { try takeFacts(of: key) }
        if let itemClass, !isOfForeignClass { try check(in: itemClass) }
    }

    static func wrong(_ key: String) -> KeychainFailure {
        KeychainFailure(errSecParam, "The value of \(key) has a wrong type.")
    }

    /// Whether the class is certificate or identity, which this keychain can't store.
    var isOfForeignClass: Bool { itemClass == "cert" || itemClass == "idnt" }

    /// - Throws: `errSecNoSuchAttr` for an attribute of another class.
    func check(in itemClass: String) throws(KeychainFailure) {
        for name in attributes.keys where ItemAttribute.known[name]?.isOf(itemClass) == false {
            throw KeychainFailure(errSecNoSuchAttr, "An item of \(itemClass) has no \(name).")
        }
    }

    private mutating func take(_ key: String, _ value: Any) throws(KeychainFailure) {
        if let attribute = ItemAttribute.known[key] {
            try take(attribute.kind, key, value)
        } else if key.hasPrefix("r_") {
            try takeReturn(key, value)
        } else if key.hasPrefix("u_") {
            try takeUse(key, value)
        } else if key.hasPrefix("m_") {
            try takeMatch(key, value)
        } else if key.hasPrefix("v_") {
            try takeValue(key, value)
        } else {
            try takeRest(key, value)
        }
    }

    private mutating func take(
        _ kind: ItemAttribute.Kind,
        _ key: String,
        _ value: Any
    ) throws(KeychainFailure) {
        switch kind {
        case .text where value is NSNumber:
            attributes[key] = .string(ValueRepresentation.text(value as? NSNumber ?? 0))
            form[key] = .usual
        case .text, .word:
            attributes[key] = .string(try ValueRepresentation.text(key, value))
            form[key] =
                value is Data && !ValueRepresentation.isEncoded(attributes[key]) ? .other : .usual
        case .bytes:
            attributes[key] = .bytes(try Self.bytes(key, value))
            form[key] = value is Data ? .usual : .other
        case .number:
            let text = (value as? String).flatMap { UInt32($0).map(String.init) == $0 ? nil : $0 }
            let number = if let text { Self.code(text) } else { try Self.number(key, value) }
            attributes[key] = .uint32(number)
            form[key] = text.map(ValueRepresentation.Value.text) ?? .usual
        case .flag: attributes[key] = .bool(try Self.flag(key, value))
        case .date:
            guard let date = value as? Date, let seconds = ValueRepresentation.seconds(date) else {
                throw Self.wrong(key)
            }
            attributes[key] = .int64(seconds)
            form[key] = .instant(date)
        }
    }

    private mutating func takeReturn(_ key: String, _ value: Any) throws(KeychainFailure) {
        // Apple's keychain refuses numbers here, too.
        guard CFGetTypeID(value as? NSNumber) == CFBooleanGetTypeID() else { throw Self.wrong(key) }
        guard try Self.flag(key, value) else { return }
        switch key {
        case "r_Data": returns.insert(.data)
        case "r_Attributes": returns.insert(.attributes)
        case "r_Ref": returns.insert(.reference)
        case "r_PersistentRef": returns.insert(.persistentReference)
        default: throw Self.unknown(key)
        }
    }

    private mutating func takeUse(_ key: String, _ value: Any) throws(KeychainFailure) {
        switch key {
        case "u_AuthCtx":
            guard let context = value as? any AuthenticationContextSource else {
                throw Self.wrong(key)
            }
            self.context = context
        case "u_OpPrompt": prompt = try Self.text(key, value)
        case "u_NoAuthUI": if try Self.flag(key, value) { interaction = .refused }
        case "u_AuthUI":
            switch try Self.text(key, value) {
            case "u_AuthUIA": interaction = .allowed
            case "u_AuthUIF": interaction = .refused
            case "u_AuthUIS": interaction = .skipped
            default: throw KeychainFailure(errSecParam, "There is no such kSecUseAuthenticationUI.")
            }
        case "u_ItemList": throw Self.unimplemented(key)
        default: throw Self.unknown(key)
        }
    }

    private mutating func takeMatch(_ key: String, _ value: Any) throws(KeychainFailure) {
        switch key {
        case "m_Limit":
            limit = try Self.limit(value)
            isLimited = true
        case "m_ItemList":
            guard let values = value as? NSArray else { throw Self.wrong(key) }
            var references: [ItemReference] = []
            for value in values { references.append(try ItemReference(value)) }
            list = references
        // Comparison is always exact, so only false is supported.
        case "m_CaseInsensitive", "m_DiacriticInsensitive", "m_WidthInsensitive", "m_TrustedOnly":
            guard try !Self.flag(key, value) else { throw Self.unimplemented(key) }
        default: throw Self.unimplemented(key)
        }
    }

    private mutating func takeValue(_ key: String, _ value: Any) throws(KeychainFailure) {
        switch key {
        case "v_Data": secret = try Self.bytes(key, value)
        case "v_PersistentRef":
            id = String(decoding: try Self.bytes(key, value), as: UTF8.self)
        case "v_Ref":
            if value is SecCertificate { throw Self.unimplemented(key) }
            guard let reference = value as? SecKey else { throw Self.wrong(key) }
            self.key = reference
        default: throw Self.unknown(key)
        }
    }

    private mutating func takeRest(_ key: String, _ value: Any) throws(KeychainFailure) {
        switch key {
        case "class":
            let word = try Self.text(key, value)
            guard ["genp", "inet", "keys", "cert", "idnt"].contains(word) else {
                throw KeychainFailure(errSecNoSuchClass, "There is no class \(word).")
            }
            itemClass = word
        case "accc":
            guard let control = value as? SecAccessControl else { throw Self.wrong(key) }
            accessControl = control
        case "pdmn": accessible = try Self.text(key, value)
        case "sync":
            let isAny = (value as? String) == "syna"
            synchronisation = isAny ? .any : .isSet(try Self.flag(key, value))
        // There is one keychain, so the flag has no effect.
        case "nleg": _ = try Self.flag(key, value)
        case "ctyp", "cenc", "subj", "issr", "slnr", "skid", "pkhh": throw Self.unimplemented(key)
        default: throw Self.unknown(key)
        }
    }

    /// Replaces a reference to a key by attributes that identify the key.
    private mutating func takeFacts(of key: SecKey) throws(KeychainFailure) {
        guard itemClass == nil || itemClass == "keys" else { throw Self.wrong("v_Ref") }
        itemClass = "keys"
        if key.isInService {
            id = id ?? key.id
        } else if let software = key.software {
            let facts: [String: Variant] = [
                "klbl": .bytes(try software.label()), "kcls": .uint32(software.isPrivate ? 1 : 0),
                "type": .uint32(software.type),
            ]
            attributes.merge(facts) { given, _ in given }
        }
    }

    /// Returns the error of Apple's keychain, in which every attribute has four characters.
    private static func unknown(_ key: String) -> KeychainFailure {
        let isAttribute = key.utf16.count == 4
        return KeychainFailure(isAttribute ? errSecNoSuchAttr : errSecParam, "There is no \(key).")
    }

    private static func unimplemented(_ key: String) -> KeychainFailure {
        KeychainFailure(errSecUnimplemented, "This keychain has no \(key).")
    }
}

// MARK: - Values

extension ItemDictionary {
    private static func limit(_ value: Any) throws(KeychainFailure) -> Int? {
        if let word = value as? String {
            switch word {
            case "m_LimitOne": return nil
            case "m_LimitAll": return .max
            default: throw wrong("m_Limit")
            }
        }
        let limit = try number("m_Limit", value)
        guard limit > 0 else { throw wrong("m_Limit") }
        return limit == 1 ? nil : Int(limit)
    }

    private static func text(_ key: String, _ value: Any) throws(KeychainFailure) -> String {
        guard let text = value as? String else { throw wrong(key) }
        return text
    }

    private static func bytes(_ key: String, _ value: Any) throws(KeychainFailure) -> [UInt8] {
        if let text = value as? String, ItemAttribute.known[key] != nil { return Array(text.utf8) }
        guard let data = value as? Data else { throw wrong(key) }
        return [UInt8](data)
    }

    private static func number(_ key: String, _ value: Any) throws(KeychainFailure) -> UInt32 {
        if let text = value as? String, let number = UInt32(text), "\(number)" == text {
            return number
        }
        guard let number = value as? NSNumber, let exact = UInt32(exactly: number.doubleValue)
        else {
            throw wrong(key)
        }
        return exact
    }

    /// The number that stands for a text: of four characters, their code.
    ///
    /// The text itself is in the item's form, so equal numbers of unequal texts don't matter.
    private static func code(_ text: String) -> UInt32 {
        text.utf8.reduce(0) { ($0 << 8 | $0 >> 24) ^ UInt32($1) }
    }

    private static func flag(_ key: String, _ value: Any) throws(KeychainFailure) -> Bool {
        guard let number = value as? NSNumber else { throw wrong(key) }
        return number.boolValue
    }
}
