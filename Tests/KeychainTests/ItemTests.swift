import KeychainStore
import Sealing
import TestSupport
import Testing

@testable import AuthEngine

@Suite("Items")
struct ItemTests {
    @Test("Secrets of any size survive a restart unchanged")
    func roundTrip() throws {
        let folder = try StateFolder("keychain")
        let largest = [UInt8]((0..<65_536).map { UInt8(truncatingIfNeeded: $0 * 7) })
        let secrets = [[], [0], largest]
        var ids: [String] = []
        do {
            let store = try folder.open()
            for (number, secret) in secrets.enumerated() {
                ids.append(
                    try store.add(
                        .service("\(number)"),
                        secret: SecretBytes(secret),
                        accessControl: .none,
                        password: nil,
                        caller: .person,
                        date: 7
                    )
                )
            }
            expectRefusal(.limitsExceeded) {
                try store.add("large", String(repeating: "x", count: 65_537))
            }
        }
        let store = try folder.open()
        let free = try #require(
            AccessGrant.resting(
                on: [],
                for: .useItem,
                uid: 1000,
                accessControl: .none
            )
        )
        for (id, secret) in zip(ids, secrets) {
            let read = try store.secret(
                of: id,
                authorization: free,
                password: nil,
                caller: .person
            )
            #expect(read.bytes == secret)
            #expect(try store.item(id, caller: .person).created == 7)
        }
        #expect(Set(ids).count == 3 && ids.allSatisfy { $0.count == 32 })
    }

    @Test("A primary key is unique within a class, user and app")
    func duplicates() throws {
        let store = try StateFolder("keychain").open()
        func add(_ values: [String: AttributeValue], caller: Caller = .person) throws {
            _ = try store.add(
                Attributes(values),
                secret: SecretBytes(""),
                accessControl: .none,
                password: nil,
                caller: caller,
                date: 0
            )
        }
        let plain: [String: AttributeValue] = ["class": .text("genp"), "svce": .text("s")]
        try add(plain)
        // A missing attribute equals an empty attribute.
        expectRefusal(.duplicate) { try add(plain) }
        expectRefusal(.duplicate) { try add(plain.merging(["acct": .text("")]) { $1 }) }
        expectRefusal(.duplicate) { try add(plain.merging(["labl": .text("l")]) { $1 }) }
        try add(plain.merging(["acct": .text("a")]) { $1 })
        try add(plain.merging(["agrp": .text("g")]) { $1 })
        try add(plain, caller: .other)
        try add(plain, caller: Caller(uid: 1000, app: "app", enrolment: .first))
        let server: [String: AttributeValue] = ["class": .text("inet"), "srvr": .text("s")]
        try add(server)
        for (name, value) in [
            ("sdmn", .text("x")), ("ptcl", .text("x")), ("atyp", .text("x")), ("path", .text("x")),
            ("port", .number(443)), ("acct", .text("x")),
        ] as [(String, AttributeValue)] {
            try add(server.merging([name: value]) { $1 })
            expectRefusal(.duplicate) { try add(server.merging([name: value]) { $1 }) }
        }
        expectRefusal(.duplicate) { try add(server.merging(["port": .number(0)]) { $1 }) }
    }

    @Test("A replacement is a single change, and a failure keeps the old item")
    func replacing() throws {
        let folder = try StateFolder("keychain")
        let store = try folder.open(itemLimit: 2)
        func replace(
            _ id: String,
            _ service: String,
            flags: AccessControl.Flags = [],
            caller: Caller = .person
        ) throws -> String {
            try store.add(
                .service(service),
                secret: SecretBytes("new"),
                accessControl: .guarded(by: flags),
                password: nil,
                replacing: id,
                caller: caller,
                date: 200
            )
        }
        let (old, other) = (try store.add("mail", "old"), try store.add("files"))
        expectRefusal(.limitsExceeded) { try store.add("more") }
        expectRefusal(.duplicate) { _ = try replace(old, "files") }
        expectRefusal(.parameter) { _ = try replace(old, "mail", flags: .applicationPassword) }
        expectRefusal(.notAvailable) {
            _ = try replace(
                old,
                "mail",
                flags: .biometryCurrentSet,
                caller: Caller.person.with(nil)
            )
        }
        expectRefusal(.notFound) { _ = try replace(old, "mail", caller: .other) }
        expectRefusal(.notFound) { _ = try replace("none", "mail") }
        #expect(try store.read(old) == "old")
        let new = try replace(old, "mail", flags: .userPresence)
        expectRefusal(.notFound) { _ = try store.read(old) }
        expectRefusal(.notFound) { _ = try replace(old, "mail") }
        #expect(try store.find().map(\.id) == [other, new])
        #expect(try store.read(new) == "new")
        _ = try replace(other, "third")
        #expect(try store.find().count == 2)
    }

    @Test("L16: A search with too large a result is refused, a narrower search works")
    func largeAnswers() throws {
        let store = try StateFolder("keychain").open()
        let text = String(repeating: "x", count: Attributes.valueLimit - 50)
        for number in 0..<(KeychainStore.answerLimit / 8192 + 10) {
            let attributes = try Attributes([
                "class": .text("genp"), "svce": .text("\(number)"), "labl": .text(text),
                "icmt": .text(text),
            ])
            _ = try store.add(
                attributes,
                secret: SecretBytes(""),
                accessControl: .none,
                password: nil,
                caller: .person,
                date: 0
            )
        }
        expectRefusal(.limitsExceeded) { _ = try store.find() }
        #expect(try store.find(["svce": .text("7")]).count == 1)
        #expect(try store.find(caller: .other).isEmpty)
    }

    @Test("A search compares every given attribute, and returns no secret")
    func search() throws {
        let store = try StateFolder("keychain").open()
        let first = try store.add("mail", date: 5)
        let second = try store.add("files", flags: .userPresence, date: 4)
        try store.add("mail", caller: .other)
        #expect(try store.find().map(\.id) == [second, first])
        #expect(try store.find(["svce": .text("mail")]).map(\.id) == [first])
        #expect(try store.find(["id": .text(second)]).map(\.id) == [second])
        #expect(try store.find(["acct": .text("me"), "class": .text("genp")]).count == 2)
        #expect(try store.find(["cdat": .seconds(4)]).map(\.id) == [second])
        #expect(try store.find(["pdmn": .text("dk")]).count == 2)
        #expect(try store.find(["class": .text("keys")]).isEmpty)
        #expect(try store.find(["labl": .text("")]).isEmpty)
        #expect(
            try store.search(Query([:]), skipsAuthenticated: true, caller: .person).map(\.id)
                == [first]
        )
        #expect(
            try store.find()[1].allAttributes == [
                "class": .text("genp"), "svce": .text("mail"), "acct": .text("me"),
                "id": .text(first), "cdat": .seconds(5), "mdat": .seconds(5), "pdmn": .text("ak"),
            ]
        )
        expectRefusal(.parameter) { _ = try store.find(["nope": .text("")]) }
        expectRefusal(.parameter) { _ = try store.find(["svce": .number(1)]) }
        expectRefusal(.parameter) { _ = try store.find(["class": .text("cert")]) }
    }

    @Test("A search orders items by time, and then by their creation")
    func order() throws {
        let folder = try StateFolder("keychain")
        var store: KeychainStore? = try folder.open()
        var ids: [String] = []
        for number in 0..<20 {
            ids.append(try #require(try store?.add("\(number)", date: 7)))
        }
        let early = try #require(try store?.add("early", date: 6))
        // Neither a change nor the deletion of another item moves an item.
        try store?.update(ids[3], ["labl": .text("x")], caller: .person, date: 9)
        try store?
            .setSecret(
                of: ids[5],
                to: SecretBytes("x"),
                password: nil,
                caller: .person,
                date: 9
            )
        #expect(try store?.delete([ids.remove(at: 1)], caller: .person).count == 1)
        for _ in 0..<2 {
            #expect(try store?.find().map(\.id) == [early] + ids)
            store = nil
            store = try folder.open()
        }
    }

    @Test("Attributes of a wrong class, type or size, or set by the keychain, are refused")
    func attributes() throws {
        let plain: [String: AttributeValue] = ["class": .text("genp")]
        for (name, value) in [
            ("srvr", .text("s")), ("atag", .bytes([1])), ("port", .number(1)), ("id", .text("")),
            ("cdat", .seconds(1)), ("mdat", .seconds(1)), ("pdmn", .text("ak")), ("x", .text("")),
            ("svce", .bytes([1])), ("gena", .text("")), ("invi", .number(1)),
            ("class", .flag(true)),
            ("class", .text("cert")),
        ] as [(String, AttributeValue)] {
            expectRefusal(.parameter) { _ = try Attributes(plain.merging([name: value]) { $1 }) }
        }
        expectRefusal(.parameter) { _ = try Attributes(["svce": .text("s")]) }
        let long = AttributeValue.text(String(repeating: "x", count: 4097))
        expectRefusal(.limitsExceeded) { _ = try Attributes(plain.merging(["svce": long]) { $1 }) }
        let most = AttributeValue.bytes([UInt8](repeating: 1, count: 4096))
        var attributes = try Attributes(plain)
        try attributes.update(["gena": most])
        let text = AttributeValue.text(String(repeating: "x", count: 4096))
        try attributes.update(["svce": text])
        expectRefusal(.limitsExceeded) { try attributes.update(["labl": .text("x")]) }
        #expect(attributes.values == ["gena": most, "svce": text])
    }

    @Test("An update keeps the secret and other attributes, and must not collide")
    func update() throws {
        let folder = try StateFolder("keychain")
        var store: KeychainStore? = try folder.open()
        let id = try #require(
            try store?.add("a", "one", flags: .applicationPassword, password: "p")
        )
        try store?.add("b")
        try store?.update(id, ["labl": .text("L")], caller: .person, date: 200)
        expectRefusal(.duplicate) {
            try store?.update(id, ["svce": .text("b")], caller: .person, date: 200)
        }
        expectRefusal(.parameter) {
            try store?.update(id, ["class": .text("inet")], caller: .person, date: 200)
        }
        try store?.update(id, ["svce": .text("c")], caller: .person, date: 201)
        store = nil
        let again = try folder.open()
        let item = try again.item(id, caller: .person)
        #expect(item.attributes.values["labl"] == .text("L"))
        #expect(item.attributes.values["svce"] == .text("c"))
        #expect(item.attributes.values["acct"] == .text("me"))
        #expect((item.created, item.modified) == (100, 201))
        #expect(try again.read(id, password: "p") == "one")
        try again.add("a")
    }

    @Test("R66: A new secret replaces the old secret without authentication")
    func setSecret() throws {
        let store = try StateFolder("keychain").open()
        for accessibility in AccessControl.Accessibility.allCases {
            let control = try AccessControl(flags: .biometryAny, accessibility: accessibility)
            let id = try store.add(
                Attributes(["class": .text("genp"), "svce": .text(accessibility.rawValue)]),
                secret: SecretBytes("one"),
                accessControl: control,
                password: nil,
                caller: .person,
                date: 100
            )
            try store.setSecret(
                of: id,
                to: SecretBytes("two"),
                password: nil,
                caller: .person,
                date: 300
            )
            #expect(try store.read(id) == "two")
            let item = try store.item(id, caller: .person)
            #expect(item.modified == 300)
            #expect(item.accessControl == control)
            #expect(item.allAttributes["pdmn"] == .text(accessibility.rawValue))
            #expect(try store.delete([id], caller: .person) == [id])
        }
    }

    @Test("Items of another user or sandboxed app are not found")
    func strangers() throws {
        let store = try StateFolder("keychain").open()
        let app = Caller(uid: 1000, app: "org.example.A", enrolment: .first)
        let otherApp = Caller(uid: 1000, app: "org.example.B", enrolment: .first)
        let plain = try store.add("plain")
        let own = try store.add("own", caller: app)
        #expect(try store.read(own, caller: app) == "secret")
        // A program outside a sandbox could be any program, including the app.
        #expect(try store.read(own) == "secret")
        for (caller, ids) in [(Caller.other, [plain, own]), (otherApp, [plain, own])] {
            #expect(try store.find(caller: caller).isEmpty)
            for id in ids {
                expectRefusal(.notFound) { _ = try store.item(id, caller: caller) }
                expectRefusal(.notFound) {
                    try store.update(id, ["labl": .text("")], caller: caller, date: 0)
                }
                #expect(try store.delete([id], caller: caller).count == 0)
            }
        }
        expectRefusal(.notFound) { _ = try store.item(plain, caller: app) }
        #expect(try store.find(caller: app).map(\.id) == [own])
    }

    @Test("A user can store items up to the limit, and again after deleting one")
    func limit() throws {
        let store = try StateFolder("keychain").open(itemLimit: 3)
        let ids = try (0..<3).map { try store.add("\($0)") }
        expectRefusal(.limitsExceeded) { try store.add("more") }
        try store.add("other", caller: .other)
        #expect(try store.delete([ids[1]], caller: .person).count == 1)
        try store.add("more")
    }

    // MARK: Authorization

    @Test("An authorization works only for its user, operation and access control")
    func authorization() throws {
        let store = try StateFolder("keychain").open()
        let id = try store.add("a", flags: .biometryAny)
        let control = try AccessControl.guarded(by: .biometryAny)
        func read(
            _ operation: AccessOperation,
            _ uid: UInt32,
            _ control: AccessControl
        ) throws -> String {
            let authorization = AccessGrant.resting(
                on: [.finger(uid: uid)],
                for: operation,
                uid: uid,
                accessControl: control
            )
            return
                try store.secret(
                    of: id,
                    authorization: #require(authorization),
                    password: nil,
                    caller: .person
                )
                .text
        }
        #expect(try read(.useItem, 1000, control) == "secret")
        for operation in AccessOperation.allCases where operation != .useItem {
            expectRefusal(.authFailed) { _ = try read(operation, 1000, control) }
        }
        expectRefusal(.authFailed) { _ = try read(.useItem, 1001, control) }
        expectRefusal(.authFailed) { _ = try read(.useItem, 1000, .none) }
        for accessibility in AccessControl.Accessibility.allCases
        where accessibility != control.accessibility {
            let other = try AccessControl(flags: control.flags, accessibility: accessibility)
            expectRefusal(.authFailed) { _ = try read(.useItem, 1000, other) }
        }
        expectRefusal(.authFailed) {
            _ = try read(.useItem, 1000, AccessControl.guarded(by: .biometryCurrentSet))
        }
    }

    @Test("R64: Only the right app password opens the item")
    func applicationPassword() throws {
        let folder = try StateFolder("keychain")
        let id = try folder.open()
            .add("a", "one", flags: [.biometryAny, .or, .applicationPassword], password: "right")
        let store = try folder.open()
        #expect(try store.read(id, password: "right") == "one")
        for wrong in ["Right", "", "right ", nil] {
            expectRefusal(.authFailed) { _ = try store.read(id, password: wrong) }
        }
        func set(_ password: String?) throws {
            try store.setSecret(
                of: id,
                to: SecretBytes("two"),
                password: password.map { SecretBytes($0) },
                caller: .person,
                date: 1
            )
        }
        expectRefusal(.authFailed) { try set("wrong") }
        expectRefusal(.authFailed) { try set(nil) }
        try set("right")
        #expect(try store.read(id, password: "right") == "two")
        expectRefusal(.parameter) { try store.add("b", flags: .applicationPassword) }
        expectRefusal(.parameter) { try store.add("b", password: "p") }
        let plain = try store.add("b")
        expectRefusal(.authFailed) { _ = try store.read(plain, password: "p") }
    }

    @Test("R67: An enrolment change deletes the item, even if the change is undone")
    func currentSet() throws {
        let folder = try StateFolder("keychain")
        var store: KeychainStore? = try folder.open()
        let current = try #require(try store?.add("current", flags: .biometryCurrentSet))
        let any = try #require(try store?.add("any", flags: .biometryAny))
        let presence = try #require(try store?.add("presence", flags: .userPresence))
        #expect(try store?.read(current) == "secret")
        let changed = Caller.person.with(.second)
        for id in [any, presence] { #expect(try store?.read(id, caller: changed) == "secret") }
        expectRefusal(.notFound) { _ = try store?.read(current) }
        store = nil
        let again = try folder.open()
        expectRefusal(.notFound) { _ = try again.read(current) }
        #expect(try again.find().count == 2)
        // The primary key is free again (F2).
        try again.add("current", flags: .biometryCurrentSet, caller: changed)
    }

    @Test("R67: Every call compares both enrolment and generation")
    func everyCall() throws {
        let mark = EnrolmentMark(generation: 9, state: EnrolmentMark.first.state)
        let calls: [(KeychainStore, String, Caller) throws -> Void] = [
            { _ = try $0.item($1, caller: $2) },
            { try $0.update($1, ["labl": .text("")], caller: $2, date: 0) },
            { store, id, caller in
                try store.setSecret(
                    of: id,
                    to: SecretBytes(""),
                    password: nil,
                    caller: caller,
                    date: 0
                )
            },
            { store, id, caller in
                guard try store.find(caller: caller).isEmpty else { return }
                throw try #require(
                    expectRefusal(.notFound) { _ = try store.read(id, caller: caller) }
                )
            },
        ]
        for call in calls {
            for enrolment in [mark, .second, nil] {
                let store = try StateFolder("keychain").open()
                let id = try store.add("a", flags: .biometryCurrentSet)
                expectRefusal(.notFound) { try call(store, id, Caller.person.with(enrolment)) }
            }
        }
        let store = try StateFolder("keychain").open()
        let id = try store.add("a", flags: .biometryCurrentSet)
        #expect(try store.delete([id], caller: Caller.person.with(nil)).count == 0)
        expectRefusal(.notAvailable) {
            try store.add("b", flags: .biometryCurrentSet, caller: Caller.person.with(nil))
        }
    }

    @Test("L17: While the enrolment is unknown, its items are hidden, not deleted")
    func lostEnrolment() throws {
        let store = try StateFolder("keychain").open()
        let id = try store.add("a", "kept", flags: .biometryCurrentSet)
        let key = try store.add("b", "kept", flags: .biometryCurrentSet)
        let other = try store.add("c")
        // A new database restarts generations, and a new machine key gives other states.
        let lost: [EnrolmentMark?] = [
            nil, EnrolmentMark(generation: 1, state: [7]), EnrolmentMark(generation: 0, state: []),
        ]
        for caller in lost.map(Caller.person.with) {
            #expect(try store.find(caller: caller).map(\.id) == [other])
            expectRefusal(.notFound) { _ = try store.read(id, caller: caller) }
            #expect(try store.delete([id], caller: caller).isEmpty)
        }
        #expect(try store.read(id) == "kept")
        // A hidden item must not be revealed as a duplicate, so it is replaced.
        let new = try store.add("a", "new", caller: Caller.person.with(nil))
        try store.update(other, ["svce": .text("b")], caller: Caller.person.with(nil), date: 1)
        for gone in [id, key] { expectRefusal(.notFound) { _ = try store.read(gone) } }
        #expect(try store.read(new) == "new")
        #expect(try store.find().count == 2)
        expectRefusal(.duplicate) { try store.add("b") }
    }

    @Test("R69: Removing the password deletes the user's items that need it, and no others")
    func passcodeRemoved() throws {
        let folder = try StateFolder("keychain")
        var store: KeychainStore? = try folder.open()
        let gone = try #require(try store?.add("a", accessibility: .whenPasscodeSet))
        let stays = try #require(try store?.add("b"))
        let other = try #require(
            try store?.add("a", accessibility: .whenPasscodeSet, caller: .other)
        )
        #expect(try store?.passcodeRemoved(uid: 1000) == [gone])
        expectRefusal(.notFound) { _ = try store?.read(gone) }
        store = nil
        let again = try folder.open()
        expectRefusal(.notFound) { _ = try again.read(gone) }
        #expect(try again.read(stays) == "secret")
        #expect(try again.read(other, caller: .other) == "secret")
    }
}
