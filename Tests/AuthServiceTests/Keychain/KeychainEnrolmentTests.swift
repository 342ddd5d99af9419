import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Enrolments and passwords that items depend on, tested on the real daemon.
@Suite("Keychain items and enrolments", .timeLimit(.minutes(10)))
struct KeychainEnrolmentTests {
    /// A call on an item or a key.
    private typealias Use = @BusActor (KeychainClient, _ id: String) async throws -> Void

    private static let itemUses: [(name: String, use: Use)] = [
        ("Read", { _ = try await $0.read($1) }),
        ("Update", { try await $0.proxy.update(id: $1, attributes: [:], options: [:]) }),
        (
            "SetSecret",
            { try await $0.proxy.setSecret(id: $1, secret: Array("other".utf8), options: [:]) }
        ),
        (
            "Search",
            { keychain, id in
                if try await keychain.proxy.search(query: ["id": .string(id)], options: [:]) == [] {
                    throw DBusError(.keychainNotFound, "as Search says it")
                }
            }
        ),
        (
            "Delete",
            { keychain, id in
                if try await keychain.proxy.delete(ids: [id]) == 0 {
                    throw DBusError(.keychainNotFound, "as Delete says it")
                }
            }
        ),
    ]

    private static let keyUses:
        [(name: String, use: @BusActor (KeychainKey) async throws -> Void)] = [
            ("Sign", { _ = try await $0.sign([1]).value() }),
            ("Decrypt", { _ = try await $0.decrypt([1]) }),
            ("KeyExchange", { _ = try await $0.exchange($0.point) }),
        ]

