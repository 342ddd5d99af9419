import Sealing
import Testing

@testable import AuthEngine
@testable import KeychainStore

/// L18: An item's properties are authenticated with its secret, not only with its row.
@Suite("Envelopes")
struct EnvelopeTests {
    private static let identity = [UInt8](repeating: 5, count: 16)
    private let ring = KeyRing(MasterKey([UInt8](repeating: 3, count: 32)), identity: identity)

    /// The parts of an item, which tests vary separately.
    private struct Parts {
        var id = ItemID(bytes: [UInt8](repeating: 1, count: 16))
        var uid: UInt32 = 1000
        var app = ""
        var itemClass = "genp"
        var flags: AccessControl.Flags = .biometryCurrentSet
        var accessibility = AccessControl.Accessibility.whenUnlocked
        var created: Int64 = 1
        var added: UInt64 = 1
        var publicKey: [UInt8] = []
        var enrolment: EnrolmentMark? = .first
        var secretVersion: UInt64 = 1
        var secretSize: UInt32 = 6

        func item() throws -> Item {
            Item(
                itemID: try #require(id),
                uid: uid,
                app: app,
                attributes: try Attributes(["class": .text(itemClass)]),
                accessControl: try AccessControl(flags: flags, accessibility: accessibility),
                created: created,
                added: added,
                modified: 1,
                publicKey: publicKey,
                enrolment: enrolment,
                secretVersion: secretVersion,
                secretSize: secretSize
            )
        }
    }

    private static let changes: [(String, @Sendable (inout Parts) -> Void)] = [
        ("id", { $0.id = ItemID(bytes: [UInt8](repeating: 2, count: 16)) }),
        ("uid", { $0.uid = 1001 }),
        ("app", { $0.app = "a" }),
        ("class", { $0.itemClass = "keys" }),
        ("flags", { $0.flags = [] }),
        ("accessibility", { $0.accessibility = .whenPasscodeSet }),
        ("created", { $0.created = 2 }),
        ("added", { $0.added = 2 }),
        ("public key", { $0.publicKey = [1] }),
        ("enrolment", { $0.enrolment = nil }),
        (
            "generation",
            { $0.enrolment = EnrolmentMark(generation: 2, state: EnrolmentMark.first.state) }
        ),
        ("state", { $0.enrolment = EnrolmentMark(generation: 1, state: []) }),
        ("version", { $0.secretVersion = 2 }),
        ("size", { $0.secretSize = 5 }),
    ]

    @Test("An envelope opens only for the exact item of its sealing", arguments: [nil, "password"])
    func bound(password: String?) throws {
        let password = password.map { SecretBytes($0) }
        let item = try Parts().item()
        let sealed = try Envelope(
            sealing: SecretBytes("secret"),
            of: item,
            password: password,
            ring: ring
        )
        let envelope = try Envelope(sealed.bytes)
        #expect(try envelope.open(item, password: password, ring: ring).text == "secret")
        // Stretching a password is slow, so test fewer changes with a password.
        for (name, change) in password == nil ? Self.changes[...] : Self.changes[4...5] {
            var parts = Parts()
            change(&parts)
            let other = try parts.item()
            #expect(throws: KeychainError.self, "\(name)") {
                _ = try envelope.open(other, password: password, ring: ring)
            }
        }
        for other in [
            KeyRing(MasterKey([UInt8](repeating: 4, count: 32)), identity: Self.identity),
            KeyRing(
                MasterKey([UInt8](repeating: 3, count: 32)),
                identity: [UInt8](repeating: 6, count: 16)
            ),
        ] {
            #expect(throws: KeychainError.self) {
                _ = try envelope.open(item, password: password, ring: other)
            }
        }
    }

    @Test("Every byte of an envelope is authenticated")
    func everyByte() throws {
        let item = try Parts().item()
        let bytes = try Envelope(
            sealing: SecretBytes("secret"),
            of: item,
            password: nil,
            ring: ring
        )
        .bytes
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                #expect(throws: KeychainError.self) {
                    _ = try Envelope(changed).open(item, password: nil, ring: ring)
                }
            }
        }
        for count in bytes.indices {
            #expect(throws: KeychainError.self) {
                _ = try Envelope(Array(bytes.prefix(count)))
            }
        }
    }

    @Test("Sealing a secret twice gives different bytes, and never plaintext")
    func random() throws {
        let item = try Parts().item()
        let text = "a secret that would be seen"
        let envelopes = try (0..<20)
            .map { _ in
                try Envelope(sealing: SecretBytes(text), of: item, password: nil, ring: ring).bytes
            }
        #expect(Set(envelopes).count == 20)
        #expect(envelopes.allSatisfy { $0.firstRange(of: Array("secret".utf8)) == nil })
    }

    @Test("A record survives encoding, and truncated or extended bytes are refused")
    func records() throws {
        let item = try Parts().item()
        #expect(try Item(item.itemID, uid: 1000, record: item.record) == item)
        for count in item.record.indices {
            #expect(throws: KeychainError.self) {
                _ = try Item(item.itemID, uid: 1000, record: Array(item.record.prefix(count)))
            }
        }
        #expect(throws: KeychainError.self) {
            _ = try Item(item.itemID, uid: 1000, record: item.record + [0])
        }
    }
}
