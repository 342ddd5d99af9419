import AuthEngine
import Foundation
import KeychainStore
import Sealing
import TestSupport
import Testing

/// A search reads only what it needs, and finds all matching items.
@Suite("Item index")
struct IndexTests {
    @Test("A query finds the same items as a full comparison, after any change")
    func sameAsComparison() throws {
        var random = SeededGenerator()
        let store = try StateFolder("keychain").open()
        var ids: [String] = []
        for step in 0..<200 {
            let values: [String: AttributeValue] = [
                "svce": .text("service \(Int.random(in: 0..<4, using: &random))"),
                "acct": .text("account \(step)"),
                "labl": .text("label \(Int.random(in: 0..<20, using: &random))"),
                "agrp": .text("group \(Int.random(in: 0..<2, using: &random))"),
                "desc": .text("\(Int.random(in: 0..<3, using: &random))"),
            ]
            switch Int.random(in: 0..<10, using: &random) {
            case 0 where !ids.isEmpty:
                let id = ids.remove(at: Int.random(in: ids.indices, using: &random))
                #expect(try store.delete([id], caller: .person) == [id])
            case 1...3 where !ids.isEmpty:
                let id = ids[Int.random(in: ids.indices, using: &random)]
                try store.update(id, values, caller: .person, date: 200)
            default:
                let attributes = try Attributes(values.merging(["class": .text("genp")]) { $1 })
                let id = try store.add(
                    attributes,
                    secret: SecretBytes("x"),
                    accessControl: .guarded(by: []),
                    password: nil,
                    caller: .person,
                    date: 100
                )
                ids.append(id)
            }
        }
        let all = try store.find()
        #expect(Set(all.map(\.id)) == Set(ids))
        for item in all.shuffled(using: &random).prefix(12) {
            let values = item.allAttributes
            for names in [
                ["svce"], ["acct"], ["labl"], ["svce", "labl"], ["svce", "agrp", "desc"], ["id"],
                ["desc"], ["class", "agrp"], ["svce", "acct", "agrp", "class"], ["id", "svce"],
            ] {
                let query = values.filter { names.contains($0.key) }
                let expected = all.filter { other in
                    query.allSatisfy { other.allAttributes[$0.key] == $0.value }
                }
                #expect(try store.find(query).map(\.id) == expected.map(\.id))
            }
        }
        // Most of these accounts belong to items that were deleted or changed.
        for step in 0..<200 {
            let account = AttributeValue.text("account \(step)")
            let expected = all.filter { $0.attributes.values["acct"] == account }
            #expect(try store.find(["acct": account]).map(\.id) == expected.map(\.id))
        }
        #expect(try store.find(["svce": .text("service 9")]).isEmpty)
        #expect(try store.find(["id": .text("no id")]).isEmpty)
        // Each user has a separate index.
        #expect(try store.find(["svce": .text("service 1")], caller: .other).isEmpty)
    }

    @Test("Any number of unknown ids deletes no items")
    func unknownIDs() throws {
        let store = try StateFolder("keychain").open()
        let known = try (0..<10).map { try store.add("\($0)") }
        let unknown = (0..<70_000).map { String(format: "%032x", $0) }
        #expect(try store.delete(unknown, caller: .person).isEmpty)
        #expect(try store.find().count == 10)
        #expect(try store.delete(unknown + known, caller: .person).sorted() == known.sorted())
        #expect(try store.find().isEmpty)
    }

    @Test(
        "A keychain of an earlier format is upgraded once and keeps its items",
        arguments: FormerFormat.allCases
    )
    func upgraded(from format: FormerFormat) throws {
        let folder = try StateFolder("keychain")
        try format.put(into: folder)
        let caller = Caller(uid: 0, app: nil, enrolment: nil)
        // The second start finds the current format.
        for _ in 0..<2 {
            let store = try folder.open()
            #expect(store.setAside == nil && !store.isLost)
            #expect(try store.itemCount(of: 0) == 44)
            // A single item needs an enrolment, so it is hidden from a caller without enrolment.
            #expect(try store.find(caller: caller).count == 43)
            #expect(try store.find(["svce": .text("service 1")], caller: caller).count == 10)
            let found = try store.find(
                ["svce": .text("service 2"), "acct": .text("account 18")],
                caller: caller
            )
            #expect(found.map(\.allAttributes["labl"]) == [.text("label 18")])
            #expect(try store.read(found[0].id, caller: caller) == "secret 18")
            #expect(try store.find(["atag": .bytes(Array("tag".utf8))], caller: caller).count == 1)
            let locked = try store.find(["svce": .text("locked")], caller: caller)
            #expect(try store.read(locked[0].id, password: "pw", caller: caller) == "locked")
            expectRefusal(.duplicate) {
                _ = try store.add(
                    .service("service 2", account: "account 18"),
                    secret: SecretBytes("x"),
                    accessControl: .guarded(by: []),
                    password: nil,
                    caller: caller,
                    date: 1
                )
            }
        }
        let store = try folder.open()
        #expect(try store.passcodeRemoved(uid: 0).count == 2)
        #expect(try store.itemCount(of: 0) == 42)
    }

    @Test(
        "A search still reports an item that was damaged before the upgrade",
        arguments: FormerFormat.allCases
    )
    func upgradedWithDamage(from format: FormerFormat) throws {
        let folder = try StateFolder("keychain")
        try format.put(into: folder)
        let caller = Caller(uid: 0, app: nil, enrolment: nil)
        try folder.run("UPDATE items SET record = x'01' WHERE version = 5")
        let store = try folder.open()
        let found = try store.find(caller: caller)
        #expect(found.count == 42)
        // Format 2 had an index, in which the damaged item is listed by its attributes.
        guard format == .first else { return }
        expectRefusal(.decode) { _ = try store.find(["svce": .text("nothing")], caller: caller) }
    }

    @Test(
        "A page of format 2 that was edited is refused, even after the upgrade",
        arguments: ["UPDATE pages SET entries = zeroblob(length(entries))", "DELETE FROM pages"]
    )
    func upgradedWithoutPages(change: String) throws {
        let folder = try StateFolder("keychain")
        try FormerFormat.second.put(into: folder)
        try folder.run(change)
        for _ in 0..<2 {
            let store = try folder.open()
            let caller = Caller(uid: 0, app: nil, enrolment: nil)
            expectRefusal(.decode) { _ = try store.find(caller: caller) }
        }
    }

    @Test("A ledger of format 1 that lacks an item is refused, even after the upgrade")
    func upgradedWithoutItem() throws {
        let folder = try StateFolder("keychain")
        try FormerFormat.first.put(into: folder)
        let caller = Caller(uid: 0, app: nil, enrolment: nil)
        // Removes one entry: a length, an id and a version.
        try folder.run("UPDATE ledgers SET ledger = CAST(substr(ledger, 29) AS BLOB)")
        for _ in 0..<2 {
            let store = try folder.open()
            expectRefusal(.decode) { _ = try store.find(caller: caller) }
            expectRefusal(.decode) { try store.add("new", caller: caller) }
        }
    }
}

/// A keychain written by an earlier format, with 44 items of uid 0.
enum FormerFormat: String, CaseIterable {
    case first = "Format1"
    case second = "Format2"

    func put(into folder: StateFolder) throws {
        #expect(mkdir(folder.file(""), 0o700) == 0)
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: rawValue)
        for name in ["items.sqlite", "master.key", "anchor"] {
            try folder.write(Array(Data(contentsOf: source.appending(path: name))), to: name)
        }
    }
}
