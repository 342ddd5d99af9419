import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

@Suite("Operations of sensors", .timeLimit(.minutes(10)))
struct SensorOperationTests {
    /// Adds a person, and a sensor with a template of theirs.
    @BusActor
    private static func enrolled(
        _ bench: ServiceBench
    ) async throws -> (Person, ScriptedSensor, template: String) {
        let person = try await bench.person()
        let sensor = try await bench.sensor()
        return (person, sensor, sensor.add(for: person.peer.uid))
    }

    @Test("L16: events of other connections or operations are ignored")
    func forged() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await Self.enrolled(bench)
            let evaluation = bench.evaluate(person)
            let operation = try await sensor.operation()
            let forger = try bench.bus.connect()
            let (hint, ready) = (["hint": Variant.string("center")], [String: Variant]())
            for (kind, detail) in [("hint", hint), ("ready", ready)] {
                sensor.signals.event(
                    operation: operation.number + 1,
                    kind: kind,
                    detail: detail,
                    to: operation.daemon
                )
            }
            for _ in 0..<5 {
                sensor.tell(operation, "hint", hint, from: forger)
                sensor.tell(operation, "ready", from: forger)
                sensor.tell(operation, "no-match", from: forger)
                sensor.tell(operation, "no-match")
                for other in [forger, person.connection] {
                    await expectName(.invalidArgs) {
                        _ = try await sensor.miss(operation, attempt: 1, from: other)
                    }
                }
                await expectName(.invalidArgs) {
                    _ = try await SensorHost1Proxy(
                        sensor.connection,
                        destination: operation.daemon,
                        path: SensorHost1.path
                    )
                    .noMatch(operation: operation.number + 1, attempt: 1)
                }
            }
            forger.emit(
                path: ScriptedSensor.path,
                interface: "org.localauth.Sensor1",
                member: "TemplatesChanged",
                signature: "u"
            ) { writer throws(DBusError) in try writer.write(person.peer.uid) }
            let asked = sensor.count(of: "ListTemplates")
            // These replies arrive after all signals above were handled.
            _ = try await bench.manager(forger).version()
            _ = try await bench.manager(sensor.connection).version()
            #expect(sensor.count(of: "ListTemplates") == asked)
            #expect(!person.updates.seen.contains { ["hint", "sensor-ready"].contains($0.kind) })
            sensor.tell(operation, "hint", hint)
            _ = try await person.updates.first("the hint") { $0.kind == "hint" }
            operation.succeed(template)
            #expect(try await evaluation.value()["mechanism"] == .string("biometry"))
            #expect(try await bench.canEvaluate(as: person.connection).code == 0)
        }
    }

    @Test("R8, L5: a match after Cancel is never reported", arguments: [true, false])
    func matchAfterCancel(_ isAtOnce: Bool) async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await Self.enrolled(bench)
            sensor.onCancel = isAtOnce ? .match : .ignore
            let first = bench.evaluate(person)
            let operation = try await sensor.operation()
            try await bench.manager(person.connection).invalidate()
            #expect(await first.error() == .appCancel)
            _ = try await operation.canceled.first("Cancel") { $0 }
            let second = bench.evaluate(person)
            let next = try await sensor.operation(1)
            operation.succeed(template)
            await expectName(.invalidArgs) {
                _ = try await sensor.miss(operation, attempt: 1)
            }
            #expect(second.isPending)
            next.succeed(template)
            #expect(try await second.value()["sensor"] == .string("Third"))
        }
    }

    @Test("R8: a sensor busy with a canceled operation is asked again after its end")
    func busy() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await Self.enrolled(bench)
            sensor.onCancel = .ignore
            let first = bench.evaluate(person)
            let operation = try await sensor.operation()
            try await bench.manager(person.connection).invalidate()
            #expect(await first.error() == .appCancel)
            let second = bench.evaluate(person)
            try await sensor.operation(1).fail(.sensorBusy)
            _ = try await bench.manager(sensor.connection).version()
            #expect(second.isPending)
            operation.fail(.sensorCanceled)
            try await sensor.operation(2).succeed(template)
            #expect(try await second.value()["sensor"] == .string("Third"))
        }
    }

    @Test("L25: a busy sensor is reported to caller and prompt, and may become ready again")
    func inUse() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await Self.enrolled(bench)
            let context = try await bench.context(on: person.connection)
            let events = EventRecorder<(kind: String, detail: [String: Variant])>()
            _ = context.onEvent { kind, detail in events.record((kind, detail)) }
            let call = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            let (operation, start) = (try await sensor.operation(), ContinuousClock.now)
            let name = "zoom\u{202E}\n" + String(repeating: "x", count: 999)
            sensor.tell(operation, "busy", ["by": .string(name)])
            let busy = try await events.first("sensor-busy") { $0.kind == "sensor-busy" }
            #expect(busy.detail["sensor"] == .string("Third"))
            #expect(busy.detail["biometry-type"] == .uint32(1))
            let program = busy.detail["by"]?.asString ?? ""
            #expect(program.hasPrefix("zoom") && program.unicodeScalars.count <= 64)
            #expect(!program.unicodeScalars.contains("\u{202E}"))
            let shown = try await person.updates.first("sensor-busy") { $0.kind == "sensor-busy" }
            #expect(shown.by == program && shown.sensor == "Third")
            for _ in 0..<1000 {
                sensor.tell(operation, "ready")
                sensor.tell(operation, "busy", ["by": .string("")])
            }
            operation.succeed(template)
            _ = try await call.reply()
            let kinds = events.seen.map(\.kind)
            #expect(kinds.contains("sensor-ready"))
            #expect(kinds.count { $0 == "sensor-busy" } <= ScriptedSensor.most(since: start))
        }
    }

    @Test("L25: a sensor that refuses as busy is asked again until it is free")
    func refusesAsBusy() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await Self.enrolled(bench)
            let evaluation = bench.evaluate(person)
            for number in 0..<12 { try await sensor.operation(number).fail(.sensorBusy) }
            let last = try await sensor.operation(12)
            // With a pause after each refusal, the sensor starts within half a second of being
            // free.
            #expect(SensorOperations.busyPause <= .milliseconds(500))
            #expect(person.updates.seen.count { $0.kind == "sensor-busy" } == 1)
            last.succeed(template)
            #expect(try await evaluation.value()["sensor"] == .string("Third"))
        }
    }

    @Test("A sensor's reason for its fault reaches the prompt and the caller")
    func reason() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await Self.enrolled(bench)
            let evaluation = bench.evaluate(person)
            try await sensor.operation().fail(.sensorDenied)
            #expect(await evaluation.error() == .biometryNotAvailable)
            _ = try await person.updates.first("sensor-failed") {
                $0.kind == "sensor-failed" && $0.cause == "denied"
            }
        }
    }

    /// How a sensor is lost during a verification.
    enum Loss: CaseIterable {
        /// The device is removed before the prompt is shown.
        case unpluggedEarly
        case unplugged
        /// The sensor and its program are uninstalled.
        case removed
        case crashed
        /// The sensor crashes before it is ready.
        case crashedEarly
        case hung
        case lied

        /// The cause in the prompt.
        var cause: String {
            switch self {
            case .unpluggedEarly, .unplugged, .removed: "missing"
            case .crashed, .crashedEarly, .hung, .lied: "failed"
            }
        }

        /// The caller's error message.
        var message: String {
            cause == "missing"
                ? "No biometric sensor is left: The sensor is not connected."
                : "No biometric sensor is left: The sensor failed."
        }
    }

    @BusActor
    private static func lose(_ sensor: ScriptedSensor, _ loss: Loss) async throws {
        switch loss {
        case .unpluggedEarly: break
        case .unplugged:
            sensor.isPresent = false
            sensor.changed("Present")
        case .removed, .crashed, .crashedEarly: sensor.connection.close()
        case .hung: sensor.isSilent = true
        case .lied:
            sensor.type = 77
            sensor.changed("BiometryType")
        }
    }

    @Test(
        "A sensor lost during a verification is reported with its cause to prompt and app",
        arguments: Loss.allCases
    )
    func lost(_ loss: Loss) async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await Self.enrolled(bench)
            if [.crashed, .crashedEarly].contains(loss) {
                try await bench.bus.allowSuccessor(of: "org.localauth.Sensor1.Third")
            }
            if loss == .unpluggedEarly {
                person.beforeAnswer = {
                    sensor.isPresent = false
                    sensor.changed("Present")
                    try? await bench.waitForDevice(is: "no-hardware")
                }
            }
            let context = try await bench.context(on: person.connection)
            let events = EventRecorder<(kind: String, detail: [String: Variant])>()
            _ = context.onEvent { kind, detail in events.record((kind, detail)) }
            let call = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            if loss != .unpluggedEarly {
                let operation = try await sensor.operation()
                if loss != .crashedEarly { sensor.tell(operation, "ready") }
                try await Self.lose(sensor, loss)
            }
            let failed = try await events.first("sensor-failed", within: .seconds(60)) {
                $0.kind == "sensor-failed"
            }
            #expect(failed.detail["sensor"] == .string("Third"))
            #expect(failed.detail["cause"] == .string(loss.cause))
            do throws(DBusError) {
                _ = try await call.reply()
                Issue.record("evaluated without a sensor")
            } catch {
                #expect(error.name == .biometryNotAvailable)
                #expect(error.message == loss.message)
            }
            let updates = person.updates.seen.filter { $0.kind == "sensor-failed" }
            #expect(updates.map(\.cause) == [loss.cause])
        }
    }

    @Test("L16: a sensor that does not end a canceled operation within 5 s fails, and recovers")
    func unanswered() async throws {
        try await ServiceBench.run { bench in
            #expect(SensorOperations.patience == .seconds(5))
            let (person, sensor, _) = try await Self.enrolled(bench)
            sensor.onCancel = .ignore
            let reasons = EventRecorder<String>()
            let source = bench.device()
                .onPropertiesChanged { changed, _ in
                    if let reason = changed["Unavailability"]?.asString { reasons.record(reason) }
                }
            defer { source.cancel() }
            let evaluation = bench.evaluate(person)
            _ = try await sensor.operation()
            try await bench.manager(person.connection).invalidate()
            #expect(await evaluation.error() == .appCancel)
            _ = try await reasons.first("failed", within: .seconds(30)) { $0 == "failed" }
            try await bench.waitForDevice(is: "", within: .seconds(30))
        }
    }

    @Test("L16: a match with a template that the user does not have does not count")
    func unknownTemplate() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await Self.enrolled(bench)
            _ = sensor.add(for: person.peer.uid + 1)
            let evaluation = bench.evaluate(person)
            try await sensor.operation().succeed("template-2")
            #expect(await evaluation.error() == .biometryNotAvailable)
            let checks = try await bench.manager(person.connection).diagnose()
            let told = checks.compactMap { $0["message"]?.asString }
            let words = "a template that the user doesn't have"
            #expect(told.contains { $0.contains(words) }, "\(told)")
        }
    }

    @Test("Contract 3: a device removed during a verification gives -6, and afterwards -13")
    func absent() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await Self.enrolled(bench)
            let evaluation = bench.evaluate(person)
            let operation = try await sensor.operation()
            sensor.isPresent = false
            sensor.changed("Present")
            #expect(await evaluation.error() == .biometryNotAvailable)
            _ = try await operation.canceled.first("Cancel") { $0 }
            #expect(try await bench.canEvaluate(as: person.connection).code == -13)
            sensor.connection.close()
            try await bench.waitForNoDevice()
            #expect(try await bench.canEvaluate(as: person.connection).code == -13)
        }
    }

    @Test("L16: a new owner of the name ends operations of the previous owner")
    func replaced() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await Self.enrolled(bench)
            let evaluation = bench.evaluate(person)
            let operation = try await sensor.operation()
            sensor.connection.releaseName("org.localauth.Sensor1.Third")
            _ = try await bench.bus.waitForOwner(of: "org.localauth.Sensor1.Third", false)
            let second = ScriptedSensor("Third", on: try bench.bus.connect())
            second.templates = sensor.templates
            try second.appear()
            #expect(await evaluation.error() == .biometryNotAvailable)
            try await bench.waitForDevice(is: "")
            let next = bench.evaluate(person)
            _ = try await second.operation()
            operation.succeed(template)
            sensor.tell(operation, "ready")
            _ = try await bench.manager(sensor.connection).version()
            #expect(next.isPending)
            try await second.operation().succeed(template)
            #expect(try await next.value()["mechanism"] == .string("biometry"))
        }
    }

    /// What a sensor that the bus can start has signalled before a handover of its name.
    enum Handover: CaseIterable {
        case nothing
        /// Ready for the operation.
        case ready
        /// Nothing, and the signal about its name is lost.
        case unheard
    }

    @Test(
        "L16: the result of a sensor that gave its name away is ignored",
        arguments: Handover.allCases
    )
    func handedOver(_ handover: Handover) async throws {
        try await ServiceBench.run { bench in
            let (person, first, template) = try await Self.enrolled(bench)
            let name = "org.localauth.Sensor1.Third"
            try await bench.bus.allowSuccessor(of: name)
            if handover == .unheard { try await bench.bus.lose(.nameOwnerChanged) }
            let evaluation = bench.evaluate(person)
            let operation = try await first.operation()
            if handover == .ready { first.tell(operation, "ready") }
            try await first.connection.giveUpName(name)
            if handover == .ready {
                #expect(await evaluation.error(within: .seconds(30)) == .biometryNotAvailable)
            }
            let second = ScriptedSensor("Third", on: try bench.bus.connect())
            second.templates = first.templates
            try second.appear()
            // After this reply, the service knows the second sensor, if the signal was not lost.
            _ = try await bench.manager(second.connection).version()
            operation.succeed(template)
            switch handover {
            case .nothing:
                let next = try await second.operation()
                #expect(evaluation.isPending)
                next.succeed(template)
                #expect(try await evaluation.value()["mechanism"] == .string("biometry"))
            case .ready, .unheard:
                #expect(await evaluation.error() == .biometryNotAvailable)
            }
        }
    }

    @Test("L16: a sensor that gives its name away during its list query has no match")
    func handedOverInBetween() async throws {
        try await ServiceBench.run { bench in
            let (person, first, _) = try await Self.enrolled(bench)
            let name = "org.localauth.Sensor1.Third"
            try await bench.bus.allowSuccessor(of: name)
            let second = ScriptedSensor("Third", on: try bench.bus.connect())
            let evaluation = bench.evaluate(person)
            let operation = try await first.operation()
            // The service does not know the template, so it queries the lists of both.
            let template = first.add(for: person.peer.uid, announcing: false)
            second.templates = first.templates
            let asked = first.count(of: "ListTemplates")
            first.unanswered.insert("ListTemplates")
            operation.succeed(template)
            try await eventually("the question") { first.count(of: "ListTemplates") > asked }
            try await first.connection.giveUpName(name)
            try second.appear()
            _ = try await bench.manager(second.connection).version()
            first.speak()
            let next = try await second.operation()
            #expect(evaluation.isPending)
            next.succeed(template)
            #expect(try await evaluation.value()["mechanism"] == .string("biometry"))
        }
    }

    @Test("L16: a sensor that hangs during a verification is given up, and the prompt ends")
    func hanging() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await Self.enrolled(bench)
            let evaluation = bench.evaluate(person)
            _ = try await sensor.operation()
            sensor.isSilent = true
            #expect(await evaluation.error() == .biometryNotAvailable)
            _ = try await person.ends.first("the end of the prompt") { _ in true }
            #expect(try await bench.device().unavailability() == "failed")
        }
    }

    @Test("L16: excess hints and a repeated ready signal are dropped")
    func hints() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await Self.enrolled(bench)
            let context = try await bench.context(on: person.connection)
            let events = EventRecorder<String>()
            _ = context.onEvent { kind, _ in events.record(kind) }
            let call = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            let (operation, start) = (try await sensor.operation(), ContinuousClock.now)
            for _ in 0..<1000 {
                sensor.tell(operation, "ready")
                sensor.tell(operation, "hint", ["hint": .string("center")])
                sensor.tell(operation, "hint", ["hint": .string("<b>\u{202E}no word")])
            }
            operation.succeed(template)
            _ = try await call.reply()
            #expect(events.seen.filter { $0 == "sensor-ready" }.count == 1)
            let most = ScriptedSensor.most(since: start)
            #expect((1...most).contains(events.seen.filter { $0 == "hint" }.count))
        }
    }

    @Test("L5: all usable sensors verify at once, and the first match cancels the others")
    func together() async throws {
        try await ServiceBench.run { bench in
            let (person, first, _) = try await Self.enrolled(bench)
            let second = try await bench.sensor("Second")
            let template = second.add(for: person.peer.uid)
            let evaluation = bench.evaluate(person)
            let looking = try await first.operation()
            try await second.operation().succeed(template)
            #expect(try await evaluation.value()["sensor"] == .string("Second"))
            _ = try await looking.canceled.first("Cancel") { $0 }
        }
    }
}

extension ServiceBench {
    /// Starts a one-shot evaluation.
    func evaluate(_ person: Person, _ policy: UInt32 = 1) -> RunningEvaluation {
        RunningEvaluation(manager(person.connection), policy)
    }
}

/// A running call of Evaluate and its result.
@BusActor
final class RunningEvaluation {
    private let ended = EventRecorder<Result<[String: Variant], DBusError>>()

    init(_ manager: Authentication1Proxy, _ policy: UInt32) {
        onLoop {
            do throws(DBusError) {
                let result = try await manager.evaluate(
                    policy: policy,
                    reason: "open the vault",
                    options: [:]
                )
                self.ended.record(.success(result))
            } catch {
                self.ended.record(.failure(error))
            }
        }
    }

    var isPending: Bool { ended.seen.isEmpty }

    func value() async throws -> [String: Variant] {
        try await ended.first("the end", within: .seconds(60)) { _ in true }.get()
    }

    /// Returns the name of the evaluation's error; nil if it succeeded or did not end.
    func error(within limit: Duration = .seconds(60)) async -> DBusError.Name? {
        let end = try? await ended.first("the end", within: limit) { _ in true }
        guard case .failure(let error)? = end else { return nil }
        return error.name
    }
}
