import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// The rules for apps, tested on the real daemon.
@Suite("Rules for apps", .timeLimit(.minutes(10)))
struct AppRuleTests {
    @Test("R1, R3, R4, R5: 3 misses end a prompt, 2 more lock biometry, the password unlocks it")
    func lockout() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            person.passcode = nil
            let first = try bench.begin(person.connection)
            let operation = try await sensor.operation()
            for (attempt, left) in [(1, 2), (2, 1), (3, 0)] as [(UInt32, UInt32)] {
                #expect(try await sensor.miss(operation, attempt: attempt) == left)
            }
            await expectName(.authenticationFailed) { _ = try await first.reply() }
            let app = try person.app(bench.bus)
            #expect(try await bench.canEvaluate(as: app).code == 0)
            let second = try bench.begin(app)
            let next = try await sensor.operation(1)
            #expect(try await sensor.miss(next, attempt: 1) == 1)
            #expect(try await bench.canEvaluate(as: app).code == 0)
            #expect(try await sensor.miss(next, attempt: 2) == 0)
            await expectName(.biometryLockout) { _ = try await second.reply() }

            #expect(try await bench.canEvaluate(as: person.connection).code == -8)
            #expect(try await bench.canEvaluate(2, as: person.connection).code == 0)
            let locked = try bench.begin(person.connection)
            await expectName(.biometryLockout) { _ = try await locked.reply() }
            #expect(person.prompts.seen.count == 2)
            let passcode = try bench.begin(person.connection, 2)
            let prompt = try await person.prompt(2)
            #expect(prompt.details["stage"] == .string("passcode"))
            person.enter("wrong", into: prompt)
            for await event in passcode.events where event.kind == "passcode-rejected" { break }
            #expect(try await bench.canEvaluate(as: app).code == -8)
            person.enter(ScriptedVerifier.passcode, into: prompt)
            #expect(try await passcode.reply()["mechanism"] == .string("passcode"))
            #expect(try await bench.canEvaluate(as: app).code == 0)
            #expect(sensor.operations.seen.count == 2)
        }
    }

    @Test("R7: MaxBiometryFailures can be set and has no effect")
    func maxFailures() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            try await context.setMaxBiometryFailures(1)
            #expect(try await context.maxBiometryFailures() == 1)
            let call = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            let operation = try await sensor.operation()
            for left in [UInt32(2), 1] {
                try await sensor.miss(operation)
                for await event in call.events where event.kind == "no-match" {
                    #expect(event.detail["attempts-left"] == .uint32(left))
                    break
                }
            }
            operation.succeed(template)
            #expect(try await call.reply()["mechanism"] == .string("biometry"))
            // A higher value adds no attempts either.
            let other = try await bench.context(on: person.connection)
            try await other.setMaxBiometryFailures(100)
            let failing = try other.evaluateStream(policy: 1, reason: "test", options: [:])
            try await sensor.miss(try await sensor.operation(1), 3)
            await expectName(.authenticationFailed) { _ = try await failing.reply() }
        }
    }

    @Test("R14: CanEvaluate shows no prompt, and works within events, replies and Begin")
    func canEvaluateWithin() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let own = bench.manager(person.connection)
            let codes = EventRecorder<Int32>()
            let ask: @BusActor @Sendable () async -> Void = {
                for policy in [UInt32(1), 2, 3, 4] {
                    let answer = try? await own.canEvaluate(policy: policy)
                    codes.record(answer?.code ?? 1)
                    if answer?.code == 0 { #expect(answer?.message == "") }
                }
            }
            await ask()
            #expect(person.prompts.seen.isEmpty && sensor.operations.seen.isEmpty)
            person.beforeAnswer = ask
            let call = try bench.begin(person.connection)
            let operation = try await sensor.operation()
            sensor.tell(operation, "ready")
            for await event in call.events where event.kind == "sensor-ready" {
                await ask()
                break
            }
            operation.succeed(template)
            _ = try await call.reply()
            await ask()
            #expect(codes.seen == Array(repeating: [0, 0, -11, 0], count: 4).flatMap(\.self))
            #expect(person.prompts.seen.count == 1)
        }
    }

    @Test("R20: an empty reason is InvalidArgs in Apple's words, before any other error")
    func emptyReason() async throws {
        try await ServiceBench.run { bench in
            let context = try await bench.context()
            try await context.invalidate()
            let empty = "Non-empty localizedReason must be provided."
            let long = (String(repeating: "x", count: 65_537), "the reason is over 64 KiB")
            // All other arguments are wrong as well.
            let wrong: [String: Variant] = [
                "timeout": .string("soon"), "requester": .uint32(7), "uid": .uint32(.max),
            ]
            for (reason, message) in ["", " \n", "\u{202E}\u{7}"].map({ ($0, empty) }) + [long] {
                for number in 0..<3 {
                    do throws(DBusError) {
                        switch number {
                        case 0:
                            _ =
                                try await context
                                .evaluate(policy: 9, reason: reason, options: wrong)
                        case 1:
                            _ = try await context.evaluateAccessControl(
                                accessControl: ["flags": .string("1")],
                                operation: 6,
                                reason: reason,
                                options: wrong
                            )
                        default:
                            _ = try await bench.manager
                                .evaluate(policy: 9, reason: reason, options: wrong)
                        }
                        Issue.record("the reason was taken")
                    } catch {
                        #expect(error.name == .invalidArgs)
                        #expect(error.message == message)
                    }
                }
            }
        }
    }

    @Test("R24: Cancel is UserCancel, fallback is UserFallback, only from the prompt's agent")
    func cancelAndFallback() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let (own, other) = (bench.manager(person.connection), bench.manager)
            let canceled = try bench.begin(person.connection)
            let prompt = try await person.prompt().handle
            await expectName(.accessDenied) { try await other.submitCancel(prompt: prompt) }
            await expectName(.accessDenied) { try await own.submitCancel(prompt: "no such") }
            await expectName(.invalidArgs) { try await own.submitFallback(prompt: prompt) }
            try await own.submitCancel(prompt: prompt)
            await expectName(.userCancel) { _ = try await canceled.reply() }
            await expectName(.accessDenied) { try await own.submitCancel(prompt: prompt) }

            let call = try bench.begin(person.connection)
            let operation = try await sensor.operation(1)
            try await sensor.miss(operation)
            for await event in call.events where event.kind == "fallback-available" { break }
            let second = try await person.prompt(1).handle
            await expectName(.accessDenied) { try await other.submitFallback(prompt: second) }
            try await own.submitFallback(prompt: second)
            await expectName(.userFallback) { _ = try await call.reply() }
            _ = try await operation.canceled.first("Cancel") { $0 }
            #expect(person.ends.seen == ["canceled", "fallback"])
        }
    }

    @Test("R13, R36: without interaction the error is NotInteractive, unless another error applies")
    func interactionNotAllowed() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            try await context.setInteractionNotAllowed(true)
            for policy in [UInt32(1), 2] {
                await expectName(.notInteractive) {
                    _ = try await context.evaluate(policy: policy, reason: "test", options: [:])
                }
            }
            let option: [String: Variant] = ["interaction-not-allowed": .bool(true)]
            await expectName(.notInteractive) {
                _ = try await bench.begin(person.connection, 1, option).reply()
            }
            #expect(person.prompts.seen.isEmpty)
            // The call's option overrides the context's property.
            let call = try context.evaluateStream(
                policy: 1,
                reason: "test",
                options: ["interaction-not-allowed": .bool(false)]
            )
            try await sensor.operation().succeed(template)
            _ = try await call.reply()
            // A stored success needs no prompt.
            let again = try await context.evaluate(policy: 1, reason: "test", options: [:])
            #expect(again["mechanism"] == .string("context"))
            sensor.templates = [:]
            await expectName(.biometryNotEnrolled) {
                _ = try await bench.begin(person.connection, 1, option).reply()
            }
        }
    }

    @Test("R42: the type depends on the hardware only, also on fresh contexts")
    func biometryType() async throws {
        try await ServiceBench.run { bench in
            #expect(try await bench.manager.biometryType() == 0)
            let iris = try await bench.sensor("Iris") { $0.type = 4 }
            #expect(try await bench.manager.biometryType() == 4)
            _ = try await bench.sensor("Face") { $0.type = 2 }
            _ = try await bench.sensor("Finger") {
                $0.type = 1
                $0.saidStrength = "weak"
            }
            _ = try await bench.sensor("Key") { $0.type = 0 }
            // The strongest type wins, then the lower number.
            #expect(try await bench.manager.biometryType() == 2)
            #expect(try await bench.manager.biometryTypes() == [1, 2, 4])
            let context = try await bench.context()
            #expect(try await context.biometryType() == 2)
            #expect(try await bench.canEvaluateCode(context) == -7)
            #expect(try await context.biometryType() == 2)
            try await bench.manager.requirePasscode(uid: bench.uid, cause: "test")
            iris.isPresent = false
            iris.changed("Present")
            try await bench.waitForDevice("Iris", is: "no-hardware")
            #expect(try await bench.context().biometryType() == 2)
            #expect(try await bench.manager.biometryTypes() == [1, 2, 4])
            try await context.invalidate()
            #expect(try await context.biometryType() == 0)
        }
    }

    @Test("R51: an app learns mechanism and sensor, but never a template")
    func noTemplates() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            let calls = [
                try context.evaluateStream(policy: 1, reason: "test", options: [:]),
                try bench.begin(person.connection, 2),
            ]
            for (number, call) in calls.enumerated() {
                let operation = try await sensor.operation(number)
                sensor.tell(operation, "ready", ["template": .string(template)])
                sensor.tell(operation, "hint", ["hint": .string(template), "score": .double(0.9)])
                try await sensor.miss(operation)
                operation.succeed(template)
                let result = try await call.reply()
                let keys = ["mechanism", "biometry-type", "sensor", "strength", "domain-state"]
                #expect(Set(result.keys) == Set(keys))
                var said = "\(result)"
                for await event in call.events { said += "\(event)" }
                #expect(said.contains("no-match"))
                #expect(!said.contains(template) && !said.contains("score"))
                // The app gets the verdict as the reply. Only the prompt gets the event.
                #expect(!said.contains("success"))
                _ = try await person.updates.first("the verdict") { _ in
                    person.updates.seen.count { $0.kind == "success" } == number + 1
                }
            }
            let details = person.prompts.seen.map(\.details)
            #expect(details.count == 2 && !"\(details)".contains(template))
        }
    }
}

extension ServiceBench {
    /// Adds a person, and a sensor with a template of theirs.
    func enrolled(
        _ prepare: @BusActor (ScriptedSensor) -> Void = { _ in }
    ) async throws -> (Person, ScriptedSensor, template: String) {
        let person = try await person()
        let sensor = try await sensor("Third", prepare)
        return (person, sensor, sensor.add(for: person.peer.uid))
    }

    /// Starts a one-shot evaluation.
    func begin(
        _ connection: Connection,
        _ policy: UInt32 = 1,
        _ options: [String: Variant] = [:],
        reason: String = "test"
    ) throws -> StreamingCall<[String: Variant]> {
        try Authentication1Proxy(connection, destination: daemon.owner, path: TestDaemon.root)
            .evaluateStream(policy: policy, reason: reason, options: options)
    }
}
