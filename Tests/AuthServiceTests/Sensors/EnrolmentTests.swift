import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

@Suite("Enrolment through Device1", .timeLimit(.minutes(10)))
struct EnrolmentTests {
    // Some tests run on the loop, which must have started before.
    init() { EventLoop.shared.startThread() }

    @Test("R50: an enrolment asks for the password first, and only its caller gets progress")
    func enrolment() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            let overheard = EventRecorder<String>()
            _ = bench.device().onEvent { kind, _ in overheard.record(kind) }
            let call = try bench.enroll(person)
            let operation = try await sensor.operation()
            let prompt = try #require(person.prompts.seen.first)
            #expect(prompt.details["stage"] == .string("passcode"))
            #expect(operation.uid == person.peer.uid)
            sensor.tell(operation, "stage", ["stage": .uint32(1), "stages": .int32(2)])
            sensor.tell(operation, "hint", ["hint": .string("center")])
            let id = sensor.add(for: person.peer.uid)
            operation.succeed(id)
            #expect(try await call.reply() == id)
            var kinds: [String] = []
            for await event in call.events where ["stage", "hint"].contains(event.kind) {
                kinds.append(event.kind)
            }
            #expect(kinds == ["stage", "hint"])
            _ = try await bench.device().strength()
            #expect(overheard.seen.isEmpty)
            #expect(try await bench.canEvaluate(as: person.connection).code == 0)
        }
    }

    @Test("Enroll on an unusable sensor reports the sensor's reason")
    func unusable() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            _ = try await bench.sensor(expecting: "failed") { sensor in
                sensor.reason = "failed"
                sensor.state = "failed"
                sensor.health = "The models\u{202E} are missing."
            }
            let refusal = await #expect(throws: DBusError.self) {
                try await bench.device(on: person.connection).enroll(label: "x", options: [:])
            }
            #expect(refusal?.name == .biometryNotAvailable)
            let message = "The sensor Third can't be used now (failed): The models are missing."
            #expect(refusal?.message == message)
        }
    }

    @Test("R50: without the correct password no template is added or removed")
    func wrongPasscode() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            let id = sensor.add(for: person.peer.uid)
            person.passcode = nil
            let device = bench.device(on: person.connection)
            let window: [String: Variant] = [
                "parent-window": .string("x11:1a"), "activation-token": .string("token"),
            ]
            for number in 0..<3 {
                let ended = EventRecorder<DBusError.Name>()
                onLoop {
                    do throws(DBusError) {
                        switch number {
                        case 0: _ = try await device.enroll(label: "a", options: window)
                        case 1: try await device.removeTemplate(id: id, options: window)
                        default: _ = try await device.removeAllTemplates(options: window)
                        }
                    } catch {
                        ended.record(error.name)
                    }
                }
                let prompt = try await person.prompt(number)
                for (name, value) in window { #expect(prompt.details[name] == value) }
                person.enter("no passcode of theirs", into: prompt)
                try await eventually("the wrong passcode is refused") {
                    person.updates.seen.count { $0.kind == "passcode-rejected" } > number
                }
                try await bench.manager(person.connection)
                    .submitCancel(prompt: person.prompts.seen[number].handle)
                #expect(try await ended.first("an error") { _ in true } == .userCancel)
            }
            #expect(sensor.operations.seen.isEmpty)
            #expect(
                sensor.count(of: "RemoveTemplate") + sensor.count(of: "RemoveAllTemplates") == 0
            )
        }
    }

    @Test(
        "R50: a password in the caller's context within 60 s is enough, in others it is not"
    )
    func lentContext() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            let id = sensor.add(for: person.peer.uid)
            let context = try await bench.context(on: person.connection)
            let device = bench.device(on: person.connection)
            let options: [String: Variant] = ["context": .objectPath(context.path)]
            // A context that was not evaluated does not help, so the daemon prompts.
            try await device.removeTemplate(id: id, options: options)
            #expect(person.prompts.seen.count == 1)
            _ = try await context.evaluate(
                policy: 2,
                reason: "test",
                options: ["sensors": .strings([])]
            )
            #expect(person.prompts.seen.count == 2)
            let second = sensor.add(for: person.peer.uid)
            try await device.removeTemplate(id: second, options: options)
            #expect(person.prompts.seen.count == 2)

            let other = try await bench.context()
            await expectName(.unknownObject) {
                _ = try await device.removeAllTemplates(
                    options: ["context": .objectPath(other.path)]
                )
            }
            try await context.invalidate()
            _ = try await device.removeAllTemplates(options: options)
            #expect(person.prompts.seen.count == 3)
        }
    }

    @Test("R50: a password that is 60 s old on the boot clock must be given again")
    func staleContext() async throws {
        let faults = try Faults()
        try await ServiceBench.run(environment: faults.environment) { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            let ids = (0..<2).map { _ in sensor.add(for: person.peer.uid) }
            let context = try await bench.context(on: person.connection)
            let device = bench.device(on: person.connection)
            let options: [String: Variant] = ["context": .objectPath(context.path)]
            _ = try await context.evaluate(
                policy: 2,
                reason: "test",
                options: ["sensors": .strings([])]
            )
            faults.setClocks(wall: 61)
            try await device.removeTemplate(id: ids[0], options: options)
            #expect(person.prompts.seen.count == 1)
            faults.setClocks(boot: 61)
            try await device.removeTemplate(id: ids[1], options: options)
            #expect(person.prompts.seen.count == 2)
        }
    }

    @Test("R50: a password counts for templates for exactly 60 s")
    @BusActor
    func freshness() throws {
        var engine = AuthEngine()
        let (client, context, id) = (ClientID(1), ContextID(1), EvaluationID(1))
        let given = Instant(nanoseconds: 1_000_000_000)
        let agent = Agent(id: AgentID(1), client: client, uid: 7, session: "s", kind: .normal)
        var request = Request(
            id: id,
            client: client,
            context: context,
            uid: 7,
            policy: .biometricsOrPasscode
        )
        request.sensors = []
        var events: [Event] = [.agentRegistered(agent), .requested(request)]
        var answer: Outcome?
        while !events.isEmpty {
            for effect in engine.step(events.removeFirst(), at: given) {
                switch effect {
                case .lookUp: events.append(.lookedUp(id, Facts(passcode: .set, session: "s")))
                case .begin: events += [.promptBegan(id), .passcodeOffered(id)]
                case .verifyPasscode: events.append(.passcodeVerified(id, .correct))
                case .save(let save, _, _): events.append(.saved(save))
                case .reply(_, let outcome): answer = outcome
                default: break
                }
            }
        }
        guard case .granted = answer else { throw TestFailure("no grant: \(answer as Any)") }
        func isFresh(
            _ age: Duration,
            in other: ContextID? = nil,
            of uid: UInt32 = 7
        ) -> Bool {
            Authorization.isFresh(other ?? context, uid, engine, at: given + age)
        }
        #expect(isFresh(.zero))
        #expect(isFresh(.seconds(60)))
        #expect(!isFresh(.seconds(60) + .nanoseconds(1)))
        #expect(!isFresh(.zero, in: ContextID(2)))
        #expect(!isFresh(.zero, of: 8))
    }

    @Test(
        "L1: root needs no password, and only root may name another user",
        .enabled(if: getuid() == 0, "needs root")
    )
    func root() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            let options: [String: Variant] = ["uid": .uint32(person.peer.uid)]
            let call = try bench.device().enrollStream(label: "a", options: options)
            let operation = try await sensor.operation()
            #expect(operation.uid == person.peer.uid)
            operation.succeed(sensor.add(for: person.peer.uid))
            _ = try await call.reply()
            #expect(try await bench.device().listTemplates(options: options).count == 1)
            #expect(try await bench.device().listTemplates(options: [:]).isEmpty)
            let device = bench.device(on: person.connection)
            let roots = sensor.add(for: bench.uid)
            for uid in [person.peer.uid, bench.uid] {
                let named: [String: Variant] = ["uid": .uint32(uid)]
                await expectName(.accessDenied) {
                    _ = try await device.listTemplates(options: named)
                }
                await expectName(.accessDenied) {
                    _ = try await device.enroll(label: "", options: named)
                }
                await expectName(.accessDenied) {
                    try await device.removeTemplate(id: roots, options: named)
                }
                await expectName(.accessDenied) {
                    _ = try await device.removeAllTemplates(options: named)
                }
            }
            #expect(sensor.operations.seen.count == 1)
            #expect(try await bench.device().listTemplates(options: [:]).map(\.id) == [roots])
            #expect(try await bench.device().removeAllTemplates(options: options) == 1)
            #expect(person.prompts.seen.isEmpty)
        }
    }

    @Test("A sensor runs one enrolment at a time, and CancelEnroll ends it with AppCancel")
    func cancel() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            let first = try bench.enroll(person)
            let operation = try await sensor.operation()
            await expectName(.sensorBusy) { _ = try await bench.enroll(person).reply() }
            // CancelEnroll by another connection has no effect.
            try await bench.device().cancelEnroll()
            #expect(operation.canceled.seen.isEmpty)
            try await bench.device(on: person.connection).cancelEnroll()
            await expectName(.appCancel) { _ = try await first.reply() }
            _ = try await operation.canceled.first("Cancel") { $0 }

            person.passcode = nil
            let second = try bench.enroll(person)
            _ = try await person.prompts.first("a prompt") { _ in person.prompts.seen.count == 2 }
            try await bench.device(on: person.connection).cancelEnroll()
            await expectName(.appCancel) { _ = try await second.reply() }
            _ = try await person.ends.first("the end") { $0 == "canceled" }
            #expect(sensor.operations.seen.count == 1)

            person.passcode = ScriptedVerifier.passcode
            let third = try bench.enroll(person)
            try await sensor.operation(1).succeed(sensor.add(for: person.peer.uid))
            _ = try await third.reply()
        }
    }

    @Test("Of two authorized enrolments one runs and the other gets Busy")
    func together() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            person.passcode = nil
            let app = try person.app(bench.bus)
            var calls: [StreamingCall<String>] = []
            for connection in [person.connection, app] {
                let device = bench.device(on: connection)
                calls.append(try device.enrollStream(label: "a", options: [:]))
                // After this reply, the first call has its prompt, and the second waits.
                _ = try await bench.manager(connection).version()
                _ = try await person.prompt()
            }
            person.enter(ScriptedVerifier.passcode, into: try await person.prompt())
            let operation = try await sensor.operation()
            person.enter(ScriptedVerifier.passcode, into: try await person.prompt(1))
            await expectName(.sensorBusy) { _ = try await calls[1].reply() }
            operation.succeed(sensor.add(for: person.peer.uid))
            _ = try await calls[0].reply()
            #expect(sensor.operations.seen.count == 1)
        }
    }

    @Test("An enrolment whose caller leaves is canceled, and the sensor is free again")
    func leaving() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            _ = try bench.enroll(person)
            let operation = try await sensor.operation()
            person.connection.close()
            _ = try await operation.canceled.first("Cancel") { $0 }
            let other = try await bench.person()
            let call = try bench.enroll(other)
            try await sensor.operation(1).succeed(sensor.add(for: other.peer.uid))
            _ = try await call.reply()
        }
    }

    @Test("An enrolment times out with SystemCancel, during the prompt or on the sensor")
    func deadline() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            // The timeout must pass during the enrolment on the sensor, so allow more time on a
            // busy machine.
            for milliseconds: UInt64 in [3000, 20_000, 100_000]
            where sensor.operations.seen.isEmpty {
                await expectName(.systemCancel) {
                    _ = try await bench.enroll(person, ["timeout": .uint64(milliseconds)]).reply()
                }
            }
            let operation = try await sensor.operation()
            _ = try await operation.canceled.first("Cancel") { $0 }
            person.passcode = nil
            await expectName(.systemCancel) {
                _ = try await bench.enroll(person, ["timeout": .uint64(500)]).reply()
            }
            await expectName(.invalidArgs) {
                _ = try await bench.enroll(person, ["timeout": .uint64(600_001)]).reply()
            }
            let device = bench.device(on: person.connection)
            let id = sensor.add(for: person.peer.uid)
            await expectName(.systemCancel) {
                try await bench.answer(within: .seconds(60)) {
                    try await device.removeTemplate(id: id, options: ["timeout": .uint64(500)])
                }
            }
        }
    }

    @Test("Enrolments count towards the eight pending calls of a connection")
    func quota() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            var calls: [StreamingCall<String>] = []
            for number in 0..<9 {
                let name = "S\(number)"
                let sensor = try await bench.sensor(name)
                let device = bench.device(name, on: person.connection)
                calls.append(try device.enrollStream(label: "a", options: [:]))
                if number < 8 { _ = try await sensor.operation() }
            }
            let last = calls[8]
            await expectName(.limitsExceeded) { _ = try await last.reply() }
            #expect(await bench.evaluate(person, 2).error() == .limitsExceeded)
            try await bench.device("S0", on: person.connection).cancelEnroll()
            let first = calls[0]
            await expectName(.appCancel) { _ = try await first.reply() }
            person.passcode = nil
            let evaluation = bench.evaluate(person, 2)
            let count = person.prompts.seen.count
            _ = try await person.prompts.first("a prompt") { _ in
                person.prompts.seen.count > count || person.prompts.seen.count == 9
            }
            #expect(evaluation.isPending)
        }
    }

    @Test("A sensor's errors have the service's texts, and failures add the sensor's reason")
    func faults() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            let errors: [(DBusError.Name, String)] = [
                (.sensorFull, "There is no room for another template."),
                (.sensorDuplicate, "This is enrolled already."),
                (.sensorFailed, "The sensor failed: scripted"),
                (.sensorDenied, "The sensor is not allowed to: scripted"),
            ]
            for (number, (name, message)) in errors.enumerated() {
                let call = try bench.enroll(person)
                try await sensor.operation(number).fail(name)
                do throws(DBusError) {
                    _ = try await call.reply()
                    Issue.record("enrolled in spite of \(name)")
                } catch {
                    #expect(error.name == name && error.message == message)
                }
            }
        }
    }

    @Test("An enrolment's error tells whether its sensor left or crashed")
    func departure() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            let call = try bench.enroll(person)
            _ = try await sensor.operation(0)
            sensor.connection.close()
            await expectName(.sensorDisconnected) { _ = try await call.reply() }

            let other = try await bench.sensor("Fourth")
            try await bench.bus.allowSuccessor(of: "org.localauth.Sensor1.Fourth")
            let second = try bench.device("Fourth", on: person.connection)
                .enrollStream(label: "finger", options: [:])
            _ = try await other.operation(0)
            other.connection.close()
            await expectName(.sensorFailed) { _ = try await second.reply() }
        }
    }

    @Test("An unknown template is NoTemplates before any prompt, a malformed id is InvalidArgs")
    func unknownTemplate() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            _ = try await bench.sensor()
            let device = bench.device(on: person.connection)
            await expectName(.sensorNoTemplates) {
                try await device.removeTemplate(id: "no such", options: [:])
            }
            await expectName(.sensorNoTemplates) {
                try await device.renameTemplate(id: "no such", label: "", options: [:])
            }
            for id in ["", String(repeating: "x", count: 257)] {
                await expectName(.invalidArgs) {
                    try await device.removeTemplate(id: id, options: [:])
                }
            }
            #expect(person.prompts.seen.isEmpty)
        }
    }

    @Test("Labels and dates are bounded, from callers and from the sensor")
    func labels() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            let device = bench.device(on: person.connection)
            let id = sensor.add(for: person.peer.uid)
            try await device.renameTemplate(id: id, label: "my\u{202E}\u{1B} finger", options: [:])
            #expect(sensor.templates[person.peer.uid]?.first?.label == "my finger")
            await expectName(.invalidArgs) {
                let long = String(repeating: "x", count: 257)
                try await device.renameTemplate(id: id, label: long, options: [:])
            }
            await expectName(.invalidArgs) {
                let long = String(repeating: "x", count: 257)
                _ = try await device.enroll(label: long, options: [:])
            }
            let call = try device.enrollStream(label: "\u{7}my\u{2066} thumb", options: [:])
            try await sensor.operation().succeed(id)
            _ = try await call.reply()
            #expect(sensor.labels.seen == ["my thumb"])
            sensor.templates[person.peer.uid] = [
                Template(id: id, label: "\u{7}bell\u{2066}", created: 1)
            ]
            #expect(try await device.listTemplates(options: [:]).map(\.label) == ["bell"])
            // Dates must fit into a calendar.
            let dates: [(Int64, Int64)] = [(.max, 253_402_300_799), (-1, 0), (77, 77)]
            for (said, shown) in dates {
                sensor.templates[person.peer.uid] = [Template(id: id, label: "", created: said)]
                #expect(try await device.listTemplates(options: [:]).map(\.created) == [shown])
            }
        }
    }
}

extension ServiceBench {
    /// Starts an Enroll call of a person.
    func enroll(
        _ person: Person,
        _ options: [String: Variant] = [:]
    ) throws -> StreamingCall<String> {
        try device(on: person.connection).enrollStream(label: "finger", options: options)
    }
}

/// Expects a call to fail with this error.
@BusActor
func expectName(
    _ name: DBusError.Name,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @BusActor () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("expected \(name), got an answer", sourceLocation: sourceLocation)
    } catch {
        #expect((error as? DBusError)?.name == name, sourceLocation: sourceLocation)
    }
}
