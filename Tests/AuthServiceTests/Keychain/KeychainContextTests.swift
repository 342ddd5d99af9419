import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// What releases a guarded item, tested on the real daemon.
@Suite("Keychain items and contexts", .timeLimit(.minutes(10)))
struct KeychainContextTests {
    @Test("R35: an evaluated context reads without a prompt, a fresh context prompts once")
    func contexts() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("guarded", flags: .biometryAny)
            let bare = keychain.reading(id, reason: "open\u{202E} it")
            try await sensor.operation().succeed(template)
            #expect(try await bare.value() == "secret")
            let details = try await person.prompt().details
            #expect(details["reason"] == .string("open it"))
            #expect(details["fallback-title"] == .string(""))

            let evaluated = try await bench.context(on: person.connection)
            let evaluation = try evaluated.evaluateStream(policy: 1, reason: "a", options: [:])
            try await sensor.operation(1).succeed(template)
            _ = try await evaluation.reply()
            for _ in 0..<3 {
                #expect(try await keychain.read(id, context: evaluated) == "secret")
            }
            // Without a prompt, the reason may be empty.
            #expect(try await keychain.read(id, context: evaluated, reason: "") == "secret")
            #expect(person.shownPrompts == 2)

            let fresh = try await bench.context(on: person.connection)
            let first = keychain.reading(id, context: fresh)
            try await sensor.operation(2).succeed(template)
            #expect(try await first.value() == "secret")
            #expect(try await keychain.read(id, context: fresh) == "secret")
            #expect(person.shownPrompts == 3)
            // The proof counts for reading only and satisfies no policy.
            let policy = try fresh.evaluateStream(policy: 1, reason: "a", options: [:])
            _ = try await sensor.operation(3)
            try await person.cancel(on: bench)
            await expectName(.userCancel) { _ = try await policy.reply() }
        }
    }

    @Test("R35: a read whose context is released meanwhile is canceled")
    func released() async throws {
        try await ServiceBench.run { bench in
            let (person, _, _) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("guarded", flags: .biometryAny)
            // Most contexts are released during the item's look-up.
            for _ in 0..<16 {
                let context = try await bench.context(on: person.connection)
                let call = keychain.reading(id, context: context)
                onLoop { try? await context.release() }
                await expectName(.keychainUserCanceled) {
                    _ = try await bench.answer(within: .seconds(30)) { try await call.value() }
                }
            }
        }
    }

    @Test("R35: a password reads no biometric item, but policy 2 by biometry does")
    func factors() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("guarded", flags: .biometryAny)
            let presence = try await keychain.add("presence", flags: .userPresence)
            let context = try await bench.context(on: person.connection)
            let byPasscode = try context.evaluateStream(policy: 2, reason: "a", options: [:])
            _ = try await sensor.operation()
            try await person.type(ScriptedVerifier.passcode)
            #expect(try await byPasscode.reply()["mechanism"] == .string("passcode"))
            #expect(try await keychain.read(presence, context: context) == "secret")
            let call = keychain.reading(id, context: context)
            try await sensor.operation(1).succeed(template)
            #expect(try await call.value() == "secret")
            #expect(person.shownPrompts == 2)
            // A changed enrolment ends the biometric proof.
            _ = sensor.add(for: person.peer.uid, announcing: false)
            let changed = keychain.reading(id, context: context)
            try await sensor.operation(2).succeed(template)
            #expect(try await changed.value() == "secret")
        }
    }

    @Test("R71: EvaluateAccessControl allows reads without a prompt, but not of keys")
    func accessControl() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("guarded", flags: .biometryAny)
            @BusActor func evaluate(_ context: Context1Proxy, _ operation: UInt32) async throws {
                #expect(try await bench.canEvaluateCode(context) == 0)
                #expect(try await context.evaluatedPolicyDomainState().count == 32)
                let count = sensor.operations.seen.count
                let call = try context.evaluateAccessControlStream(
                    accessControl: KeychainClient.control(.biometryAny),
                    operation: operation,
                    reason: "test",
                    options: [:]
                )
                try await sensor.operation(count).succeed(template)
                let result = try await call.reply()
                #expect(result["mechanism"] == .string("biometry"))
                #expect(result["sensor"] == .string("Third") && result["domain-state"] == nil)
                #expect(try await context.evaluatedPolicyDomainState().isEmpty)
            }
            let reading = try await bench.context(on: person.connection)
            try await evaluate(reading, AccessOperation.useItem.rawValue)
            #expect(try await keychain.read(id, context: reading) == "secret")
            #expect(person.shownPrompts == 1)

            let signing = try await bench.context(on: person.connection)
            try await evaluate(signing, AccessOperation.useKeySign.rawValue)
            let call = keychain.reading(id, context: signing)
            _ = try await sensor.operation(2)
            try await person.cancel(on: bench)
            await expectName(.keychainUserCanceled) { _ = try await call.value() }

            let free = try await signing.evaluateAccessControl(
                accessControl: KeychainClient.control(.biometryAny),
                operation: AccessOperation.createItem.rawValue,
                reason: "test",
                options: [:]
            )
            #expect(free == ["mechanism": .string("context")])
            for (control, operation) in [
                (KeychainClient.control([.or, .and]), UInt32(1)),
                (["accessible": Variant.string("zz")], 1), (["flags": .string("1")], 1), ([:], 6),
            ] {
                await expectName(.invalidArgs) {
                    _ = try await signing.evaluateAccessControl(
                        accessControl: control,
                        operation: operation,
                        reason: "test",
                        options: [:]
                    )
                }
            }
        }
    }

    @Test("R35: a read without a reason shows its context's reason")
    func reason() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("guarded", flags: .biometryAny)
            let reason = Variant.string("open the diary")
            let context = try await bench.context(
                on: person.connection,
                ["LocalizedReason": reason]
            )
            let reading = keychain.reading(id, context: context, reason: "")
            try await sensor.operation().succeed(template)
            #expect(try await reading.value() == "secret")
            #expect(person.prompts.seen.map { $0.details["reason"] } == [reason])
        }
    }

    @Test("R36: without interaction a guarded item is InteractionNotAllowed before other errors")
    func interaction() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("guarded", flags: .biometryAny)
            let password = try await bench.context(on: person.connection)
            try await password.setPassword("word")
            let locked = try await keychain.add(
                "locked",
                flags: .applicationPassword,
                context: password
            )
            let free = try await keychain.add("free")
            let quiet: [String: Variant] = ["interaction-not-allowed": .bool(true)]
            let context = try await bench.context(on: person.connection)
            try await context.setInteractionNotAllowed(true)
            @BusActor func isRefused() async {
                for id in [id, locked] {
                    await expectName(.keychainInteractionNotAllowed) {
                        _ = try await keychain.read(id, quiet)
                    }
                    await expectName(.keychainInteractionNotAllowed) {
                        _ = try await keychain.read(id, context: context)
                    }
                }
            }
            await isRefused()  // no sensor
            let sensor = try await bench.sensor()
            await isRefused()  // nothing enrolled
            let template = sensor.add(for: person.peer.uid)
            await isRefused()
            try await bench.manager(person.connection)
                .requirePasscode(uid: person.peer.uid, cause: "test")
            await isRefused()  // locked out
            #expect(person.shownPrompts == 0)
            #expect(try await keychain.read(free, quiet) == "secret")
            #expect(try await keychain.read(locked, context: password, quiet) == "secret")

            let evaluated = try await bench.context(on: person.connection)
            let unlock = try bench.begin(person.connection, 2)
            _ = try await unlock.reply()
            let call = try evaluated.evaluateStream(policy: 1, reason: "a", options: [:])
            try await sensor.operation().succeed(template)
            _ = try await call.reply()
            #expect(try await keychain.read(id, context: evaluated, quiet) == "secret")
        }
    }

    @Test("R68: cancel, timeout and Invalidate are UserCanceled, a miss or lockout AuthFailed")
    func statuses() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("guarded", flags: .biometryAny)
            let canceled = keychain.reading(id)
            _ = try await sensor.operation()
            try await person.cancel(on: bench)
            await expectName(.keychainUserCanceled) { _ = try await canceled.value() }
            let late = keychain.reading(id, ["timeout": .uint64(300)])
            await expectName(.keychainUserCanceled) { _ = try await late.value() }

            let context = try await bench.context(on: person.connection)
            let count = sensor.operations.seen.count
            let invalidated = keychain.reading(id, context: context)
            _ = try await sensor.operation(count)
            try await context.invalidate()
            await expectName(.keychainUserCanceled) { _ = try await invalidated.value() }
            await expectName(.keychainAuthFailed) {
                _ = try await keychain.read(id, context: context)
            }
            let free = try await keychain.add("free")
            await expectName(.keychainAuthFailed) {
                _ = try await keychain.read(free, context: context)
            }
            await expectName(.invalidArgs) { _ = try await keychain.read(id, reason: " ") }
            await expectName(.keychainInteractionNotAllowed) {
                let quiet: [String: Variant] = ["interaction-not-allowed": .bool(true)]
                _ = try await keychain.read(id, quiet, reason: "")
            }
            await expectName(.invalidArgs) {
                _ = try await keychain.read(id, ["timeout": .uint64(600_001)])
            }

            for _ in 0..<2 {
                let number = sensor.operations.seen.count
                let failing = keychain.reading(id)
                let operation = try await sensor.operation(number)
                try await sensor.miss(operation, 3)
                await expectName(.keychainAuthFailed) { _ = try await failing.value() }
            }
            let prompts = person.shownPrompts
            #expect(try await bench.canEvaluate(1, as: person.connection).code == -8)
            await expectName(.keychainAuthFailed) { _ = try await keychain.read(id) }
            await expectName(.keychainInteractionNotAllowed) {
                _ = try await keychain.read(id, ["interaction-not-allowed": .bool(true)])
            }
            #expect(person.shownPrompts == prompts)
            // A password ends the lockout.
            let presence = try await keychain.add("presence", flags: .userPresence)
            #expect(try await keychain.read(presence) == "secret")
            let after = sensor.operations.seen.count
            let again = keychain.reading(id)
            try await sensor.operation(after).succeed(template)
            #expect(try await again.value() == "secret")
        }
    }

    @Test("R68: a departed agent is UserCanceled, a missing agent InteractionNotAllowed")
    func agents() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            person.passcode = nil
            let app = try person.app(bench.bus)
            let keychain = bench.keychain(app)
            let id = try await keychain.add("guarded", flags: .devicePasscode)
            let call = keychain.reading(id)
            _ = try await person.prompt()
            person.connection.close()
            await expectName(.keychainUserCanceled) { _ = try await call.value() }
            await expectName(.keychainInteractionNotAllowed) { _ = try await keychain.read(id) }
            app.close()
        }
    }

    @Test("R63: one prompt asks for biometry and password, and half releases no item")
    func both() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("guarded", flags: [.biometryAny, .devicePasscode])
            let call = keychain.reading(id)
            let first = try await sensor.operation()
            #expect(try await person.prompt().details["stage"] == .string("biometry"))
            first.succeed(template)
            try await person.asked("access-control")
            #expect(call.isPending)
            try await person.type(ScriptedVerifier.passcode)
            #expect(try await call.value() == "secret")
            #expect(person.shownPrompts == 1)

            let context = try await bench.context(on: person.connection)
            let canceled = keychain.reading(id, context: context)
            try await sensor.operation(1).succeed(template)
            try await person.asked("access-control", 2)
            try await person.cancel(on: bench)
            await expectName(.keychainUserCanceled) { _ = try await canceled.value() }
            // The context does not keep the match either.
            let biometric = try await keychain.add("biometric", flags: .biometryAny)
            let asked = keychain.reading(biometric, context: context)
            try await sensor.operation(2).succeed(template)
            #expect(try await asked.value() == "secret")
            // Either proof is enough if the access control says so.
            let either = try await keychain.add(
                "either",
                flags: [.biometryAny, .devicePasscode, .or]
            )
            let byPasscode = keychain.reading(either)
            _ = try await sensor.operation(3)
            try await person.type(ScriptedVerifier.passcode)
            #expect(try await byPasscode.value() == "secret")
        }
    }

    @Test("skip-authenticated omits items whose read would prompt")
    func skip() async throws {
        try await ServiceBench.run { bench in
            let keychain = bench.keychain()
            let context = try await bench.context()
            try await context.setPassword("word")
            _ = try await keychain.add("free")
            _ = try await keychain.add("guarded", flags: .userPresence)
            _ = try await keychain.add("locked", flags: .applicationPassword, context: context)
            #expect(try await keychain.services().count == 3)
            let skipping: [String: Variant] = ["skip-authenticated": .bool(true)]
            #expect(try await keychain.services([:], skipping) == ["free"])
            #expect(try await keychain.services(["svce": .string("guarded")], skipping) == [])
            await expectName(.invalidArgs) {
                _ = try await keychain.services([:], ["skip-authenticated": .string("yes")])
            }
        }
    }

    @Test("L16: a ninth waiting call is LimitsExceeded, even before any prompt")
    func pending() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let free = try await keychain.add("free")
            for flags in [AccessControl.Flags.biometryCurrentSet, .biometryAny] {
                let app = try person.app(bench.bus)
                let id = try await keychain.add("guarded \(flags.rawValue)", flags: flags)
                sensor.isSilent = true
                let start = ContinuousClock.now
                let calls = (0..<8).map { _ in bench.keychain(app).reading(id) }
                let ninth = bench.keychain(app).reading(id)
                // The refusal does not wait for the sensor, whose timeout is 2 s.
                await expectName(.limitsExceeded) {
                    _ = try await bench.answer(within: .milliseconds(1900)) {
                        try await ninth.value()
                    }
                }
                // On a busy machine the sensor's timeout may have passed.
                let arePending = calls.allSatisfy { $0.isPending }
                #expect(arePending || ContinuousClock.now - start > .seconds(2))
                #expect(try await keychain.read(free) == "secret")
                app.close()
                sensor.speak()
                try await eventually("no prompt") {
                    person.ends.seen.count == person.shownPrompts
                }
            }
        }
    }

    @Test("L8: an item needs a strong sensor, unless the configuration allows less")
    func strength() async throws {
        for word in ["", "weak"] {
            let configuration = word.isEmpty ? "" : "[Biometry]\nKeychainStrength=\(word)\n"
            try await ServiceBench.run(configuration: configuration) { bench in
                let (person, sensor, template) = try await bench.enrolled {
                    $0.saidStrength = "weak"
                }
                let keychain = bench.keychain(person.connection)
                let id = try await keychain.add("guarded", flags: .biometryAny)
                let presence = try await keychain.add("presence", flags: .userPresence)
                #expect(try await bench.canEvaluate(1, as: person.connection).code == 0)
                if word.isEmpty {
                    await expectName(.keychainAuthFailed) { _ = try await keychain.read(id) }
                    #expect(person.shownPrompts == 0)
                    // The password remains possible without biometry.
                    #expect(try await keychain.read(presence) == "secret")
                    #expect(try await person.prompt().details["stage"] == .string("passcode"))
                    // A weak sensor's proof for Evaluate does not count here.
                    let context = try await bench.context(on: person.connection)
                    let call = try context.evaluateStream(policy: 1, reason: "a", options: [:])
                    try await sensor.operation().succeed(template)
                    _ = try await call.reply()
                    await expectName(.keychainAuthFailed) {
                        _ = try await keychain.read(id, context: context)
                    }
                } else {
                    let call = keychain.reading(id)
                    try await sensor.operation().succeed(template)
                    #expect(try await call.value() == "secret")
                }
            }
        }
    }
}
