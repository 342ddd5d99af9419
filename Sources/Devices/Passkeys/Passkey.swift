package import DBus

/// The public half of a passkey, readable without a prompt.
package struct Passkey: Hashable, Sendable {
    /// Conditions under which a passkey shows itself (`credProtect`).
    package enum Protection: UInt32, Sendable {
        case none = 1
        /// Found by its credential id, or after verification.
        case hiddenFromLists = 2
        /// Found after verification alone.
        case hidden = 3
    }

    package let id: [UInt8]
    /// The id of the relying party: a domain, or a word like `ssh:`.
    package let site: String
    /// The name of the account as the site calls it.
    package let account: String
    package let isDiscoverable: Bool
    package let protection: Protection
    /// Whether the private key is in the guarded half, and not a key of the keychain.
    package let isExportable: Bool
    /// The last signature counter.
    package var counter: UInt32

    package init(
        id: [UInt8],
        site: String,
        account: String,
        isDiscoverable: Bool,
        protection: Protection,
        isExportable: Bool,
        counter: UInt32
    ) {
        (self.id, self.site, self.account) = (id, site, account)
        (self.isDiscoverable, self.protection, self.counter) = (isDiscoverable, protection, counter)
        self.isExportable = isExportable
    }
}

/// The guarded half of a passkey.
package struct PasskeySecrets: Hashable, Sendable {
    /// The site's handle of the account (`user.id`).
    package let user: [UInt8]
    package let name: String?
    package let displayName: String?
    /// The seeds of `hmac-secret`: for answers with the person verified, and for others.
    let verifiedSeed: [UInt8]
    let unverifiedSeed: [UInt8]
    /// The private key of an exportable passkey.
    package var key: PasskeyKey?

    // MARK: In the keychain

    package var encoded: [UInt8] {
        var map: [CBOR: CBOR] = [
            .number(1): .bytes(user), .number(4): .bytes(verifiedSeed),
            .number(5): .bytes(unverifiedSeed),
        ]
        map[.number(2)] = name.map { .text($0) }
        map[.number(3)] = displayName.map { .text($0) }
        map[.number(6)] = key.map { .bytes($0.rawValue) }
        return CBOR.map(map).encoded
    }

    /// Returns nil for content of another form.
    package init?(_ content: [UInt8]) {
        guard let map = CBOR(content), let user = map[1]?.asBytes,
            let verified = map[4]?.asBytes, let unverified = map[5]?.asBytes
        else { return nil }
        if let bytes = map[6] {
            guard let key = bytes.asBytes.flatMap(PasskeyKey.init) else { return nil }
            self.key = key
        }
        self.user = user
        (name, displayName) = (map[2]?.asText, map[3]?.asText)
        (verifiedSeed, unverifiedSeed) = (verified, unverified)
    }

    /// Makes the guarded half of a new passkey, with fresh seeds.
    init(user: [UInt8], name: String?, displayName: String?) {
        (self.user, self.name, self.displayName) = (user, name, displayName)
        verifiedSeed = randomBytes(32)
        unverifiedSeed = randomBytes(32)
    }
}

extension Passkey {
    /// The access group of all items of passkeys.
    package static let group = "org.localauth.passkeys"
    /// Items that hold the guarded halves: class `genp`, in ``group``.
    package static let query: [String: Variant] = [
        "class": .string("genp"), "agrp": .string(group),
    ]
    /// Reading the guarded half, and signing, take biometry or the password
    /// (`kSecAccessControlUserPresence`).
    package static let presence: UInt64 = 1
    private static let discoverable: UInt32 = 0x100
    private static let exportable: UInt32 = 0x200

    /// The protection and two flags.
    var type: UInt32 {
        protection.rawValue | (isDiscoverable ? Self.discoverable : 0)
            | (isExportable ? Self.exportable : 0)
    }

    /// The attributes of the passkey's item: `type` has the protection, `crtr` the counter.
    package var attributes: [String: Variant] {
        Self.query.merging([
            "svce": .string(site), "acct": .string(Self.name(of: id)), "labl": .string(account),
            "type": .uint32(type),
            "crtr": .uint32(counter),
        ]) { $1 }
    }

    /// Finds the item of the passkey.
    package var itemQuery: [String: Variant] {
        Self.query.merging(["acct": .string(Self.name(of: id))]) { $1 }
    }

    /// Finds its key.
    package var keyQuery: [String: Variant] {
        ["class": .string("keys"), "agrp": .string(Self.group), "atag": .bytes(id)]
    }

    /// The attributes of its key: class `keys`, with the credential id as the tag.
    package var keyAttributes: [String: Variant] {
        keyQuery.merging(["labl": .string(site)]) { $1 }
    }

    /// Reads the attributes of an item; nil if they are no passkey's.
    package init?(_ attributes: [String: Variant]) {
        guard attributes["agrp"]?.asString == Self.group,
            let site = attributes["svce"]?.asString,
            let id = attributes["acct"]?.asString.flatMap(Self.id),
            let type = attributes["type"]?.asUInt32
        else { return nil }
        self.init(
            id: id,
            site: site,
            account: attributes["labl"]?.asString ?? "",
            type: type,
            counter: attributes["crtr"]?.asUInt32 ?? 0
        )
    }

    /// Returns nil without a known protection.
    init?(id: [UInt8], site: String, account: String, type: UInt32, counter: UInt32) {
        guard let protection = Protection(rawValue: type & 0xff) else { return nil }
        self.init(
            id: id,
            site: site,
            account: account,
            isDiscoverable: type & Self.discoverable != 0,
            protection: protection,
            isExportable: type & Self.exportable != 0,
            counter: counter
        )
    }

    /// The id in hexadecimal digits.
    package static func name(of id: [UInt8]) -> String {
        id.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func id(named name: String) -> [UInt8]? {
        let digits = name.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.isEmpty, !digits.contains(nil) else {
            return nil
        }
        let values = digits.compactMap(\.self)
        return stride(from: 0, to: values.count, by: 2)
            .map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}

/// A passkey in the list of a keychain.
package struct StoredPasskey: Hashable, Sendable {
    /// The id of the item, without the key.
    package let id: String
    package let passkey: Passkey
    /// Unix seconds.
    package let created: Int64

    /// Reads the attributes of an item; nil if they are no passkey's.
    package init?(_ attributes: [String: Variant]) {
        guard let passkey = Passkey(attributes), let id = attributes["id"]?.asString else {
            return nil
        }
        (self.id, self.passkey) = (id, passkey)
        created = attributes["cdat"]?.asInt64 ?? 0
    }
}
