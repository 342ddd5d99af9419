import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// The project's own rules, tested on the real daemon.
@Suite("Rules for the service", .timeLimit(.minutes(10)))
struct OwnRuleTests {
    @Test("L1: a caller that left before its look-up gets no prompt")
    func vanished() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let app = try person.app(bench.bus)
            let name = app.uniqueName
            bench.daemon.process.signal(SIGSTOP)
            _ = try bench.begin(app, 2)
            _ = try app.startCall(
                to: TestDaemon.name,
                path: TestDaemon.root,
                interface: Authentication1.interface,
                member: "RequirePasscode",
                signature: "us"
            ) { writer throws(DBusError) in
                try writer.write(person.peer.uid)
                try writer.write("gone")
            }
            app.flush()
            // After this reply, the bus has the message.
            _ = try await app.nameOwner(name)
            app.close()
            try await eventually("the app to be gone") {
                try await bench.client.nameOwner(name) == nil
            }
            bench.daemon.process.signal(SIGCONT)
            #expect(try await bench.canEvaluate(as: person.connection).code == 0)
            #expect(person.prompts.seen.isEmpty)
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            _ = try await call.reply()
            #expect(person.prompts.seen.count == 1)
        }
    }

    @Test("L1: only root may pass a uid, and 2^32-1 is always refused")
    func uids() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let own = bench.manager(person.connection)
            for uid in [person.peer.uid, 0, UInt32.max] {
                await expectName(uid == .max ? .invalidArgs : .accessDenied) {
                    _ = try await bench.begin(person.connection, 2, ["uid": .uint32(uid)]).reply()
                }
            }
            await expectName(.accessDenied) {
                try await own.requirePasscode(uid: person.peer.uid + 1, cause: "")
            }
            for manager in [own, bench.manager] {
                await expectName(.accessDenied) {
                    try await manager.requirePasscode(uid: .max, cause: "")
                }
            }
            for connection in [person.connection, bench.client] {
                await expectName(.invalidArgs) {
                    let options: [String: Variant] = ["uid": .uint32(.max)]
                    _ = try await bench.device(on: connection).listTemplates(options: options)
                }
            }
            #expect(person.prompts.seen.isEmpty)
            guard getuid() == 0 else { return }
            await expectName(.invalidArgs) {
                _ = try await bench.begin(bench.client, 2, ["uid": .uint32(.max)]).reply()
            }
            await expectName(.invalidArgs) {
                try await bench.manager.reportUnlock(uid: .max, method: "passcode")
            }
            // Without the option, root is treated as any caller, and has no agent.
            await expectName(.notInteractive) {
                _ = try await bench.begin(bench.client, 2).reply()
            }
            var options: [String: Variant] = ["uid": .uint32(person.peer.uid)]
            let call = try bench.begin(bench.client, 1, options)
            try await sensor.operation().succeed(template)
            #expect(try await call.reply()["mechanism"] == .string("biometry"))
            // The password is also that user's.
            options["sensors"] = .strings([])
            let typed = try await bench.begin(bench.client, 2, options).reply()
            #expect(typed["mechanism"] == .string("passcode"))
            #expect(bench.verifier.verified.seen == [person.peer.uid])
        }
    }

    @Test("L2: without a login manager the uid alone decides")
    func sameUser() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let app = try person.app(bench.bus)
            #expect(try await bench.manager(app).interactive())
            let call = try bench.begin(app)
            try await sensor.operation().succeed(template)
            _ = try await call.reply()
            guard bench.uid != person.peer.uid else { return }
            #expect(try await !bench.manager.interactive())
            await expectName(.notInteractive) { _ = try await bench.begin(bench.client, 2).reply() }
        }
    }

    @Test("R6, L10: a delay survives the daemon, and -1 comes without a prompt")
    func delay() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            person.passcode = nil
            for number in 0..<2 {
                let call = try bench.begin(person.connection, 2)
                let prompt = try await person.prompt(number)
                try await person.guess(number == 0 ? 5 : 1, into: prompt)
                await expectName(.authenticationFailed) { _ = try await call.reply() }
            }
            #expect(bench.verifier.verified.seen.count == 6)
            try await bench.restartDaemon()
            let second = try await bench.person()
            do throws(DBusError) {
                _ = try await bench.manager(second.connection)
                    .evaluate(policy: 2, reason: "test", options: [:])
                Issue.record("a passcode was taken")
            } catch {
                #expect(error.name == .authenticationFailed)
                #expect(error.message.contains("seconds") || error.message.contains("minute"))
            }
            #expect(second.prompts.seen.isEmpty)
            #expect(bench.verifier.verified.seen.count == 6)
            #expect(try await bench.canEvaluate(2, as: second.connection).code == 0)
            // A sensor can still be used during the delay.
            let sensor = try await bench.sensor()
            let template = sensor.add(for: second.peer.uid)
            let call = try bench.begin(second.connection, 2)
            let operation = try await sensor.operation()
            second.enter(ScriptedVerifier.passcode, into: try await second.prompt())
            operation.succeed(template)
            #expect(try await call.reply()["mechanism"] == .string("biometry"))
            #expect(bench.verifier.verified.seen.count == 6)
        }
    }

    @Test("L11b: every Evaluate queries sensors and verifier again, despite cached answers")
    func fresh() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            var before = (
                lists: sensor.count(of: "ListTemplates"), isSet: bench.verifier.asked.seen.count
            )
            @BusActor func expectAsked(_ what: String) {
                let now = (
                    lists: sensor.count(of: "ListTemplates"),
                    isSet: bench.verifier.asked.seen.count
                )
                #expect(now.lists > before.lists && now.isSet > before.isSet, "\(what)")
                before = now
            }
            for (number, policy) in [UInt32(1), 2].enumerated() {
                let call = try bench.begin(person.connection, policy)
                let operation = try await sensor.operation(number)
                expectAsked("Evaluate(\(policy))")
                operation.succeed(template)
                _ = try await call.reply()
            }
            let context = try await bench.context(on: person.connection)
            let guarded = try context.evaluateAccessControlStream(
                accessControl: KeychainClient.control(.biometryAny),
                operation: AccessOperation.useItem.rawValue,
                reason: "test",
                options: [:]
            )
            let operation = try await sensor.operation(2)
            expectAsked("EvaluateAccessControl")
            operation.succeed(template)
            _ = try await guarded.reply()
            // The next answer includes unannounced changes.
            sensor.templates = [:]
            await expectName(.biometryNotEnrolled) {
                _ = try await bench.begin(person.connection).reply()
            }
            _ = sensor.add(for: person.peer.uid, announcing: false)
            bench.verifier.tells = false
            bench.verifier.isPasscodeSet = false
            await expectName(.passcodeNotSet) {
                _ = try await bench.begin(person.connection).reply()
            }
            await expectName(.passcodeNotSet) {
                _ = try await bench.begin(person.connection, 2).reply()
            }
        }
    }

    @Test("L11b: answers of one owner of a name do not count for the next owner")
    func owners() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            #expect(try await bench.canEvaluate(as: person.connection).code == 0)
            #expect(try await bench.canEvaluate(2, as: person.connection).code == 0)
            bench.verifier.connection.releaseName(ScriptedVerifier.name)
            let second = try ScriptedVerifier(on: bench.bus, isPasscodeSet: false)
            // The reply arrives after the signal about the name.
            _ = try await bench.manager(second.connection).version()
            #expect(try await bench.canEvaluate(2, as: person.connection).code == -5)
            second.isPasscodeSet = true
            sensor.connection.close()
            try await bench.waitForNoDevice()
            _ = try await bench.sensor()
            #expect(try await bench.canEvaluate(as: person.connection).code == -7)
        }
    }

    @Test("L16: a failed verifier costs no attempt, and its crash ends no prompt")
    func verifier() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            person.passcode = nil
            let call = try bench.begin(person.connection, 2)
            let prompt = try await person.prompt()
            bench.verifier.faults = 2
            for _ in 0..<2 {
                person.enter(ScriptedVerifier.passcode, into: prompt)
                for await event in call.events where event.kind == "passcode-required" {
                    #expect(event.detail["cause"] == .string("verifier-failed"))
                    break
                }
            }
            person.enter("wrong", into: prompt)
            for await event in call.events where event.kind == "passcode-rejected" {
                #expect(event.detail["attempts-left"] == .uint32(4))
                break
            }
            person.enter(ScriptedVerifier.passcode, into: prompt)
            #expect(try await call.reply()["mechanism"] == .string("passcode"))

            bench.verifier.isSilent = true
            let second = try bench.begin(person.connection, 2)
            let later = try await person.prompt(1)
            person.enter(ScriptedVerifier.passcode, into: later)
            _ = try await bench.verifier.verified.first("the question") { _ in
                bench.verifier.verified.seen.count == 5
            }
            bench.verifier.connection.close()
            for await event in second.events where event.kind == "passcode-required" { break }
            let next = try ScriptedVerifier(on: bench.bus)
            defer { withExtendedLifetime(next) {} }
            // The prompt gets the new key after a password did not open.
            person.enter("wrong", into: later)
            for await event in second.events where event.kind == "passcode-required" { break }
            person.enter("wrong", into: later)
            for await event in second.events where event.kind == "passcode-rejected" {
                #expect(event.detail["attempts-left"] == .uint32(4))
                break
            }
            person.enter(ScriptedVerifier.passcode, into: later)
            #expect(try await second.reply()["mechanism"] == .string("passcode"))
        }
    }
}
