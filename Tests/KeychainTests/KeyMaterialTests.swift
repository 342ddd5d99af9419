import Crypto
import KeychainStore
import Sealing
import TestSupport
import Testing

@testable import AuthEngine

/// Attributes added in later versions, and keys that a program provides.
@Suite("Key material and later attributes")
struct KeyMaterialTests {
    private func add(
        _ attributes: [String: AttributeValue],
        to store: KeychainStore,
        isKeyMaterial: Bool = true,
        flags: AccessControl.Flags = [],
        created: Int64? = nil
    ) throws -> String {
        try store.add(
            Attributes(attributes),
            secret: SecretBytes("scalar"),
            accessControl: .guarded(by: flags),
            password: nil,
            isKeyMaterial: isKeyMaterial,
            caller: .person,
            date: 100,
            created: created
        )
    }

    @Test("Key material is read and replaced like any secret, and is no keychain key")
    func material() throws {
        let store = try StateFolder("keychain").open()
        let id = try add(["class": .text("keys"), "klbl": .bytes([1])], to: store)
        #expect(try store.read(id) == "scalar")
        try store.setSecret(
            of: id,
            to: SecretBytes("other"),
            password: nil,
            caller: .person,
            date: 101
        )
        #expect(try store.read(id) == "other")
        let authorization = try #require(
            AccessGrant.resting(
                on: [.finger()],
                for: .useKeySign,
                uid: 1000,
                accessControl: store.item(id, caller: .person).accessControl
            )
        )
        expectRefusal(.parameter) {
            _ = try store.sign(
                [],
                with: id,
                .message,
                authorization: authorization,
                password: nil,
                caller: .person
            )
        }
        expectRefusal(.parameter) { _ = try add(["class": .text("genp")], to: store) }
        // The secret could be read without the authentication that the flag promises.
        expectRefusal(.parameter) {
            _ = try add(["class": .text("keys")], to: store, flags: .privateKeyUsage)
        }
    }

    @Test("Keys with equal tags differ by their labels, and searches find them by attributes")
    func labels() throws {
        let store = try StateFolder("keychain").open()
        func make(_ label: [UInt8]?) throws -> (id: String, publicKey: [UInt8]) {
            let tag = AttributeValue.bytes([7])
            var attributes: [String: AttributeValue] = ["class": .text("keys"), "atag": tag]
            attributes["klbl"] = label.map { .bytes($0) }
            return try store.createKey(
                Attributes(attributes),
                accessControl: .none,
                password: nil,
                caller: .person,
                date: 5
            )
        }
        let keys = [try make([]), try make([]), try make(nil)]
        expectRefusal(.duplicate) { _ = try make(nil) }
        for key in keys {
            let label = Array(Insecure.SHA1.hash(data: key.publicKey))
            #expect(try store.find(["klbl": .bytes(label)]).map(\.id) == [key.id])
        }
        for (name, number) in [("type", 73), ("bsiz", 256), ("esiz", 256), ("kcls", 1)] {
            #expect(try store.find([name: .number(UInt32(number))]).count == 3)
            #expect(try store.find([name: .number(UInt32(number) + 1)]).isEmpty)
        }
    }

    @Test("A synchronised item and a local item differ; the default is local")
    func synchronised() throws {
        let store = try StateFolder("keychain").open()
        let plain: [String: AttributeValue] = ["class": .text("genp"), "svce": .text("s")]
        func add(_ isSynchronised: Bool?) throws -> String {
            var attributes = plain
            attributes["sync"] = isSynchronised.map { .flag($0) }
            return try self.add(attributes, to: store, isKeyMaterial: false)
        }
        let silent = try add(nil)
        expectRefusal(.duplicate) { _ = try add(false) }
        let synchronised = try add(true)
        expectRefusal(.duplicate) { _ = try add(true) }
        #expect(try store.find(["sync": .flag(false)]).map(\.id) == [silent])
        #expect(try store.find(["sync": .flag(true)]).map(\.id) == [synchronised])
        #expect(try store.find(["invi": .flag(false)]).isEmpty)
    }

    @Test("Two Unicode spellings of a letter are two texts")
    func spellings() throws {
        let store = try StateFolder("keychain").open()
        let path = AttributeValue.text("\u{e9}")
        let attributes: [String: AttributeValue] = ["class": .text("inet"), "path": path]
        let id = try add(attributes, to: store, isKeyMaterial: false)
        #expect(try store.find(["path": .text("\u{e9}")]).map(\.id) == [id])
        #expect(try store.find(["path": .text("e\u{301}")]).isEmpty)
    }

    @Test("An item's creation date may precede its place in the order")
    func dates() throws {
        let store = try StateFolder("keychain").open()
        let attributes: [String: AttributeValue] = ["class": .text("genp")]
        let id = try add(attributes, to: store, isKeyMaterial: false, created: 7)
        #expect(try store.find(["cdat": .seconds(7), "mdat": .seconds(100)]).map(\.id) == [id])
    }
}
