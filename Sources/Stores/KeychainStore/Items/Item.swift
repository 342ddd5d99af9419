package import AuthEngine
import Crypto

/// The enrolment at one moment, as an item of `biometryCurrentSet` stores it.
package struct EnrolmentMark: Hashable, Sendable {
    /// How often the enrolment has changed.
    package let generation: UInt64
    package let state: [UInt8]

    package init(generation: UInt64, state: [UInt8]) {
        self.generation = generation
        self.state = state
    }

    /// Whether the enrolment has changed since, as far as that can be known.
    func isOlder(than other: EnrolmentMark) -> Bool { generation < other.generation }
}

/// Who calls the keychain, as the service found out, never as the caller claims.
package struct Caller: Hashable, Sendable {
    package let uid: UInt32
    /// The sandboxed app that somebody trusted vouches for; nil: any other program of the user.
    ///
    /// A sandboxed app sees its own items alone. Other programs see all of the user's.
    package let app: String?
    /// The user's enrolment now; nil: nothing is enrolled, or the enrolment isn't known.
    ///
    /// Items of an earlier enrolment are deleted for good, so while a sensor is away its last known
    /// enrolment has to be passed. Items of any other enrolment are hidden.
    package let enrolment: EnrolmentMark?
    /// Whether the user's passcode was removed, and items that need one may still be there (R69).
    package let isWithoutPasscode: Bool
    /// Whether the user's passcode can't be given now but may be the same one again: items that
    /// need one are hidden, and stay.
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

/// An item without its secret.
package struct Item: Hashable, Sendable {
    let itemID: ItemID
    let uid: UInt32
    /// The sandboxed app that it belongs to; empty: none.
    package let app: String
    package internal(set) var attributes: Attributes
    package let accessControl: AccessControl
    /// When it was made, in Unix seconds.
    package let created: Int64
    /// The change of the keychain at which it was created, which orders items of the same second.
    var added: UInt64
    /// When it was changed last, in Unix seconds.
    package internal(set) var modified: Int64
    /// The X9.63 point of a key, uncompressed; empty for other items.
    package let publicKey: [UInt8]
    /// The enrolment that it needs; nil: any.
    let enrolment: EnrolmentMark?
    /// At which change of the keychain the secret was set.
    var secretVersion: UInt64
    /// How many bytes the secret has.
    var secretSize: UInt32

    /// The identifier: 32 hexadecimal digits.
    package var id: String { itemID.text }

    /// Whether it is a key that was made here, and never leaves.
    var isOwnKey: Bool { !publicKey.isEmpty }

    /// What a search compares and gives: the attributes, `class`, `id`, `cdat`, `mdat`, `pdmn`; of
    /// a key that was made here also what it is.
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

    /// How many bytes a search returns for it, approximately.
    var answerSize: Int {
        allAttributes.reduce(publicKey.count) { $0 + $1.key.utf8.count + $1.value.size + 32 }
    }

    /// Whether a caller may see it.
    func isVisible(to caller: Caller) -> Bool {
        uid == caller.uid && (caller.app == nil || caller.app == app)
            // An item that has to be deleted is treated as deleted even if that failed.
            && (enrolment == nil || enrolment == caller.enrolment)
            && !(caller.isWithoutPasscode && accessControl.needsPasscodeSet)
            && !isWithheld(from: caller)
    }

    /// Whether it is hidden only until the user's passcode can be given again.
    func isWithheld(from caller: Caller) -> Bool {
        caller.isPasscodeWithheld && accessControl.needsPasscodeSet
    }

    /// Everything that decides who gets the secret: the associated data of its encryption.
    var binding: [UInt8] {
        var writer = ByteWriter("org.localauth.Keychain.1 secret")
        writer.add(uid)
        writer.add(itemID.bytes)
        writer.add(attributes.itemClass.rawValue)
        writeBound(to: &writer)
        return writer.bytes
    }

    /// The row's record.
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
    /// What every key is that is made here, by Apple's numbers: a private key on P-256.
    fileprivate static let keyFacts: [String: AttributeValue] = [
        "type": .number(73), "bsiz": .number(256), "esiz": .number(256), "kcls": .number(1),
    ]

    /// The label by which both halves of a key are found: the SHA-1 of the public one.
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
