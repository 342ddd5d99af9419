package import AuthEngine
import Crypto

/// The enrolment at one time, as an item of `biometryCurrentSet` stores it.
package struct EnrolmentMark: Hashable, Sendable {
    package let generation: UInt64
    package let state: [UInt8]

    package init(generation: UInt64, state: [UInt8]) {
        self.generation = generation
        self.state = state
    }

    /// Whether the other enrolment has a higher change counter.
    func isOlder(than other: EnrolmentMark) -> Bool { generation < other.generation }
}

/// The keychain's caller.
///
/// The service identified it, and trusts no claim of the caller.
package struct Caller: Hashable, Sendable {
    package let uid: UInt32
    /// The sandboxed app that a trusted program vouches for; nil for any other program of the user.
    ///
    /// A sandboxed app sees only its own items. Other programs see all items of the user.
    package let app: String?
    /// The user's present enrolment; nil if the user has none, or it is unknown.
    ///
    /// Items of an earlier enrolment are deleted for good. While a sensor is away, pass its last
    /// known enrolment. Items of any other enrolment are hidden.
    package let enrolment: EnrolmentMark?
    /// Whether the user's password was removed, and items that need one may still exist (R69).
    package let isWithoutPasscode: Bool
    /// Whether the user's password is unavailable but may return.
    ///
    /// Items that need one are hidden, not deleted.
    package let isPasscodeWithheld: Bool

    package init(
        uid: UInt32,
        app: String?,
        enrolment: EnrolmentMark?,
        isWithoutPasscode: Bool = false,
        isPasscodeWithheld: Bool = false
    ) {
        self.uid = uid
        self.app = app
        self.enrolment = enrolment
        self.isWithoutPasscode = isWithoutPasscode
        self.isPasscodeWithheld = isPasscodeWithheld
    }
}

package struct Item: Hashable, Sendable {
    let itemID: ItemID
    let uid: UInt32
    /// The sandboxed app that owns the item; empty if none does.
    package let app: String
    package internal(set) var attributes: Attributes
    package let accessControl: AccessControl
    /// Creation time in Unix seconds.
    package let created: Int64
    /// The number of the keychain change that created the item.
    ///
    /// Orders items of the same second.
    var added: UInt64
    /// Time of the last change in Unix seconds.
    package internal(set) var modified: Int64
    /// The uncompressed X9.63 point of a key; empty for other items.
    package let publicKey: [UInt8]
    /// The enrolment that the item needs; nil for any.
    let enrolment: EnrolmentMark?
    /// The number of the keychain change that set the secret.
    var secretVersion: UInt64
    var secretSize: UInt32

    package var id: String { itemID.text }

    /// Whether the item is a key created in the keychain, so that its secret never leaves.
    var isOwnKey: Bool { !publicKey.isEmpty }

    /// The attributes that a search compares and returns.
    ///
    /// They include `class`, `id`, `cdat`, `mdat`, `pdmn`, and for a key created in the keychain
    /// also its type and size.
    package var allAttributes: [String: AttributeValue] {
        var all = attributes.values
        if isOwnKey {
            let own = AttributeValue.keyFacts.merging(["klbl": .label(of: publicKey)]) { $1 }
            all.merge(own) { given, _ in given }
        }
        all["class"] = .text(attributes.itemClass.rawValue)
        all["id"] = .text(id)
        all["cdat"] = .seconds(created)
        all["mdat"] = .seconds(modified)
        all["pdmn"] = .text(accessControl.accessibility.rawValue)
        return all
    }

    var answerSize: Int {
        allAttributes.reduce(publicKey.count) { $0 + $1.key.utf8.count + $1.value.size + 32 }
    }

    func isVisible(to caller: Caller) -> Bool {
        uid == caller.uid && (caller.app == nil || caller.app == app)
            // An item that must be deleted counts as deleted even if the deletion failed.
            && (enrolment == nil || enrolment == caller.enrolment)
            && !(caller.isWithoutPasscode && accessControl.needsPasscodeSet)
            && !isWithheld(from: caller)
    }

    /// Whether the item is hidden only until the user's password is available again.
    func isWithheld(from caller: Caller) -> Bool {
        caller.isPasscodeWithheld && accessControl.needsPasscodeSet
    }

    /// The associated data of the secret's encryption.
    ///
    /// Contains everything that decides who may read the secret.
    var binding: [UInt8] {
        var writer = ByteWriter("org.localauth.Keychain.1 secret")
        writer.add(uid)
        writer.add(itemID.bytes)
        writer.add(attributes.itemClass.rawValue)
        writeBound(to: &writer)
        return writer.bytes
    }

    var record: [UInt8] {
        var writer = ByteWriter()
        writer.add(Self.format)
        writeBound(to: &writer)
        writer.add(modified)
        attributes.write(to: &writer)
        return writer.bytes
    }

    private static let format: UInt8 = 1

    private func writeBound(to writer: inout ByteWriter) {
        writer.add(app)
        writer.add(accessControl.flags.rawValue)
        writer.add(accessControl.accessibility.rawValue)
        writer.add(UInt8(enrolment == nil ? 0 : 1))
        writer.add(enrolment?.generation ?? 0)
        writer.add(enrolment?.state ?? [])
        writer.add(created)
        writer.add(added)
        writer.add(publicKey)
        writer.add(secretVersion)
        writer.add(secretSize)
    }
}

extension AttributeValue {
    /// The attributes of every key created in the keychain, with Apple's numbers: a private key on
    /// P-256.
    fileprivate static let keyFacts: [String: AttributeValue] = [
        "type": .number(73), "bsiz": .number(256), "esiz": .number(256), "kcls": .number(1),
    ]

    /// The label by which both halves of a key are found: the SHA-1 of the public key.
    static func label(of publicKey: [UInt8]) -> AttributeValue {
        .bytes(Array(Insecure.SHA1.hash(data: publicKey)))
    }
}

extension Item {
    init(_ itemID: ItemID, uid: UInt32, record: [UInt8]) throws(KeychainError) {
        var reader = ByteReader(record)
        guard try reader.number(UInt8.self) == Self.format else { throw .changed }
        self.itemID = itemID
        self.uid = uid
        app = try reader.text()
        accessControl = try Self.accessControl(from: &reader)
        let hasEnrolment = try reader.number(UInt8.self) != 0
        let mark = EnrolmentMark(generation: try reader.number(), state: try reader.value())
        enrolment = hasEnrolment ? mark : nil
        created = try reader.number()
        added = try reader.number()
        publicKey = try reader.value()
        secretVersion = try reader.number()
        secretSize = try reader.number()
        modified = try reader.number()
        attributes = try Attributes(from: &reader)
        guard reader.isAtEnd else { throw .changed }
    }

    private static func accessControl(
        from reader: inout ByteReader
    ) throws(KeychainError) -> AccessControl {
        let flags = AccessControl.Flags(rawValue: try reader.number())
        let accessibility = AccessControl.Accessibility(rawValue: try reader.text())
        guard let accessibility,
            let control = try? AccessControl(flags: flags, accessibility: accessibility)
        else { throw .changed }
        return control
    }
}
