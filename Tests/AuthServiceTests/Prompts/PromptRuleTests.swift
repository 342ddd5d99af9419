import BusGuard
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

/// Prompts for the person at the machine, tested on the real daemon.
@Suite("Rules for prompts", .timeLimit(.minutes(10)))
struct PromptRuleTests {
    /// Returns the details of an evaluation's prompt, and cancels it.
    @BusActor
    private static func shown(
        _ call: StreamingCall<[String: Variant]>,
        to person: Person,
        on bench: ServiceBench
    ) async throws -> [String: Variant] {
        let prompt = try await person.prompt(person.ends.seen.count)
        try await bench.manager(person.connection).submitCancel(prompt: prompt.handle)
        await expectName(.userCancel) { _ = try await call.reply() }
        let count = person.prompts.seen.count
        _ = try await person.ends.first("the end") { _ in person.ends.seen.count == count }
        return prompt.details
    }

    @Test("R21, L14: the prompt gets the reason and the caller's process, but no claimed name")
    func reasonAndProcess() async throws {
        try await ServiceBench.run { bench in
            let (person, _, _) = try await bench.enrolled()
            let call = try bench.begin(
                person.connection,
                1,
                ["app-name": .string("Bank"), "sandbox-id": .string("org.bank")],
                reason: "open the \u{202E}vault\u{1B} of 王"
            )
            let details = try await Self.shown(call, to: person, on: bench)
            #expect(details["reason"] == .string("open the vault of 王"))
            #expect(details["pid"] == .uint32(UInt32(person.peer.pid)))
            #expect(details["sandboxed"] == .bool(false))
            for key in ["app-name", "app-icon", "app-id", "sandbox-id"] {
                #expect(details[key] == nil, "\(key)")
            }
            let long = String(repeating: "a", count: 600)
            let second = try bench.begin(person.connection, 2, reason: long)
            let cut = try await Self.shown(second, to: person, on: bench)["reason"]?.asString
            #expect(cut?.count == 512)
        }
    }

