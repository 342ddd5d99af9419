import AuthEngine
import DBus
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Items on the bus of the real daemon.
@Suite("Keychain items on the bus", .timeLimit(.minutes(10)))
struct KeychainItemTests {
    @Test("R66: an item without access control can be added, found, read, changed and deleted")
    func life() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.proxy.add(
                attributes: [
                    "class": .string("genp"), "svce": .string("mail"), "acct": .string("me"),
                    "gena": .bytes([1, 2]), "type": .uint32(7), "invi": .bool(true),
                ],
                secret: Array("first".utf8),
                accessControl: [:],
                options: [:]
            )
            var found = try await keychain.proxy.search(query: [:], options: [:])
            #expect(found.count == 1)
            let item = try #require(found.first)
            #expect(item["id"] == .string(id) && item["pdmn"] == .string("ak"))
            #expect(item["svce"] == .string("mail") && item["gena"] == .bytes([1, 2]))
            #expect(item["type"] == .uint32(7) && item["invi"] == .bool(true))
            #expect(item["cdat"]?.asInt64 == item["mdat"]?.asInt64)
            #expect(try await keychain.read(id) == "first")
            try await keychain.proxy.update(
                id: id,
                attributes: ["labl": .string("Mail"), "acct": .string("you")],
                options: [:]
            )
            try await keychain.proxy.setSecret(id: id, secret: Array("second".utf8), options: [:])
            found = try await keychain.proxy.search(query: ["acct": .string("you")], options: [:])
            #expect(found.first?["labl"] == .string("Mail"))
            #expect(try await keychain.services(["acct": .string("me")]) == [])
            #expect(try await keychain.read(id) == "second")
            #expect(try await keychain.proxy.delete(ids: [id, id, "none"]) == 1)
            await expectName(.keychainNotFound) { _ = try await keychain.read(id) }
            #expect(try await keychain.services() == [])
            #expect(try await keychain.proxy.delete(ids: [id]) == 0)
            #expect(person.shownPrompts == 0)
        }
    }

    @Test("A repeated primary key is Duplicate, at Add and at Update")
    func duplicates() async throws {
        try await ServiceBench.run { bench in
            let keychain = bench.keychain()
            let id = try await keychain.add("one")
            await expectName(.keychainDuplicate) { _ = try await keychain.add("one", "other") }
            let other = try await keychain.add("two")
            await expectName(.keychainDuplicate) {
                try await keychain.proxy.update(
                    id: other,
                    attributes: ["svce": .string("one")],
                    options: [:]
                )
            }
            #expect(try await keychain.read(id) == "secret")
            #expect(try await keychain.services() == ["one", "two"])
        }
    }

    @Test("A new item replaces another and its guard, and a failed Add keeps the old item")
    func replacing() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            @BusActor func replace(
                _ id: Variant,
                _ flags: AccessControl.Flags = [],
                _ accessible: String? = nil
            ) async throws -> String {
                try await keychain.proxy.add(
                    attributes: ["class": .string("genp"), "svce": .string("one")],
                    secret: Array("new".utf8),
                    accessControl: KeychainClient.control(flags, accessible),
                    options: ["replaces": id]
                )
            }
            let id = try await keychain.add("one", "old")
            bench.verifier.isPasscodeSet = false
            await expectName(.keychainNotAvailable) {
                _ = try await replace(.string(id), [], "akpu")
            }
            bench.verifier.isPasscodeSet = true
            await expectName(.invalidArgs) { _ = try await replace(.bool(true)) }
            await expectName(.keychainNotFound) { _ = try await replace(.string("none")) }
            let other = try await bench.keychain().add("theirs")
            if getuid() == 0 {
                await expectName(.keychainNotFound) { _ = try await replace(.string(other)) }
            }
            #expect(try await keychain.read(id) == "old")
            let new = try await replace(.string(id), [], "akpu")
            #expect(try await keychain.services(["svce": .string("one")]) == ["one"])
            #expect(try await keychain.read(new) == "new")
            await expectName(.keychainNotFound) { _ = try await keychain.read(id) }

            // An invalid item can't be replaced.
            let current = try await replace(.string(new), .biometryCurrentSet)
            _ = sensor.add(for: person.peer.uid, announcing: false)
            await expectName(.keychainNotFound) { _ = try await replace(.string(current)) }
            let last = try await keychain.add("one", "last")
            sensor.templates = [:]
            await expectName(.keychainNotAvailable) {
                _ = try await replace(.string(last), .biometryCurrentSet)
            }
            #expect(try await keychain.read(last) == "last")
            #expect(person.shownPrompts == 0)
        }
    }

    @Test("R60, R62, R65, R70: contradictions are Parameter, wrong types are InvalidArgs")
    func malformed() async throws {
        try await ServiceBench.run { bench in
            let keychain = bench.keychain().proxy
            let good: [String: Variant] = ["class": .string("genp"), "svce": .string("a")]
            @BusActor func add(
                _ attributes: [String: Variant],
                _ control: [String: Variant] = [:],
                _ options: [String: Variant] = [:]
            ) async throws {
                _ = try await keychain.add(
                    attributes: attributes,
                    secret: Array("x".utf8),
                    accessControl: control,
                    options: options
                )
            }
            for (key, value) in [
                ("class", Variant.string("nope")), ("class", .uint32(1)),
                ("class", .string("keys")),
                ("svce", .uint32(1)), ("srvr", .string("a")), ("id", .string("a")),
                ("nothing", .string("a")), ("labl", .double(1)), ("pdmn", .string("zz")),
            ] {
                await expectName(.keychainParameter) {
                    try await add(good.merging([key: value]) { $1 })
                }
            }
            await expectName(.keychainParameter) { try await add([:]) }
            for flags in [AccessControl.Flags([.or, .and]), [.userPresence, .devicePasscode]] {
                await expectName(.keychainParameter) {
                    try await add(good, ["flags": .uint64(flags.rawValue)])
                }
            }
            await expectName(.keychainParameter) {
                try await add(good, ["flags": .uint64(1 << 40)])
            }
            await expectName(.keychainParameter) {
                try await add(good.merging(["pdmn": .string("ak")]) { $1 }, ["flags": .uint64(0)])
            }
            await expectName(.invalidArgs) { try await add(good, ["flags": .string("1")]) }
            await expectName(.invalidArgs) { try await add(good, ["accessible": .uint32(1)]) }
            await expectName(.invalidArgs) { try await add(good, [:], ["context": .string("/")]) }
            await expectName(.invalidArgs) {
                _ = try await keychain.add(
                    attributes: good,
                    secret: [],
                    accessControl: [:],
                    options: ["sealed": .string("true")]
                )
            }
            await expectName(.keychainParameter) {
                _ = try await keychain.search(query: ["nothing": .bool(true)], options: [:])
            }
            for id in ["", "none", String(repeating: "0", count: 5000)] {
                await expectName(.keychainNotFound) { _ = try await bench.keychain().read(id) }
            }
            try await add(good.merging(["pdmn": .string("cku")]) { $1 })
            let found = try await keychain.search(query: ["pdmn": .string("cku")], options: [:])
            #expect(found.count == 1)
        }
    }

    @Test("A secret has 0 to 65536 bytes")
    func sizes() async throws {
        try await ServiceBench.run { bench in
            let keychain = bench.keychain()
            let empty = try await keychain.add("empty", "")
            #expect(try await keychain.read(empty) == "")
            let large = String(repeating: "abcdefgh", count: 8192)
            let id = try await keychain.add("large", large)
            #expect(try await keychain.read(id) == large)
            await expectName(.limitsExceeded) { _ = try await keychain.add("more", large + "!") }
            await expectName(.limitsExceeded) {
                try await keychain.proxy.setSecret(
                    id: id,
                    secret: Array((large + "!").utf8),
                    options: [:]
                )
            }
            #expect(try await keychain.read(id) == large)
            try await keychain.proxy.setSecret(id: id, secret: [], options: [:])
            #expect(try await keychain.read(id) == "")
        }
    }

    @Test(
        "Another user's item is NotFound, another client's context is UnknownObject",
        .enabled(if: getuid() == 0, "needs a second user")
    )
    func strangers() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let (theirs, ours) = (bench.keychain(person.connection), bench.keychain())
            let id = try await theirs.add("theirs")
            _ = try await ours.add("ours")
            await expectName(.keychainNotFound) { _ = try await ours.read(id) }
            await expectName(.keychainNotFound) {
                try await ours.proxy.update(id: id, attributes: [:], options: [:])
            }
            await expectName(.keychainNotFound) {
                try await ours.proxy.setSecret(id: id, secret: Array("mine".utf8), options: [:])
            }
            #expect(try await ours.proxy.delete(ids: [id]) == 0)
            #expect(try await ours.services() == ["ours"])
            #expect(try await theirs.services() == ["theirs"])
            // Equal services of different users are no duplicates.
            _ = try await ours.add("theirs")
            #expect(try await theirs.read(id) == "secret")

            let app = try person.app(bench.bus)
            let context = try await bench.context(on: app)
            await expectName(.unknownObject) { _ = try await theirs.read(id, context: context) }
            await expectName(.unknownObject) {
                _ = try await theirs.add("b", flags: .applicationPassword, context: context)
            }
            #expect(try await bench.keychain(app).read(id, context: context) == "secret")
            app.close()
        }
    }

    @Test("L17: items and their guards survive a kill of the daemon")
    func restart() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let before = bench.keychain(person.connection)
            let free = try await before.add("free", "one")
            let guarded = try await before.add("guarded", "two", flags: .biometryCurrentSet)
            let pending = before.reading(guarded)
            _ = try await sensor.operation()
            try await bench.restartDaemon()
            await #expect(throws: DBusError.self) { _ = try await pending.value() }
            try await bench.waitForDevice(is: "")
            let again = try await bench.person()
            let keychain = bench.keychain(again.connection)
            #expect(try await keychain.services() == ["free", "guarded"])
            #expect(try await keychain.read(free) == "one")
            let call = keychain.reading(guarded)
            try await sensor.operation(1).succeed(template)
            #expect(try await call.value() == "two")
        }
    }

    @Test("L18: without its master key the keychain reports the cause and loses no item")
    func missingKey() async throws {
        try await ServiceBench.run { bench in
            let id = try await bench.keychain().add("kept")
            let key = bench.state + "/keychain/master.key"
            #expect(rename(key, key + ".away") == 0)
            try await bench.restartDaemon()
            await expectName(.keychainNotAvailable) { _ = try await bench.keychain().read(id) }
            await expectName(.keychainNotAvailable) { _ = try await bench.keychain().add("new") }
            #expect(try await bench.canEvaluate(2).code == 0)
            // No restart is needed.
            #expect(rename(key + ".away", key) == 0)
            #expect(try await bench.keychain().read(id) == "secret")
        }
    }

    @Test("R67: any change invalidates items of the current enrolment, but not userPresence")
    func currentSet() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let current = try await keychain.add("current", flags: .biometryCurrentSet)
            let any = try await keychain.add("any", flags: .biometryAny)
            let presence = try await keychain.add("presence", flags: .userPresence)
            let template = sensor.add(for: person.peer.uid, announcing: false)
            await expectName(.keychainNotFound) { _ = try await keychain.read(current) }
            #expect(person.shownPrompts == 0)
            #expect(try await keychain.services() == ["any", "presence"])
            for (number, id) in [any, presence].enumerated() {
                let call = keychain.reading(id)
                try await sensor.operation(number).succeed(template)
                #expect(try await call.value() == "secret")
            }
            // A change that is undone counts too.
            let second = try await keychain.add("current", flags: .biometryCurrentSet)
            #expect(try await keychain.services().count == 3)
            let context = try await bench.context(on: person.connection)
            let state = try await bench.state(context)
            let extra = sensor.add(for: person.peer.uid, announcing: false)
            sensor.signals.templatesChanged(uid: person.peer.uid)
            sensor.templates[person.peer.uid]?.removeAll { $0.id == extra }
            sensor.signals.templatesChanged(uid: person.peer.uid)
            try await eventually("the change to be noticed") {
                try await bench.state(context) != state
            }
            await expectName(.keychainNotFound) { _ = try await keychain.read(second) }
            // Without enrolled templates, no item can depend on the enrolment.
            sensor.templates = [:]
            await expectName(.keychainNotAvailable) {
                _ = try await keychain.add("current", flags: .biometryCurrentSet)
            }
            await expectName(.keychainAuthFailed) { _ = try await keychain.read(any) }
        }
    }

    @Test("R67: an absent sensor deletes no item")
    func away() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("current", flags: .biometryCurrentSet)
            sensor.connection.close()
            try await bench.waitForNoDevice()
            await expectName(.keychainAuthFailed) { _ = try await keychain.read(id) }
            #expect(try await keychain.services() == ["current"])
            let again = try await bench.sensor { $0.templates = sensor.templates }
            let call = keychain.reading(id)
            try await again.operation().succeed(template)
            #expect(try await call.value() == "secret")
        }
    }

    @Test("R69: akpu items are deleted with the password, but not by an absent verifier")
    func passcodeSet() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            bench.verifier.isPasscodeSet = false
            await expectName(.keychainNotAvailable) {
                _ = try await keychain.add("a", accessible: "akpu")
            }
            bench.verifier.isPasscodeSet = true
            let id = try await keychain.add("a", accessible: "akpu")
            let other = try await keychain.add("b", accessible: "aku")
            #expect(try await keychain.read(id) == "secret")
            bench.verifier.connection.releaseName(ScriptedVerifier.name)
            _ = try await bench.bus.waitForOwner(of: ScriptedVerifier.name, false)
            #expect(try await keychain.services() == ["a", "b"])
            await expectName(.keychainNotAvailable) {
                _ = try await keychain.add("c", accessible: "akpu")
            }
            try bench.verifier.connection.requestName(ScriptedVerifier.name)
            bench.verifier.isPasscodeSet = false
            #expect(try await keychain.services() == ["b"])
            bench.verifier.isPasscodeSet = true
            await expectName(.keychainNotFound) { _ = try await keychain.read(id) }
            #expect(try await keychain.read(other) == "secret")
        }
    }
}
