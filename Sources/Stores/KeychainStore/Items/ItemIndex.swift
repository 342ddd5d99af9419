import AuthEngine
import Crypto

/// Index tokens by which items are found: HMACs of item properties under a key of the keychain.
///
/// Without the key, no process can compute a token, or see in the file which items share a
/// property. Two properties may have equal tokens, so a search compares every found item again.
struct ItemIndex {
    static let items: UInt64 = 0

    /// The attributes that callers search by.
    ///
    /// Most items have equal values of the others.
    private static let names: Set<String> = [
        "svce", "acct", "srvr", "gena", "labl", "atag", "agrp",
    ]

    private let key: SymmetricKey
    private let uid: UInt32

    init(key: SymmetricKey, uid: UInt32) {
        self.key = key
        self.uid = uid
    }

    func tokens(of item: Item) -> [UInt64] {
        var tokens = [Self.items, token(primaryKey: item.attributes.primaryKey(app: item.app))]
        if item.enrolment != nil { tokens.append(enrolled) }
        if item.accessControl.needsPasscodeSet { tokens.append(needingPasscode) }
        return tokens + self.tokens(of: item.attributes.values)
    }

    /// The tokens for a query; empty if the index covers none of its attributes.
    func tokens(of values: [String: AttributeValue]) -> [UInt64] {
        values.filter { Self.names.contains($0.key) }
            .map { name, value in
                var writer = ByteWriter("attribute")
                writer.add(name)
                writer.add(value)
                return token(writer)
            }
    }

    func token(primaryKey: [UInt8]) -> UInt64 {
        var writer = ByteWriter("primary key")
        writer.add(primaryKey)
        return token(writer)
    }

    /// The code that stands for a primary key in the item's row.
    func code(primaryKey: [UInt8]) -> [UInt8] {
        var writer = ByteWriter("primary key of a row")
        writer.add(primaryKey)
        return code(writer)
    }

    /// The token of items that need the enrolment of their creation.
    var enrolled: UInt64 { token(ByteWriter("enrolled")) }

    /// The token of items that exist only while the user has a password.
    var needingPasscode: UInt64 { token(ByteWriter("passcode")) }

    private func token(_ writer: ByteWriter) -> UInt64 {
        // Zero is the token of all items.
        max(1, code(writer).prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    private func code(_ writer: ByteWriter) -> [UInt8] {
        var user = ByteWriter()
        user.add(uid)
        return Array(HMAC<SHA256>.authenticationCode(for: user.bytes + writer.bytes, using: key))
    }
}