    @Test("A sensor's instructions reach the prompt, plain and short")
    func instructions() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let before = try await Self.shown(bench.begin(person.connection), to: person, on: bench)
            #expect(before["instructions"] == nil)
            #expect(before["sensor-types"] == .array(element: .uint32, [.uint32(1)]))
            let long = String(repeating: "x", count: 100)
            sensor.words = ["de": long, "en": "Hold your \u{202E}palm\n", "fr": "\u{1B}"]
            sensor.changed("Instructions")
            await bench.heard()
            let after = try await Self.shown(bench.begin(person.connection), to: person, on: bench)
            let expected = Variant.texts(["de": String(long.prefix(80)), "en": "Hold your palm"])
            #expect(after["instructions"] == .dictionary([sensor.name: expected]))
            let told = try await person.connection.properties(
                of: Device1.interface,
                at: ObjectPath(unchecked: Authentication1.path.rawValue + "/sensor/" + sensor.name),
                on: Authentication1.busName
            )
            #expect(told["Instructions"]?.asTexts == expected.asTexts)
        }
    }

    @Test("R22: without a title the fallback is default, an empty title hides it, others show")
    func fallbackTitle() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            for title in [nil, "", "Use my word\u{7}"] {
                let options = title.map { ["fallback-title": Variant.string($0)] } ?? [:]
                let call = try bench.begin(person.connection, 1, options)
                let details = try await Self.shown(call, to: person, on: bench)
                let expected = title.map { Variant.string($0 == "" ? "" : "Use my word") }
                #expect(details["fallback-title"] == expected)
            }
            let context = try await bench.context(on: person.connection)
            let unset = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            #expect(try await Self.shown(unset, to: person, on: bench)["fallback-title"] == nil)

            try await context.setLocalizedFallbackTitle("")
            let count = sensor.operations.seen.count
            let call = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            let operation = try await sensor.operation(count)
            // This title comes too late for the open prompt.
            try await context.setLocalizedFallbackTitle("Wo\u{202E}rd\u{7}")
            try await sensor.miss(operation)
            for await event in call.events where event.kind == "no-match" { break }
            let prompt = try await person.prompt(count)
            await expectName(.invalidArgs) {
                try await bench.manager(person.connection).submitFallback(prompt: prompt.handle)
            }
            let details = try await Self.shown(call, to: person, on: bench)
            #expect(details["fallback-title"] == .string(""))
            let last = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            let title = try await Self.shown(last, to: person, on: bench)["fallback-title"]
            #expect(title == .string("Word"))
        }
    }

    @Test("R23: without a cancel title, or with an empty one, the default shows")
    func cancelTitle() async throws {
        try await ServiceBench.run { bench in
            let (person, _, _) = try await bench.enrolled()
            for title in [nil, "", "La\u{202E}ter\u{7}"] {
                let options = title.map { ["cancel-title": Variant.string($0)] } ?? [:]
                let call = try bench.begin(person.connection, 1, options)
                let details = try await Self.shown(call, to: person, on: bench)
                #expect(details["cancel-title"] == (title ?? "" == "" ? nil : .string("Later")))
                let context = try await bench.context(on: person.connection)
                if let title { try await context.setLocalizedCancelTitle(title) }
                let other = try context.evaluateStream(policy: 1, reason: "test", options: [:])
                let second = try await Self.shown(other, to: person, on: bench)
                #expect(second["cancel-title"] == details["cancel-title"])
            }
        }
    }

    @Test("R25, L16: a silent or lost agent is SystemCancel, no agent is NotInteractive")
    func lostAgent() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let app = try person.app(bench.bus)
            person.beforeAnswer = { await never() }
            let start = ContinuousClock.now
            let silent = try bench.begin(app, 2)
            await expectName(.systemCancel) { _ = try await silent.reply() }
            #expect(ContinuousClock.now - start < .seconds(60), "its patience is 5 s")
            #expect(sensor.operations.seen.isEmpty, "nobody was asked")
            person.beforeAnswer = nil
            let left = try bench.begin(app)
            let operation = try await sensor.operation()
            person.connection.close()
            await expectName(.systemCancel) { _ = try await left.reply() }
            _ = try await operation.canceled.first("Cancel") { $0 }
            await expectName(.notInteractive) { _ = try await bench.begin(app).reply() }
            let next = try await bench.person()
            let call = try bench.begin(next.connection)
            try await sensor.operation(1).succeed(template)
            _ = try await call.reply()
        }
    }

    @Test("R25: an agent that refuses the prompt is SystemCancel, and no sensor starts")
    func refusingAgent() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            person.refusal = DBusError(.failed, "There is no screen.")
            let refused = try bench.begin(person.connection)
            let error = await #expect(throws: DBusError.self) { _ = try await refused.reply() }
            // The cause is the refusal, not a timeout.
            #expect(error?.name == .systemCancel)
            #expect(error?.message.contains("failed or left") == true)
            #expect(sensor.operations.seen.isEmpty)
            person.refusal = nil
            let shown = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            #expect(try await shown.reply()["mechanism"] == .string("biometry"))
        }
    }

    @Test("R25: stopping the service is SystemCancel for callers, and closes the prompt")
    func stopped() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let other = try await bench.sensor("Fourth")
            let enrolment = try bench.device("Fourth", on: person.connection)
                .enrollStream(label: "finger", options: [:])
            _ = try await other.operation()
            let call = try bench.begin(person.connection)
            _ = try await sensor.operation()
            bench.daemon.process.signal(SIGTERM)
            await expectName(.systemCancel) { _ = try await call.reply() }
            await expectName(.systemCancel) { _ = try await enrolment.reply() }
            _ = try await person.ends.first("the end of the prompt") { $0 == "system" }
        }
    }

    @Test("L21: an agent's unanswered calls keep their few places on the bus")
    func unanswered() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let app = try person.app(bench.bus)
            let word = EventRecorder<Bool>()
            person.beforeAnswer = {
                _ = try? await word.first("a word", within: .seconds(60)) { $0 }
            }
            for number in 0..<CallLane.prompts.perUser {
                let call = try bench.begin(app)
                _ = try await person.prompt(number)
                try await bench.manager(app).invalidate()
                await expectName(.appCancel) { _ = try await call.reply() }
            }
            // An agent with all places taken counts as failed after 5 s. No timeout of the service
            // frees a place.
            for _ in 0..<2 {
                await expectName(.systemCancel) { _ = try await bench.begin(app).reply() }
            }
            #expect(person.prompts.seen.count == CallLane.prompts.perUser, "not asked any more")
            let next = try bench.begin(app)
            word.record(true)
            try await sensor.operation().succeed(template)
            #expect(try await next.reply()["mechanism"] == .string("biometry"))
            #expect(person.prompts.seen.count == CallLane.prompts.perUser + 1)
        }
    }

    @Test(
        "L7: a weak face's match counts only after the prompt's agent confirmed it",
        arguments: ["weak", "convenience"]
    )
    func confirmation(by strength: String) async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled {
                $0.type = 2
                $0.saidStrength = strength
            }
            let own = bench.manager(person.connection)
            let call = try bench.begin(person.connection)
            let operation = try await sensor.operation()
            let prompt = try await person.prompt()
            #expect(prompt.details["require-confirmation"] == .bool(true))
            await expectName(.invalidArgs) { try await own.submitConfirm(prompt: prompt.handle) }
            operation.succeed(template)
            for await event in call.events where event.kind == "confirmation-required" { break }
            await expectName(.accessDenied) {
                try await bench.manager.submitConfirm(prompt: prompt.handle)
            }
            try await own.submitConfirm(prompt: prompt.handle)
            #expect(try await call.reply()["strength"] == .string(strength))

            let wish: [String: Variant] = ["require-confirmation": .bool(false)]
            let second = try bench.begin(person.connection, 1, wish)
            try await sensor.operation(1).succeed(template)
            #expect(try await second.reply()["mechanism"] == .string("biometry"))
            #expect(person.prompts.seen[1].details["require-confirmation"] == .bool(false))
        }
    }

    @Test("L8: the strength is reported, and below the requested minimum there is no biometry")
    func strength() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled { $0.saidStrength = "weak" }
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            #expect(try await call.reply()["strength"] == .string("weak"))
            let strong: [String: Variant] = ["minimum-strength": .string("strong")]
            await expectName(.biometryNotAvailable) {
                _ = try await bench.begin(person.connection, 1, strong).reply()
            }
            let passcode = try await bench.begin(person.connection, 2, strong).reply()
            #expect(passcode["mechanism"] == .string("passcode"))
            #expect(sensor.operations.seen.count == 1)
            let weak: [String: Variant] = ["minimum-strength": .string("weak")]
            let enough = try bench.begin(person.connection, 1, weak)
            try await sensor.operation(1).succeed(template)
            _ = try await enough.reply()
        }
    }

    @Test("L9: one prompt is shown, two calls of a connection wait, a third is LimitsExceeded")
    func queue() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let app = try person.app(bench.bus)
            var calls = [try bench.begin(person.connection)]
            _ = try await person.prompt()
            for connection in [app, person.connection, person.connection] {
                calls.append(try bench.begin(connection))
                // This reply arrives after the look-up of the waiting call.
                #expect(try await bench.canEvaluate(as: connection).code == 0)
            }
            let over = try bench.begin(person.connection)
            await expectName(.limitsExceeded) { _ = try await over.reply() }
            #expect(person.prompts.seen.count == 1 && sensor.operations.seen.count == 1)
            // The next waiting caller leaves, and its call is dropped.
            app.close()
            let name = app.uniqueName
            try await eventually("the app to be gone") {
                try await bench.client.nameOwner(name) == nil
            }
            for (number, call) in [calls[0], calls[2], calls[3]].enumerated() {
                try await sensor.operation(number).succeed(template)
                #expect(try await call.reply()["mechanism"] == .string("biometry"))
            }
            #expect(person.prompts.seen.count == 3)
        }
    }

    @Test(
        "L9: root's unlock of a user comes first, and ends the open prompt with SystemCancel",
        .enabled(if: getuid() == 0, "needs root")
    )
    func unlock() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let up = try bench.begin(person.connection)
            _ = try await sensor.operation()
            let waiting = try bench.begin(person.connection)
            #expect(try await bench.canEvaluate(as: person.connection).code == 0)
            let uid: [String: Variant] = ["uid": .uint32(person.peer.uid)]
            let unlock = try bench.begin(bench.client, 2, uid)
            await expectName(.systemCancel) { _ = try await up.reply() }
            try await sensor.operation(1).succeed(template)
            #expect(try await unlock.reply()["mechanism"] == .string("biometry"))
            try await sensor.operation(2).succeed(template)
            _ = try await waiting.reply()
            #expect(person.prompts.seen.count == 3)
        }
    }
}
