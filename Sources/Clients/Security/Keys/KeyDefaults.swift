internal import DBus

extension ItemDictionary {
    /// The requested key size.
    var bits: Int? { attributes["bsiz"]?.asUInt32.map(Int.init) }

    /// Whether the service has to generate the key.
    ///
    /// This is the case if its use requires a proof, or if the program asks for the Secure Enclave.
    var isForService: Bool {
        accessControl?.flags.isEmpty == false || attributes["tkid"] != nil
    }

    /// Whether an access control allows uses of a private key.
    ///
    /// Without `privateKeyUsage` an access control guards the reading of an item, and the Secure
    /// Enclave never reads a key out.
    static func isUsable(ofToken isOfToken: Bool, _ flags: SecAccessControlCreateFlags) -> Bool {
        !isOfToken || flags.isEmpty || flags.contains(.privateKeyUsage)
    }

    /// Makes this dictionary the item of a key in this process.
    ///
    /// - Throws: `errSecUnimplemented` without the trait `SoftwareKeys`.
    mutating func take(_ key: SoftwareKey) throws(KeychainFailure) {
        itemClass = "keys"
        secret = [UInt8](key.bytes)
        attributes["type"] = .uint32(key.type)
        attributes["bsiz"] = .uint32(UInt32(key.bits))
        setDefaults(ofKeyWith: UInt32(key.bits), isPrivate: key.isPrivate)
        if attributes["perm"] == nil { attributes["perm"] = .bool(true) }
        if attributes["klbl"] == nil { attributes["klbl"] = .bytes(try key.label()) }
    }

    /// Sets missing attributes to the defaults of Apple's keychain.
    mutating func setDefaults(ofKeyWith bits: UInt32, isPrivate: Bool) {
        var facts: [String: Variant] = [
            "kcls": .uint32(isPrivate ? 1 : 0), "bsiz": .uint32(bits), "esiz": .uint32(bits),
        ]
        for (name, isAble) in Self.abilities(isPrivate: isPrivate) { facts[name] = .bool(isAble) }
        attributes.merge(facts) { given, _ in given }
    }

    /// The uses of a key, under the attributes' names.
    static func abilities(isPrivate: Bool) -> [String: Bool] {
        let whatPrivateKeysDo: Set = ["decr", "drve", "sign", "unwp"]
        let names = ["encr", "decr", "drve", "sign", "vrfy", "wrap", "unwp"]
        return names.reduce(into: [:]) { $0[$1] = whatPrivateKeysDo.contains($1) == isPrivate }
    }
}