    @Test("R67: after an unannounced change no call finds an item or a key")
    func everyCall() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            @BusActor func change() { _ = sensor.add(for: person.peer.uid, announcing: false) }
            for (name, use) in Self.itemUses {
                let id = try await keychain.add(name, flags: .biometryCurrentSet)
                change()
                await expectName(.keychainNotFound) { try await use(keychain, id) }
            }
            for (number, use) in Self.keyUses.map(\.use).enumerated() {
                let key = try await KeychainKey(
                    keychain,
                    [.privateKeyUsage, .biometryCurrentSet],
                    tag: UInt8(number)
                )
                change()
                await expectName(.keychainNotFound) { try await use(key) }
            }
            // Invalid items cause no duplicate either.
            _ = try await keychain.add("one", flags: .biometryCurrentSet)
            let other = try await keychain.add("two")
            change()
            _ = try await keychain.add("one")
            _ = try await keychain.add("three", flags: .biometryCurrentSet)
            change()
            try await keychain.proxy.update(
                id: other,
                attributes: ["svce": .string("three")],
                options: [:]
            )
            #expect(try await keychain.services() == ["one", "three"])
            #expect(person.shownPrompts == 0)
        }
    }

    @Test("R67: a person who enrols during the prompt gets no item")
    func meanwhile() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            // A match with a known template does not query the other sensors.
            let old = try await keychain.add("old", flags: .biometryCurrentSet)
            let looking = keychain.reading(old)
            let first = try await sensor.operation()
            _ = sensor.add(for: person.peer.uid, announcing: false)
            first.succeed(template)
            await expectName(.keychainNotFound) { _ = try await looking.value() }

            let id = try await keychain.add("item", flags: .biometryCurrentSet)
            let key = try await KeychainKey(keychain, [.privateKeyUsage, .biometryCurrentSet])
            let any = try await keychain.add("any", flags: .biometryAny)
            let reading = keychain.reading(id)
            let operation = try await sensor.operation(1)
            operation.succeed(sensor.add(for: person.peer.uid, announcing: false))
            await expectName(.keychainNotFound) { _ = try await reading.value() }
            await expectName(.keychainNotFound) { _ = try await key.sign([1]).value() }
            #expect(try await keychain.services() == ["any"])

            let free = keychain.reading(any)
            try await sensor.operation(2)
                .succeed(sensor.add(for: person.peer.uid, announcing: false))
            #expect(try await free.value() == "secret")
        }
    }

    @Test("R67: a context evaluated before the change opens no item after it")
    func evaluated() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let context = try await bench.context(on: person.connection)
            let id = try await keychain.add("item", flags: .biometryCurrentSet)
            let any = try await keychain.add("any", flags: .biometryAny)
            let call = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            try await sensor.operation().succeed(template)
            _ = try await call.reply()
            for item in [id, any] {
                #expect(try await keychain.read(item, context: context) == "secret")
            }
            _ = sensor.add(for: person.peer.uid, announcing: false)
            await expectName(.keychainNotFound) {
                _ = try await keychain.read(id, context: context)
            }
            await expectName(.keychainInteractionNotAllowed) {
                let silent: [String: Variant] = ["interaction-not-allowed": .bool(true)]
                _ = try await keychain.read(any, context: context, silent)
            }
            #expect(person.shownPrompts == 1)
        }
    }

    @Test("R67: a change counts even if the daemon or the sensor was down")
    func down() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let uid = person.peer.uid
            var keychain = bench.keychain(person.connection)
            let id = try await keychain.add("one", flags: .biometryCurrentSet)
            try await bench.restartDaemon { _ = sensor.add(for: uid, announcing: false) }
            try await bench.waitForDevice(is: "")
            keychain = bench.keychain(person.connection)
            await expectName(.keychainNotFound) { _ = try await keychain.read(id) }

            // The sensor returns after the daemon.
            let kept = try await keychain.add("two", flags: .biometryCurrentSet)
            let changed = try await keychain.add("three", flags: .biometryCurrentSet)
            let name = "org.localauth.Sensor1.Third"
            sensor.connection.releaseName(name)
            try await bench.restartDaemon()
            keychain = bench.keychain(person.connection)
            await expectName(.keychainInteractionNotAllowed) {
                _ = try await keychain.read(kept, ["interaction-not-allowed": .bool(true)])
            }
            try sensor.connection.requestName(name)
            try await bench.waitForDevice(is: "")
            #expect(try await keychain.services() == ["three", "two"])
            sensor.connection.releaseName(name)
            try await bench.waitForNoDevice()
            _ = sensor.add(for: uid, announcing: false)
            #expect(try await keychain.services() == ["three", "two"])
            try sensor.connection.requestName(name)
            try await bench.waitForDevice(is: "")
            await expectName(.keychainNotFound) { _ = try await keychain.read(changed) }
            #expect(try await keychain.services() == [])
        }
    }

    @Test("L21: a large search result is not kept during queries, but searched again")
    func foundAgain() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            _ = try await keychain.add("guarded", flags: .biometryCurrentSet)
            for number in 1...8 { _ = try await keychain.add("\(number)", flags: []) }
            sensor.unanswered = ["ListTemplates"]
            sensor.calls.forget()
            let services = Task.immediate { @BusActor in try await keychain.services() }
            _ = try await sensor.calls.first("the sensor to be asked") { $0 == "ListTemplates" }
            _ = try await keychain.add("late", flags: [])
            sensor.speak()
            #expect(try await services.value.contains("late"))
        }
    }

    @Test("L17, R67: a noticed change counts even if it was undone before a restart")
    func undone() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let id = try await bench.keychain(person.connection)
                .add("one", flags: .biometryCurrentSet)
            let templates = sensor.templates
            _ = sensor.add(for: person.peer.uid)
            // This queries the sensors, but not the keychain.
            _ = try await bench.canEvaluate(1, as: person.connection)
            sensor.templates = templates
            try await bench.restartDaemon()
            try await bench.waitForDevice(is: "")
            let keychain = bench.keychain(person.connection)
            await expectName(.keychainNotFound) { _ = try await keychain.read(id) }
            #expect(try await keychain.services() == [])
        }
    }

    @Test("L17, R67: items return if the lost files of their enrolment return")
    func lostFiles() async throws {
        try await ServiceBench.run { bench in
            let (person, _, _) = try await bench.enrolled()
            let id = try await bench.keychain(person.connection)
                .add("one", flags: .biometryCurrentSet)
            let folder = bench.state
            func move(_ files: [String], _ from: String, _ to: String) {
                for file in files { rename(folder + "/" + file + from, folder + "/" + file + to) }
            }
            let database = ["state.sqlite", "state.sqlite-wal"]
            for files in [["machine.key"], database] {
                try await bench.restartDaemon { move(files, "", ".away") }
                try await bench.waitForDevice(is: "")
                let keychain = bench.keychain(person.connection)
                #expect(try await keychain.services() == [])
                await expectName(.keychainNotFound) { _ = try await keychain.read(id) }
                try await bench.restartDaemon { move(files, ".away", "") }
                try await bench.waitForDevice(is: "")
                #expect(try await bench.keychain(person.connection).services() == ["one"])
            }
        }
    }

    @Test("R67: a new enrolment after removing all templates opens no earlier item")
    func removedAndEnrolled() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let (uid, keychain) = (person.peer.uid, bench.keychain(person.connection))
            _ = sensor.add(for: uid)
            let templates = sensor.templates
            for removed in 1...2 {
                let id = try await keychain.add("one", flags: .biometryCurrentSet)
                _ = try await keychain.add("two", flags: .biometryCurrentSet)
                sensor.templates[uid]?.removeLast(removed)
                #expect(try await keychain.services() == [])
                await expectName(.keychainNotFound) { _ = try await keychain.read(id) }
                let free = try await keychain.add("two")
                sensor.templates = templates
                await expectName(.keychainNotFound) { _ = try await keychain.read(id) }
                #expect(try await keychain.services() == ["two"])
                #expect(try await keychain.proxy.delete(ids: [free]) == 1)
            }
        }
    }

    @Test("R67: an absent, unusable or silent sensor invalidates no item")
    func unusable() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("current", flags: .biometryCurrentSet)
            let templates = sensor.templates
            @BusActor func isThere() async throws {
                #expect(try await keychain.services() == ["current"])
                try await keychain.proxy.update(id: id, attributes: [:], options: [:])
                await expectName(.keychainInteractionNotAllowed) {
                    _ = try await keychain.read(id, ["interaction-not-allowed": .bool(true)])
                }
            }
            sensor.templates = [:]
            sensor.isPresent = false
            sensor.changed("Present")
            try await bench.waitForDevice(is: "no-hardware")
            try await isThere()
            sensor.isPresent = true
            sensor.reason = "failed"
            sensor.changed("Present")
            sensor.changed("Unavailability")
            try await bench.waitForDevice(is: "failed")
            try await isThere()
            sensor.templates = templates
            sensor.reason = ""
            sensor.changed("Unavailability")
            try await bench.waitForDevice(is: "")
            sensor.isSilent = true
            try await isThere()
            sensor.speak()
            try await bench.waitForDevice(is: "")
            let call = keychain.reading(id)
            try await sensor.operation().succeed(template)
            #expect(try await call.value() == "secret")
        }
    }

    @Test("R69: after the password was removed, no call finds an item that needs one")
    func passcode() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            for (name, use) in Self.itemUses {
                bench.verifier.isPasscodeSet = true
                let id = try await keychain.add(name, accessible: "akpu")
                try await keychain.proxy.update(id: id, attributes: [:], options: [:])
                bench.verifier.isPasscodeSet = false
                await expectName(.keychainNotFound) { try await use(keychain, id) }
            }
            bench.verifier.isPasscodeSet = true
            _ = try await keychain.add("a", accessible: "akpu")
            bench.verifier.isPasscodeSet = false
            _ = try await keychain.add("a")
            #expect(try await keychain.services() == ["a"])
        }
    }

    @Test("R69: a key that needs a password requires one, and is deleted with it")
    func passcodeOfKey() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            // Without announcements, each call must query.
            bench.verifier.tells = false
            for (number, use) in Self.keyUses.map(\.use).enumerated() {
                let tag = UInt8(number)
                bench.verifier.isPasscodeSet = false
                await expectName(.keychainNotAvailable) {
                    _ = try await KeychainKey(keychain, tag: tag, accessible: "akpu")
                }
                bench.verifier.isPasscodeSet = true
                let key = try await KeychainKey(keychain, tag: tag, accessible: "akpu")
                _ = try await key.sign([1]).value()
                bench.verifier.isPasscodeSet = false
                await expectName(.keychainNotFound) { try await use(key) }
            }
            bench.verifier.isPasscodeSet = true
            #expect(try await keychain.proxy.search(query: [:], options: [:]) == [])
        }
    }

    @Test("R69: a removed password deletes its items, even if it is set again")
    func passcodeAgain() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let id = try await bench.keychain(person.connection).add("a", accessible: "akpu")
            bench.verifier.isPasscodeSet = false
            // This queries the verifier, but not the keychain.
            _ = try await bench.canEvaluate(1, as: person.connection)
            bench.verifier.isPasscodeSet = true
            let keychain = bench.keychain(person.connection)
            await expectName(.keychainNotFound) { _ = try await keychain.read(id) }

            let second = try await keychain.add("b", accessible: "akpu")
            // A verifier that does not answer invalidates no item.
            bench.verifier.isBroken = true
            #expect(try await keychain.services() == ["b"])
            bench.verifier.isBroken = false
            #expect(try await keychain.read(second) == "secret")
        }
    }

    @Test("R69: a withheld password hides its items until it returns")
    func withheld() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            bench.verifier.isLocked = true
            for (name, use) in Self.itemUses where name != "Delete" {
                bench.verifier.isPasscodeSet = true
                let id = try await keychain.add(name, accessible: "akpu")
                bench.verifier.isPasscodeSet = false
                for _ in 0..<2 {
                    await expectName(.keychainNotFound) { try await use(keychain, id) }
                }
                #expect(try await keychain.services() == [])
                #expect(try await keychain.proxy.delete(ids: [id]) == 0)
                // Hidden items also still count as duplicates.
                await expectName(.keychainDuplicate) { _ = try await keychain.add(name) }
                bench.verifier.isPasscodeSet = true
                #expect(try await keychain.read(id) == "secret")
                #expect(try await keychain.proxy.delete(ids: [id]) == 1)
            }
        }
    }

    @Test("L11b, R69: while the verifier is silent, no item that needs a password opens")
    func unsaidAtAll() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("a", accessible: "akpu")
            let any = try await keychain.add("b")
            let key = try await KeychainKey(keychain, accessible: "akpu")
            for isWithheld in [false, true] {
                bench.verifier.isLocked = isWithheld
                if isWithheld {
                    bench.verifier.isPasscodeSet = false
                    await expectName(.keychainNotFound) { _ = try await keychain.read(id) }
                    bench.verifier.isPasscodeSet = true
                }
                #expect(try await keychain.read(id) == "secret")
                // The account is locked, and the verifier announces only that something changed.
                bench.verifier.isBroken = true
                bench.verifier.tellChange()
                await expectName(.keychainAuthFailed) { _ = try await keychain.read(id) }
                await expectName(.keychainAuthFailed) { _ = try await key.sign([1]).value() }
                // No item is deleted, and items without a password requirement are readable.
                #expect(try await keychain.services() == ["a", "b"])
                #expect(try await keychain.read(any) == "secret")
                bench.verifier.isBroken = false
                #expect(try await keychain.read(id) == "secret")
                _ = try await key.sign([1]).value()
            }
            #expect(person.shownPrompts == 0)
        }
    }

    @Test("L11b, R69: a verifier that falls silent during the prompt opens no item")
    func unsaidMeanwhile() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("a", flags: .biometryAny, accessible: "akpu")
            let reading = keychain.reading(id)
            let operation = try await sensor.operation()
            bench.verifier.isBroken = true
            operation.succeed(template)
            await expectName(.keychainAuthFailed) { _ = try await reading.value() }
            bench.verifier.isBroken = false
            let again = keychain.reading(id)
            try await sensor.operation(1).succeed(template)
            #expect(try await again.value() == "secret")
        }
    }

    @Test("R69: a password removed while withheld deletes its items")
    func removedLater() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("a", accessible: "akpu")
            bench.verifier.isLocked = true
            bench.verifier.isPasscodeSet = false
            #expect(try await keychain.services() == [])
            bench.verifier.isLocked = false
            // This queries the verifier, but not the keychain.
            _ = try await bench.canEvaluate(2, as: person.connection)
            bench.verifier.isPasscodeSet = true
            await expectName(.keychainNotFound) { _ = try await keychain.read(id) }
        }
    }

    @Test("R69: without a confirmed removal of the password no item is deleted")
    func unsaid() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("a", accessible: "akpu")
            bench.verifier.knowsRemoval = false
            bench.verifier.isPasscodeSet = false
            #expect(try await keychain.services() == [])
            bench.verifier.isPasscodeSet = true
            #expect(try await keychain.read(id) == "secret")
        }
    }
}
