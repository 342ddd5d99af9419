import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// The life of a context, tested on the real daemon.
@Suite("Rules for contexts", .timeLimit(.minutes(10)))
struct ContextRuleTests {
    @Test("R31: Invalidate ends calls with AppCancel, later calls are InvalidContext or default")
    func invalidate() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            try await context.setLocalizedFallbackTitle("a")
            try await context.setLocalizedCancelTitle("b")
            try await context.setLocalizedReason("c")
            try await context.setReuseDuration(4)
            try await context.setMaxBiometryFailures(5)
            #expect(try await context.setPassword("word"))
            #expect(try await bench.canEvaluateCode(context) == 0)
            let call = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            let operation = try await sensor.operation()
            try await context.invalidate()
            await expectName(.appCancel) { _ = try await call.reply() }
            _ = try await operation.canceled.first("Cancel") { $0 }
            try await context.setInteractionNotAllowed(true)
            try await context.invalidate()

            let answer = try await context.canEvaluate(policy: 2)
            #expect(!answer.available && answer.code == -10)
            await expectName(.invalidContext) {
                _ = try await context.evaluate(policy: 2, reason: "test", options: [:])
            }
            await expectName(.invalidContext) {
                _ = try await context.evaluateAccessControl(
                    accessControl: ["flags": .uint64(1)],
                    operation: 1,
                    reason: "test",
                    options: [:]
                )
            }
            #expect(try await !context.setPassword("word"))
            #expect(try await !context.isCredentialSet(credentialType: 0))
            #expect(try await context.localizedFallbackTitle() == "")
            #expect(try await context.localizedCancelTitle() == "")
            #expect(try await context.localizedReason() == "")
            #expect(try await context.reuseDuration() == 0)
            #expect(try await context.maxBiometryFailures() == 0)
            #expect(try await !context.interactionNotAllowed())
            #expect(try await context.biometryType() == 0)
            #expect(try await context.evaluatedPolicyDomainState().isEmpty)
            #expect(try await bench.state(context).isEmpty)
            #expect(person.prompts.seen.count == 1)

