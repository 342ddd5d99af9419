import KeychainStore
import Sealing
import TestSupport
import Testing

@testable import AuthEngine

/// Changes of secret, access control and attributes in one step.
@Suite("Combined changes")
struct WholeChangeTests {
    @Test("A replacement in place keeps the item's id and position")
    func inPlace() throws {
        let folder = try StateFolder("keychain")
        var store: KeychainStore? = try folder.open(itemLimit: 3)
        let ids = try ["one", "two", "three"]
            .map { try #require(try store?.add($0, date: 7)) }
        func replace(_ service: String, _ flags: AccessControl.Flags = []) throws -> String {
            try #require(store)
                .add(
                    .service(service),
                    secret: SecretBytes("new"),
                    accessControl: .guarded(by: flags),
                    password: nil,
                    replacing: ids[1],
                    isInPlace: true,
                    caller: .person,
                    date: 9,
                    created: 7
                )
        }
        expectRefusal(.duplicate) { _ = try replace("three") }
        #expect(try store?.read(ids[1]) == "secret")
        #expect(try replace("second", .userPresence) == ids[1])
        for _ in 0..<2 {
            let item = try #require(try store?.item(ids[1], caller: .person))
            #expect(item.accessControl.flags == .userPresence)
            #expect((item.created, item.modified) == (7, 9))
            #expect(try store?.read(ids[1]) == "new")
            #expect(try store?.find().map(\.id) == ids)
            #expect(try store?.find(["svce": .text("second")]).map(\.id) == [ids[1]])
            #expect(try store?.find(["svce": .text("two")]).isEmpty == true)
            store = nil
            store = try folder.open(itemLimit: 3)
        }
        expectRefusal(.limitsExceeded) { try store?.add("four") }
        #expect(try store?.delete(ids, caller: .person).count == 3)
        #expect(try store?.find().isEmpty == true)
    }

    @Test("L17: The earlier row of a replaced item is refused with Decode")
    func rolledBack() throws {
        let folder = try StateFolder("keychain")
        let id = try folder.open().add("one", "old", flags: .userPresence)
        try folder.write(folder.read("items.sqlite"), to: "old.sqlite")
        let replacing = try folder.open()
            .add(
                .service("one"),
                secret: SecretBytes("new"),
                accessControl: .none,
                password: nil,
                replacing: id,
                isInPlace: true,
                caller: .person,
                date: 9
            )
        #expect(replacing == id)
        try folder.run(
            "ATTACH '\(folder.file("old.sqlite"))' AS old",
            "DELETE FROM items WHERE uid = 1000",
            "INSERT INTO items SELECT * FROM old.items WHERE uid = 1000"
        )
        let store = try folder.open()
        expectRefusal(.decode) { _ = try store.read(id) }
        expectRefusal(.decode) { _ = try store.find() }
    }

    @Test("A new secret and attributes are stored together or not at all")
    func secretAndAttributes() throws {
        let folder = try StateFolder("keychain")
        let store = try folder.open()
        let id = try store.add("a", "one", flags: .applicationPassword, password: "p")
        try store.add("b")
        func set(_ changes: [String: AttributeValue], _ password: String, count: Int = 3) throws {
            try store.setSecret(
                of: id,
                to: SecretBytes(String(repeating: "x", count: count)),
                changes,
                password: SecretBytes(password),
                caller: .person,
                date: 200
            )
        }
        let label = ["labl": AttributeValue.text("new")]
        expectRefusal(.authFailed) { try set(label, "q") }
        expectRefusal(.limitsExceeded) { try set(label, "p", count: 65_537) }
        expectRefusal(.duplicate) { try set(["svce": .text("b")], "p") }
        expectRefusal(.parameter) { try set(["srvr": .text("b")], "p") }
        #expect(try store.read(id, password: "p") == "one")
        #expect(try store.find(label).isEmpty)
        try set(["labl": .text("new"), "svce": .text("c")], "p")
        let again = try store.find(label)
        #expect(again.map(\.id) == [id])
        #expect(try store.find(["svce": .text("a")]).isEmpty)
        #expect(try store.find(["svce": .text("c")]).map(\.id) == [id])
        #expect(try store.read(id, password: "p") == "xxx")
        try store.add("a")
    }
}
