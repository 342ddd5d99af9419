import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// A sensor that does not list its templates may have different templates by now.
@Suite("Unanswered list queries", .timeLimit(.minutes(10)))
struct UnansweredListTests {
    enum Fault: CaseIterable {
        case refused
        case silent
        case malformed
        /// It left another user's query unanswered, and is in back-off.
        case failed
        /// It reports itself unusable, and lists no templates.
        case outOfUse
    }

    /// Makes the sensor stop listing templates; the returned closure restores it.
    @BusActor private static func begin(
        _ fault: Fault,
        _ sensor: ScriptedSensor,
        on bench: ServiceBench
    ) async throws -> @BusActor () -> Void {
        let templates = sensor.templates
        switch fault {
        case .refused: sensor.listError = .accessDenied
        case .silent: sensor.isSilent = true
        case .malformed:
            for uid in templates.keys { sensor.templates[uid]? += templates[uid] ?? [] }
        case .failed:
            sensor.isSilent = true
            await expectName(.biometryNotAvailable) {
                _ = try await bench.device().listTemplates(options: [:])
            }
            try await bench.waitForDevice(is: "failed")
        case .outOfUse:
            sensor.templates = [:]
            sensor.reason = "failed"
            sensor.changed("Unavailability")
            try await bench.waitForDevice(is: "failed")
        }
        return {
            sensor.listError = nil
            sensor.templates = templates
            sensor.speak()
            guard !sensor.reason.isEmpty else { return }
            sensor.reason = ""
            sensor.changed("Unavailability")
        }
    }