            // This context still has values that the context above had lost before.
            let other = try await bench.context(on: person.connection)
            #expect(try await bench.canEvaluateCode(other) == 0)
            #expect(try await other.evaluatedPolicyDomainState().count == 32)
            try await other.invalidate()
            #expect(try await other.evaluatedPolicyDomainState().isEmpty)
            #expect(try await !other.clearCredential(credentialType: 0))
        }
    }

    @Test("Only the creator of a context gets signals about changed properties")
    func announced() async throws {
        try await ServiceBench.run { bench in
            let context = try await bench.context()
            let other = Context1Proxy(
                try bench.bus.connect(),
                destination: bench.daemon.owner,
                path: context.path
            )
            let (told, overheard) = (
                EventRecorder<[String: Variant]>(), EventRecorder<[String: Variant]>()
            )
            _ = context.onPropertiesChanged { values, _ in told.record(values) }
            _ = other.onPropertiesChanged { values, _ in overheard.record(values) }
            _ = try await bench.manager(other.connection).version()
            try await context.setLocalizedFallbackTitle("a")
            try await context.setLocalizedCancelTitle("b")
            try await context.setLocalizedReason("c")
            try await context.setLocalizedReason("c")
            try await context.setInteractionNotAllowed(true)
            try await context.setReuseDuration(4)
            try await context.setMaxBiometryFailures(5)
            try await context.setSuccessDuration(6)
            try await context.invalidate()
            let reset = try await told.first("the end") { $0["BiometryType"] == .uint32(0) }
            #expect(
                told.seen.dropLast() == [
                    ["LocalizedFallbackTitle": .string("a")],
                    ["LocalizedCancelTitle": .string("b")], ["LocalizedReason": .string("c")],
                    ["InteractionNotAllowed": .bool(true)],
                    ["ReuseDuration": .double(4)], ["MaxBiometryFailures": .uint32(5)],
                    ["SuccessDuration": .double(6)],
                ]
            )
            #expect(reset["LocalizedReason"] == .string("") && reset["ReuseDuration"] == .double(0))
            _ = try await bench.manager(other.connection).version()
            #expect(overheard.seen.isEmpty)
        }
    }

    @Test("R22, R23, R33, R34, R36: CreateContext's properties count as if set later")
    func properties() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let quiet = try await bench.context(
                on: person.connection,
                [
                    "InteractionNotAllowed": .bool(true), "LocalizedReason": .string("r"),
                    "MaxBiometryFailures": .uint32(4), "ReuseDuration": .double(300),
                ]
            )
            #expect(try await quiet.interactionNotAllowed())
            #expect(try await quiet.localizedReason() == "r")
            #expect(try await quiet.maxBiometryFailures() == 4)
            #expect(try await quiet.reuseDuration() == 300)
            await expectName(.notInteractive) {
                _ = try await quiet.evaluate(policy: 1, reason: "test", options: [:])
            }
            // Only root can report unlocks.
            if bench.uid == 0 {
                try await bench.manager.reportUnlock(uid: person.peer.uid, method: "biometry")
                let reused = try await quiet.evaluate(policy: 1, reason: "test", options: [:])
                #expect(reused["mechanism"] == .string("reuse"))
            }

            let asking = try await bench.context(
                on: person.connection,
                [
                    "LocalizedCancelTitle": .string("Later"),
                    "LocalizedFallbackTitle": .string(""), "SuccessDuration": .double(0),
                ]
            )
            #expect(try await asking.successDuration() == 0)
            for number in 0..<2 {
                let call = try asking.evaluateStream(policy: 1, reason: "test", options: [:])
                try await sensor.operation(number).succeed(template)
                #expect(try await call.reply()["mechanism"] == .string("biometry"))
                let details = try await person.prompt(number).details
                #expect(details["fallback-title"] == .string(""))
                #expect(details["cancel-title"] == .string("Later"))
            }

            for name in ["SuccessDuration", "ReuseDuration"] {
                for wrong in [-1, Double.infinity, .nan] {
                    await expectName(.invalidArgs) {
                        _ = try await bench.context(on: person.connection, [name: .double(wrong)])
                    }
                }
            }
        }
    }

    @Test("R32: releasing a context ends its evaluation with AppCancel")
    func release() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            let call = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            let operation = try await sensor.operation()
            try await context.release()
            await expectName(.appCancel) { _ = try await call.reply() }
            _ = try await operation.canceled.first("Cancel") { $0 }
            await expectName(.unknownObject) { _ = try await context.canEvaluate(policy: 1) }
        }
    }

    @Test("L16: a context is visible only to its connection, not to others of the user")
    func visibility() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let own = try await bench.context(on: person.connection)
            #expect(try await own.successDuration() == 600)
            let app = try person.app(bench.bus)
            for connection in [app, bench.client] {
                let seen = Context1Proxy(
                    connection,
                    destination: bench.daemon.owner,
                    path: own.path
                )
                await expectName(.unknownObject) { _ = try await seen.canEvaluate(policy: 2) }
                await expectName(.unknownObject) { _ = try await seen.successDuration() }
                await expectName(.unknownObject) { try await seen.setPassword("word") }
                await expectName(.unknownObject) { try await seen.release() }
            }
            #expect(try await own.successDuration() == 600)
        }
    }

    @Test("L1: an evaluation in a context is for its creator, whatever uid is named")
    func foreignUser() async throws {
        try await ServiceBench.run { bench in
            let (person, _, _) = try await bench.enrolled()
            for connection in [person.connection, bench.client] {
                let context = try await bench.context(on: connection)
                for uid in [person.peer.uid, bench.uid] {
                    await expectName(.accessDenied) {
                        _ = try await context.evaluate(
                            policy: 2,
                            reason: "test",
                            options: ["uid": .uint32(uid), "timeout": .uint64(3000)]
                        )
                    }
                }
            }
            #expect(person.prompts.seen.isEmpty)
        }
    }

    @Test("A context's handle has 128 random bits")
    func handles() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            var (ones, zeros): (UInt128, UInt128) = (0, 0)
            for _ in 0..<40 {
                let context = try await bench.context(on: person.connection)
                let handle = context.path.rawValue.split(separator: "/").last ?? ""
                #expect(handle.utf8.count == 32)
                let bits = try #require(UInt128(handle, radix: 16))
                (ones, zeros) = (ones | bits, zeros | ~bits)
                try await context.release()
            }
            #expect(ones == .max && zeros == .max)
        }
    }

    @Test("L21: a connection has a limit of contexts, and a released context frees its place")
    func bound() async throws {
        let configuration = "[Limits]\nContextsPerConnection=3\n"
        try await ServiceBench.run(configuration: configuration) { bench in
            var contexts: [Context1Proxy] = []
            for _ in 0..<3 { contexts.append(try await bench.context()) }
            await expectName(.limitsExceeded) { _ = try await bench.context() }
            let other = try bench.bus.connect()
            _ = try await bench.context(on: other)
            try await contexts[1].release()
            _ = try await bench.context()
            await expectName(.limitsExceeded) { _ = try await bench.context() }
        }
    }

    @Test("R33: a context repeats its success without a prompt, a new context prompts")
    func reuse() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            let first = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            try await sensor.operation().succeed(template)
            let state = try await first.reply()["domain-state"]
            for policy in [UInt32(1), 2, 4] {
                let again = try await context.evaluate(policy: policy, reason: "a", options: [:])
                #expect(again["mechanism"] == .string("context"))
                #expect(again["domain-state"] == state)
            }
            #expect(person.prompts.seen.count == 1)
            let other = try await bench.context(on: person.connection)
            let asked = try other.evaluateStream(policy: 1, reason: "test", options: [:])
            try await sensor.operation(1).succeed(template)
            #expect(try await asked.reply()["mechanism"] == .string("biometry"))
            // A changed enrolment ends the success.
            _ = sensor.add(for: person.peer.uid, announcing: false)
            let changed = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            try await sensor.operation(2).succeed(template)
            #expect(try await changed.reply()["mechanism"] == .string("biometry"))
        }
    }

    @Test("R33: SuccessDuration ends a success earlier, and may be very long")
    func successDuration() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            #expect(try await context.successDuration() == 600)
            for wrong in [-1, Double.infinity, .nan] {
                await expectName(.invalidArgs) { try await context.setSuccessDuration(wrong) }
            }
            // A huge number of seconds is valid too.
            try await context.setSuccessDuration(1e300)
            #expect(try await context.successDuration() == 1e300)
            let first = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            try await sensor.operation().succeed(template)
            _ = try await first.reply()
            let again = try await context.evaluate(policy: 1, reason: "test", options: [:])
            #expect(again["mechanism"] == .string("context"))
            try await context.setSuccessDuration(0)
            let asked = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            try await sensor.operation(1).succeed(template)
            #expect(try await asked.reply()["mechanism"] == .string("biometry"))
            #expect(try await context.successDuration() == 0)
        }
    }

    @Test("R37: each type of credential can be set, queried and removed, in its context only")
    func credentials() async throws {
        try await ServiceBench.run { bench in
            let (context, other) = (try await bench.context(), try await bench.context())
            for (type, second) in [(Int32(0), Int32(-3)), (-3, 0)] {
                #expect(try await !context.isCredentialSet(credentialType: type))
                #expect(try await context.setPassword("word", type: type))
                #expect(try await context.isCredentialSet(credentialType: type))
                #expect(try await !context.isCredentialSet(credentialType: second))
                #expect(try await !other.isCredentialSet(credentialType: type))
                #expect(try await context.setPassword("", type: type))
                #expect(try await context.clearCredential(credentialType: type))
                #expect(try await !context.isCredentialSet(credentialType: type))
            }
            for type in [Int32(0), -3] {
                #expect(try await context.setPassword("word", type: type))
            }
            #expect(try await context.isCredentialSet(credentialType: 0))
            #expect(try await context.isCredentialSet(credentialType: -3))
            #expect(try await context.clearCredential(credentialType: -3))
            #expect(try await context.isCredentialSet(credentialType: 0))
            #expect(try await !context.isCredentialSet(credentialType: -3))
            #expect(try await context.clearCredential(credentialType: 0))
            for type in [Int32(-1), 1, 3, .min] {
                await expectName(.invalidArgs) {
                    try await context.setPassword("word", type: type)
                }
                await expectName(.invalidArgs) {
                    _ = try await context.isCredentialSet(credentialType: type)
                }
            }
            await expectName(.invalidArgs) {
                _ = try await context.setCredential(
                    credentialType: 0,
                    secret: Array("word".utf8),
                    options: ["sealed": .bool(true)]
                )
            }
            #expect(try await !context.isCredentialSet(credentialType: 0))
        }
    }

    @Test("R40: no state during an evaluation, after cancel, without enrolment or in a lockout")
    func noState() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            person.passcode = nil
            let context = try await bench.context(on: person.connection)
            #expect(try await context.evaluatedPolicyDomainState().isEmpty)
            #expect(try await bench.canEvaluateCode(context) == 0)
            let state = try await context.evaluatedPolicyDomainState()
            #expect(state.count == 32)
            let call = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            _ = try await sensor.operation()
            #expect(try await context.evaluatedPolicyDomainState().isEmpty)
            let prompt = try await person.prompt().handle
            try await bench.manager(person.connection).submitCancel(prompt: prompt)
            await expectName(.userCancel) { _ = try await call.reply() }
            #expect(try await context.evaluatedPolicyDomainState().isEmpty)
            #expect(try await bench.canEvaluateCode(context, 4) == 0)
            #expect(try await context.evaluatedPolicyDomainState() == state)

            let templates = sensor.templates
            sensor.templates = [:]
            sensor.signals.templatesChanged(uid: person.peer.uid)
            #expect(try await bench.canEvaluateCode(context) == -7)
            #expect(try await context.evaluatedPolicyDomainState().isEmpty)
            sensor.templates = templates
            sensor.signals.templatesChanged(uid: person.peer.uid)
            #expect(try await bench.canEvaluateCode(context) == 0)
            let again = try await context.evaluatedPolicyDomainState()
            #expect(again.count == 32 && again != state, "removed and added again")

            for number in 1...2 {
                let failing = try bench.begin(person.connection)
                let operation = try await sensor.operation(number)
                try await sensor.miss(operation, 3)
                _ = try? await failing.reply()
            }
            #expect(try await bench.canEvaluateCode(context) == -8)
            #expect(try await context.evaluatedPolicyDomainState().isEmpty)
            #expect(try await bench.canEvaluateCode(context, 2) == 0)
            #expect(try await context.evaluatedPolicyDomainState().isEmpty)
            #expect(sensor.templates[person.peer.uid]?.first?.id == template)
        }
    }

    @Test("R41: biometry and companions each change the combined state")
    func combined() async throws {
        try await ServiceBench.run { bench in
            let finger = try await bench.sensor("Finger")
            let key = try await bench.sensor("Key") { $0.type = 0 }
            _ = finger.add(for: bench.uid)
            let context = try await bench.context()
            var seen: Set<[UInt8]> = []
            func states() async throws -> (biometry: [UInt8], combined: [UInt8]) {
                _ = try await bench.canEvaluateCode(context)
                let state = try await context.domainState()
                return (state["biometry"]?.asBytes ?? [], state["combined"]?.asBytes ?? [])
            }
            let first = try await states()
            seen = [first.combined]
            _ = key.add(for: bench.uid)
            let second = try await states()
            #expect(second.biometry.count == 32 && second.biometry != second.combined)
            #expect(seen.insert(second.combined).inserted)
            _ = finger.add(for: bench.uid)
            let third = try await states()
            #expect(third.biometry != second.biometry)
            #expect(seen.insert(third.combined).inserted)
        }
    }
}
