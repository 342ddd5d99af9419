internal import DBus

extension ItemDictionary {
    /// Says of a key what Apple's keychain says of one that is given no more than its type.
    mutating func setDefaults(ofKeyWith bits: UInt32, isPrivate: Bool) {
        var facts: [String: Variant] = [
            "kcls": .uint32(isPrivate ? 1 : 0), "bsiz": .uint32(bits), "esiz": .uint32(bits),
        ]
        let whatPrivateKeysDo: Set = ["decr", "drve", "sign", "unwp"]
        for name in ["encr", "decr", "drve", "sign", "vrfy", "wrap", "unwp"] {
            facts[name] = .bool(whatPrivateKeysDo.contains(name) == isPrivate)
        }
        attributes.merge(facts) { given, _ in given }
    }
}
