internal import DBus

extension ItemDictionary {
    /// The size that is asked for.
    var bits: Int? { attributes["bsiz"]?.asUInt32.map(Int.init) }

    /// Whether a key on P-256 is made in the service: where somebody is asked before it is used,
    /// and where the program says that it is not to have its bytes.
    var isForService: Bool {
        accessControl?.flags.isEmpty == false || attributes["tkid"] != nil
    }

    /// Makes this the item of a key in this process.
    ///
    /// - Throws: `errSecUnimplemented` without the trait.
    mutating func take(_ key: SoftwareKey) throws(KeychainFailure) {
        itemClass = "keys"
        secret = [UInt8](key.bytes)
        attributes["type"] = .uint32(key.type)
        attributes["bsiz"] = .uint32(UInt32(key.bits))
        setDefaults(ofKeyWith: UInt32(key.bits), isPrivate: key.isPrivate)
        if attributes["perm"] == nil { attributes["perm"] = .bool(true) }
        if attributes["klbl"] == nil { attributes["klbl"] = .bytes(try key.label()) }
    }

    /// Says of a key what Apple's keychain says of one that is given no more than its type.
    mutating func setDefaults(ofKeyWith bits: UInt32, isPrivate: Bool) {
        var facts: [String: Variant] = [
            "kcls": .uint32(isPrivate ? 1 : 0), "bsiz": .uint32(bits), "esiz": .uint32(bits),
        ]
        for (name, isAble) in Self.abilities(isPrivate: isPrivate) { facts[name] = .bool(isAble) }
        attributes.merge(facts) { given, _ in given }
    }

    /// What a key can be used for, by the names of the attributes.
    static func abilities(isPrivate: Bool) -> [String: Bool] {
        let whatPrivateKeysDo: Set = ["decr", "drve", "sign", "unwp"]
        let names = ["encr", "decr", "drve", "sign", "vrfy", "wrap", "unwp"]
        return names.reduce(into: [:]) { $0[$1] = whatPrivateKeysDo.contains($1) == isPrivate }
    }
}
