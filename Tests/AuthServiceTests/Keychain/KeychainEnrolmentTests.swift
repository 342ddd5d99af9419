import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// What items hold on to, and what takes them away, on the real daemon.
@Suite("Keychain items and enrolments", .timeLimit(.minutes(10)))
struct KeychainEnrolmentTests {
    /// One call on an item or a key.
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

    @Test("R67: after a change behind the daemon's back no call finds an item or a key")
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
            // Nor is one in the way.
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

    @Test("R67: whoever is enrolled while the prompt is up gets no item by it")
    func meanwhile() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            // A match with a template that is known has nobody ask for the others.
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

    @Test("R67: a context that was evaluated before the change opens nothing after it")
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

    @Test("R67: a change counts that was made while the daemon was down, or its sensor away")
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

            // The sensor comes back after the daemon.
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

    @Test("L21: what a Search finds is not kept while sensors are asked, but looked for again")
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

    @Test("L17, R67: a change that was noticed counts, though it was undone before a restart")
    func undone() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let id = try await bench.keychain(person.connection)
                .add("one", flags: .biometryCurrentSet)
            let templates = sensor.templates
            _ = sensor.add(for: person.peer.uid)
            // The sensors are asked, the keychain isn't.
            _ = try await bench.canEvaluate(1, as: person.connection)
            sensor.templates = templates
            try await bench.restartDaemon()
            try await bench.waitForDevice(is: "")
            let keychain = bench.keychain(person.connection)
            await expectName(.keychainNotFound) { _ = try await keychain.read(id) }
            #expect(try await keychain.services() == [])
        }
    }

    @Test("L17, R67: items of an enrolment whose files are lost come back with the files")
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

    @Test("R67: what is enrolled anew after all was removed opens no item of before")
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

    @Test("R67: a sensor that is absent, out of use or silent takes nothing away")
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

    @Test("R69: no call finds an item that needs a passcode once there is none")
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

    @Test("R69: a key that needs a passcode isn't made without one, and goes with it")
    func passcodeOfKey() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            // Each call has to ask.
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

    @Test("R69: a passcode that was seen to be gone takes items along, though it is set again")
    func passcodeAgain() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let id = try await bench.keychain(person.connection).add("a", accessible: "akpu")
            bench.verifier.isPasscodeSet = false
            // The verifier is asked, the keychain isn't.
            _ = try await bench.canEvaluate(1, as: person.connection)
            bench.verifier.isPasscodeSet = true
            let keychain = bench.keychain(person.connection)
            await expectName(.keychainNotFound) { _ = try await keychain.read(id) }

            let second = try await keychain.add("b", accessible: "akpu")
            // A verifier that gives no answer takes nothing away.
            bench.verifier.isBroken = true
            #expect(try await keychain.services() == ["b"])
            bench.verifier.isBroken = false
            #expect(try await keychain.read(second) == "secret")
        }
    }

    @Test("R69: while the passcode is withheld its items are hidden, and they come back with it")
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
                // Nor does it give way to another item.
                await expectName(.keychainDuplicate) { _ = try await keychain.add(name) }
                bench.verifier.isPasscodeSet = true
                #expect(try await keychain.read(id) == "secret")
                #expect(try await keychain.proxy.delete(ids: [id]) == 1)
            }
        }
    }

    @Test("L11b, R69: while nobody says whether there is a passcode, no such item is opened")
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
                // It is locked, and the verifier says no more than that something changed.
                bench.verifier.isBroken = true
                bench.verifier.tellChange()
                await expectName(.keychainAuthFailed) { _ = try await keychain.read(id) }
                await expectName(.keychainAuthFailed) { _ = try await key.sign([1]).value() }
                // Nothing is deleted, and what needs no passcode is given out.
                #expect(try await keychain.services() == ["a", "b"])
                #expect(try await keychain.read(any) == "secret")
                bench.verifier.isBroken = false
                #expect(try await keychain.read(id) == "secret")
                _ = try await key.sign([1]).value()
            }
            #expect(person.shownPrompts == 0)
        }
    }

    @Test("L11b, R69: none is opened when the verifier falls silent while the prompt is up")
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

    @Test("R69: a passcode that is removed while it is withheld takes its items along")
    func removedLater() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("a", accessible: "akpu")
            bench.verifier.isLocked = true
            bench.verifier.isPasscodeSet = false
            #expect(try await keychain.services() == [])
            bench.verifier.isLocked = false
            // The verifier is asked, the keychain isn't.
            _ = try await bench.canEvaluate(2, as: person.connection)
            bench.verifier.isPasscodeSet = true
            await expectName(.keychainNotFound) { _ = try await keychain.read(id) }
        }
    }

    @Test("R69: where nobody says that the passcode is gone for good, nothing is deleted")
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
