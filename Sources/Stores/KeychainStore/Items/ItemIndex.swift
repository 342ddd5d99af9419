import AuthEngine
import Crypto

/// The tokens by which items are found: codes of their properties, under a key of the keychain.
///
/// Nobody without the key can make one, or see from the file which items share a property. Two
/// properties may have the same token, so what is found is compared once more.
struct ItemIndex {
    /// The token that every item has.
    static let items: UInt64 = 0

    /// The attributes that people look items up by.
    ///
    /// The others are the same for most items.
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

    /// The tokens of what a query looks for; none: nothing of it is in the index.
    func tokens(of values: [String: AttributeValue]) -> [UInt64] {
        values.filter { Self.names.contains($0.key) }
            .map { name, value in
                var writer = ByteWriter("attribute")
                writer.add(name)
                writer.add(value)
                return token(writer)
            }
    }

    /// The token of a primary key, which no two items share.
    func token(primaryKey: [UInt8]) -> UInt64 {
        var writer = ByteWriter("primary key")
        writer.add(primaryKey)
        return token(writer)
    }

    /// The token of items that need the enrolment they were made with.
    var enrolled: UInt64 { token(ByteWriter("enrolled")) }

    /// The token of items that live only as long as there is a passcode.
    var needingPasscode: UInt64 { token(ByteWriter("passcode")) }

    private func token(_ writer: ByteWriter) -> UInt64 {
        var user = ByteWriter()
        user.add(uid)
        let code = HMAC<SHA256>.authenticationCode(for: user.bytes + writer.bytes, using: key)
        // Zero is the token of all items.
        return max(1, code.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}