    @Test("L11b: a sensor that can't list one user still works for other users")
    func degraded() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let device = bench.device(on: person.connection)
            // The sensor has listed one user, but can't list the other.
            #expect(try await bench.device().listTemplates(options: [:]).isEmpty)
            sensor.listError = .sensorFailed
            await #expect(throws: DBusError.self) {
                _ = try await device.listTemplates(options: [:])
            }
            #expect(try await device.unavailability() == "")
            #expect(try await bench.state(bench.context(on: person.connection)).isEmpty)
            // Templates that can't be listed can still be removed.
            #expect(try await device.removeAllTemplates(options: [:]) == 1)
            sensor.listError = nil
            #expect(try await device.listTemplates(options: [:]).isEmpty)
        }
    }

    @Test("L11b: if too many users are unlisted, every user counts as unknown")
    func manyUsers() async throws {
        try await AuditBench.run { bench in
            let (sensor, _) = try await bench.sensor(for: getuid())
            let templates = try #require(bench.service.sensors.sensors[sensor.name]).templates
            #expect(!templates.isUnknown(of: 90_000))
            for uid in UInt32(100_000)...101_024 { templates.markStale(uid) }
            #expect(templates.isUnknown(of: 90_000))
        }
    }

    @Test(
        "L11b: without an answer of the verifier no prompt appears, despite earlier answers",
        arguments: [false, true]
    )
    func verifier(isSilent: Bool) async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            #expect(try await bench.canEvaluate(2, as: person.connection).available)
            if isSilent { bench.verifier.isHeld = true } else { bench.verifier.isBroken = true }
            let refusal = await #expect(throws: DBusError.self) {
                _ = try await bench.begin(person.connection, 2).reply()
            }
            // The cause is neither a timeout nor a missing password.
            #expect(refusal?.name == .passcodeNotSet)
            #expect(refusal?.message.contains("can't be asked") == true)
            #expect(person.prompts.seen.isEmpty)
        }
    }

    @Test(
        "L11b: a context is told when its domain state becomes empty and returns",
        arguments: Fault.allCases
    )
    func announced(_ fault: Fault) async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            let state = try await bench.state(context)
            let told = EventRecorder<[UInt8]>()
            _ = context.onPropertiesChanged { values, _ in
                let state = values["DomainState"]?.asDictionary?["biometry"]?.asBytes
                if let state { told.record(state) }
            }
            let end = try await Self.begin(fault, sensor, on: bench)
            // Each call queries the sensor in the background.
            try await eventually("nothing to be read") {
                _ = try await bench.canEvaluate(as: person.connection)
                return try await bench.state(context).isEmpty
            }
            #expect(told.seen == [[]])
            end()
            try await eventually("the state to be told") {
                _ = try await bench.canEvaluate(as: person.connection)
                return told.seen.last == state
            }
            #expect(told.seen == [[], state])
        }
    }

    @Test("L25: an evaluation waits for a sensor that has been too busy to list")
    func busy() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor { $0.listError = .sensorBusy }
            let template = sensor.add(for: person.peer.uid, announcing: false)
            // A short evaluation waits until its timeout.
            await expectName(.systemCancel) {
                _ = try await bench.begin(person.connection, 1, ["timeout": .uint64(3000)]).reply()
            }
            let asked = sensor.count(of: "ListTemplates")
            let evaluation = bench.evaluate(person)
            _ = try await sensor.calls.first("another question") { _ in
                sensor.count(of: "ListTemplates") > asked + 1
            }
            sensor.listError = nil
            try await sensor.operation().succeed(template)
            #expect(try await evaluation.value()["mechanism"] == .string("biometry"))
        }
    }

    @Test("L25: no call waits for a busy sensor that it excludes")
    func busyAside() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let busy = try await bench.sensor {
                $0.saidStrength = "weak"
                $0.listError = .sensorBusy
            }
            _ = try await bench.sensor("Fourth")
            for options: [String: Variant] in [
                ["sensors": .strings(["Fourth"])], ["minimum-strength": .string("strong")],
            ] {
                let asked = busy.count(of: "ListTemplates")
                await expectName(.biometryNotEnrolled) {
                    _ = try await bench.begin(person.connection, 1, options).reply()
                }
                // A wait would query it repeatedly for five seconds.
                #expect(busy.count(of: "ListTemplates") - asked < 4)
            }
        }
    }

    @Test(
        "L25: a busy sensor with an earlier list is reported, and verifies when free",
        arguments: [1, 2] as [UInt32]
    )
    func busyWithList(policy: UInt32) async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            #expect(try await bench.canEvaluate(as: person.connection).code == 0)
            person.passcode = nil
            sensor.listError = .sensorBusy
            let evaluation = bench.evaluate(person, policy)
            try await sensor.operation().fail(.sensorBusy)
            _ = try await person.updates.first("sensor-busy") { $0.kind == "sensor-busy" }
            sensor.listError = nil
            try await sensor.operation(1).succeed(template)
            let result = try await evaluation.value()
            #expect(result["mechanism"] == .string("biometry"))
            #expect(result["domain-state"]?.asBytes?.isEmpty == false)
        }
    }

    enum Moment: CaseIterable {
        /// Before the match, so that the new list lacks the template.
        case unlisted
        /// During the revalidation after the match.
        case matched
    }

    @Test(
        "L11b: a match with a template removed meanwhile grants nothing, and is no fault",
        arguments: Moment.allCases
    )
    func gone(_ moment: Moment) async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let uid = person.peer.uid
            let remains = sensor.add(for: uid)
            let call = try bench.begin(person.connection)
            let operation = try await sensor.operation()
            let remove: @BusActor @Sendable () -> Void = {
                guard sensor.templates[uid]?.count == 2 else { return }
                sensor.templates[uid]?.removeAll { $0.id == template }
                sensor.signals.templatesChanged(uid: uid)
            }
            switch moment {
            case .unlisted:
                sensor.unanswered = ["ListTemplates"]
                remove()
                operation.succeed(template)
                // After this reply, the daemon has handled the match.
                _ = try await bench.manager(sensor.connection).version()
                sensor.speak()
            case .matched:
                sensor.onLook = remove
                operation.succeed(template)
            }
            await expectName(.systemCancel) { _ = try await call.reply() }
            #expect(try await bench.device().unavailability() == "")
            let again = try bench.begin(person.connection)
            try await sensor.operation(1).succeed(remains)
            #expect(try await again.reply()["mechanism"] == .string("biometry"))
        }
    }

    @Test(
        "L7, L11b: a match whose template is removed before its confirmation grants nothing",
        arguments: [false, true]
    )
    func goneUnconfirmed(isBusy: Bool) async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled {
                $0.type = 2
                $0.saidStrength = "convenience"
            }
            let uid = person.peer.uid
            let template = sensor.add(for: uid)
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            for await event in call.events where event.kind == "confirmation-required" { break }
            // The sensor reports the removal when queried again, or can't list because it is busy.
            if isBusy {
                sensor.listError = .sensorBusy
            } else {
                sensor.unanswered = ["ListTemplates"]
            }
            sensor.templates[uid]?.removeAll { $0.id == template }
            sensor.signals.templatesChanged(uid: uid)
            _ = try await bench.manager(sensor.connection).version()
            let prompt = try await person.prompt()
            try await bench.manager(person.connection).submitConfirm(prompt: prompt.handle)
            sensor.speak()
            await expectName(.systemCancel) { _ = try await call.reply() }
        }
    }

    @Test("L11b: a match with an unannounced template counts for the changed enrolment")
    func unheardTemplate() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let first = bench.evaluate(person)
            try await sensor.operation().succeed(template)
            let before = try await first.value()["domain-state"]
            let second = bench.evaluate(person)
            let operation = try await sensor.operation(1)
            operation.succeed(sensor.add(for: person.peer.uid, announcing: false))
            let after = try await second.value()["domain-state"]
            #expect(after?.asBytes?.count == 32 && after != before)
        }
    }

    @Test("L25: a busy sensor delays neither the password nor another sensor")
    func busyBesideOthers() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            sensor.listError = .sensorBusy
            person.passcode = nil
            let begun = sensor.count(of: "ListTemplates")
            let byPasscode = bench.evaluate(person, 2)
            _ = try await person.prompts.first("a prompt") { _ in true }
            // A waiting evaluation would query a dozen times.
            #expect(sensor.count(of: "ListTemplates") < begun + 5)
            try await bench.manager(person.connection).invalidate()
            #expect(await byPasscode.error() == .appCancel)

            let other = try await bench.sensor("Fourth") { _ in }
            let template = other.add(for: person.peer.uid)
            let asked = sensor.count(of: "ListTemplates")
            let evaluation = bench.evaluate(person)
            let operation = try await other.operation()
            #expect(sensor.count(of: "ListTemplates") < asked + 5)
            operation.succeed(template)
            #expect(try await evaluation.value()["sensor"] == .string("Fourth"))
        }
    }

    @Test(
        "L25: beside a busy sensor, the password or another sensor's match still counts",
        arguments: [false, true]
    )
    func othersGoOn(isByPasscode: Bool) async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let other = try await bench.sensor("Fourth")
            let template = other.add(for: person.peer.uid, announcing: false)
            let evaluation = bench.evaluate(person, 2)
            let (busy, looking) = (try await sensor.operation(), try await other.operation())
            sensor.tell(busy, "busy", ["by": .string("zoom")])
            _ = try await person.updates.first("sensor-busy") { $0.kind == "sensor-busy" }
            if isByPasscode {
                let prompt = try await person.prompt()
                person.enter(ScriptedVerifier.passcode, into: prompt)
            } else {
                looking.succeed(template)
            }
            let mechanism = isByPasscode ? "passcode" : "biometry"
            #expect(try await evaluation.value()["mechanism"] == .string(mechanism))
            _ = try await busy.canceled.first("Cancel") { $0 }
        }
    }

    @Test(
        "L11b, R67: without a list, items of the current enrolment stay closed but are kept",
        arguments: Fault.allCases
    )
    func newFinger(_ fault: Fault) async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let uid = person.peer.uid
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("current", flags: .biometryCurrentSet)
            let context = try await bench.context(on: person.connection)
            let first = keychain.reading(id, context: context)
            try await sensor.operation().succeed(template)
            #expect(try await first.value() == "secret")
            let end = try await Self.begin(fault, sensor, on: bench)
            _ = sensor.add(for: uid, announcing: false)
            // fprintd may also report a match without the matching finger.
            let match = onLoop { try? await sensor.operation(1).succeed(template) }
            for context in [nil, context] {
                await expectName(.keychainAuthFailed) {
                    _ = try await keychain.read(id, context: context)
                }
            }
            await expectName(.biometryNotAvailable) {
                _ = try await bench.begin(person.connection).reply()
            }
            #expect(try await context.domainState()["biometry"] == .bytes([]))
            #expect(sensor.operations.seen.count == 1)
            match.cancel()

            // The templates are restored, so the item is still valid.
            end()
            try await bench.waitForDevice(is: "", within: .seconds(30))
            #expect(try await keychain.read(id, context: context) == "secret")
            let reading = keychain.reading(id)
            try await sensor.operation(1).succeed(template)
            #expect(try await reading.value() == "secret")
            _ = sensor.add(for: uid, announcing: false)
            for context in [nil, context] {
                await expectName(.keychainNotFound) {
                    _ = try await keychain.read(id, context: context)
                }
            }
        }
    }

    @Test(
        "L11b, R33: without a list, no context reuses its earlier biometric success",
        arguments: Fault.allCases
    )
    func earlierSuccess(_ fault: Fault) async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            @BusActor func evaluate() async throws -> [String: Variant] {
                try await context.evaluate(policy: 1, reason: "test", options: [:])
            }
            let match = onLoop { try? await sensor.operation().succeed(template) }
            defer { match.cancel() }
            #expect(try await evaluate()["mechanism"] == .string("biometry"))
            #expect(try await evaluate()["mechanism"] == .string("context"))
            let end = try await Self.begin(fault, sensor, on: bench)
            await expectName(.biometryNotAvailable) { _ = try await evaluate() }
            #expect(sensor.operations.seen.count == 1)

            end()
            try await bench.waitForDevice(is: "", within: .seconds(30))
            #expect(try await evaluate()["mechanism"] == .string("context"))
        }
    }

    @Test("L11b, R67: an unusable sensor with an unchanged list invalidates no item")
    func outOfUse() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let broken = try await bench.sensor("Broken", expecting: "failed") {
                $0.reason = "failed"
            }
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("current", flags: .biometryCurrentSet)
            let first = keychain.reading(id)
            try await sensor.operation().succeed(template)
            #expect(try await first.value() == "secret")

            let added = broken.add(for: person.peer.uid, announcing: false)
            let second = keychain.reading(id)
            try await sensor.operation(1).succeed(template)
            await expectName(.keychainAuthFailed) { _ = try await second.value() }
            broken.templates[person.peer.uid]?.removeAll { $0.id == added }
            let third = keychain.reading(id)
            try await sensor.operation(2).succeed(template)
            #expect(try await third.value() == "secret")
        }
    }

    @Test("L11b: a match of one sensor does not replace the missing list of another")
    func otherSensor() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let other = try await bench.sensor("Other")
            _ = other.add(for: person.peer.uid)
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("current", flags: .biometryCurrentSet)
            other.listError = .sensorFailed
            let reading = keychain.reading(id)
            try await sensor.operation().succeed(template)
            await expectName(.keychainAuthFailed) { _ = try await reading.value() }

            let call = try bench.begin(person.connection)
            try await sensor.operation(1).succeed(template)
            let result = try await call.reply()
            #expect(result["sensor"] == .string("Third"))
            #expect(result["domain-state"] == .bytes([]))
            await expectName(.keychainNotAvailable) {
                _ = try await keychain.add("another", flags: .biometryCurrentSet)
            }

            other.listError = nil
            try await bench.waitForDevice("Other", is: "", within: .seconds(30))
            let again = keychain.reading(id)
            try await sensor.operation(2).succeed(template)
            #expect(try await again.value() == "secret")
        }
    }
}
