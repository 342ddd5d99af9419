import AuthEngine
import DBus
import LocalAuthBus
import TestSupport
import Testing

@Suite("Attacks on the password and the app's password")
struct PasscodeTurnTests {
    /// Holds a verifier's verdicts until the test releases them.
    @BusActor
    private final class Gate {
        private let released = EventRecorder<Void>()
        private var admitted = 0

        init(_ verifier: ScriptedVerifier) {
            verifier.beforeVerdict = { [self] in
                admitted += 1
                let number = admitted
                _ = try? await released.first("a release", within: .seconds(60)) { _ in
                    released.seen.count >= number
                }
            }
        }

        /// Releases the next verdict.
        func release() { released.record(()) }
    }

    /// Starts an evaluation and types this password into its prompt.
    @BusActor
    private static func guess(
        _ word: String,
        _ bench: ServiceBench,
        _ person: Person
    ) async throws -> StreamingCall<[String: Variant]> {
        let count = person.shownPrompts
        let call = try bench.begin(person.connection, 2)
        person.enter(word, into: try await person.prompt(count))
        return call
    }

    @Test("L20: guesses of departed callers run one by one, count, and end with the sixth")
    func guessesOfThoseWhoLeave() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            person.passcode = nil
            let gate = Gate(bench.verifier)
            var words = (1...5).map { "wrong \($0)" } + ["sixth"]
            var running = try await Self.guess(words.removeFirst(), bench, person)
            for (index, word) in words.enumerated() {
                _ = try await bench.verifier.verified.first("guess \(index)") { _ in
                    bench.verifier.verified.seen.count == index + 1
                }
                try await bench.manager(person.connection).invalidate()
                await expectName(.appCancel) { _ = try await running.reply() }
                // Start the next guess during the verification of this guess.
                running = try await Self.guess(word, bench, person)
                gate.release()
            }
            _ = try await bench.verifier.verified.first("the sixth") { _ in
                bench.verifier.verified.seen.count == 6
            }
            try await bench.manager(person.connection).invalidate()
            await expectName(.appCancel) { _ = try await running.reply() }
            // The correct password waits for the sixth guess, and is never verified.
            let last = try await Self.guess(ScriptedVerifier.passcode, bench, person)
            gate.release()
            await expectName(.authenticationFailed) { _ = try await last.reply() }
            #expect(bench.verifier.verified.seen.count == 6)
            #expect(bench.verifier.mostAtOnce == 1)
        }
    }

    @Test("L10: a guess overtaken by a delay is answered, and the prompt waits for the sensor")
    func overtaken() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let gate = Gate(bench.verifier)
            for _ in 0..<5 { gate.release() }
            let first = try bench.begin(person.connection, 2)
            let prompt = try await person.prompt()
            try await person.guess(5, into: prompt)
            await expectName(.authenticationFailed) { _ = try await first.reply() }
            // The caller of the sixth guess leaves.
            let second = try await Self.guess("sixth", bench, person)
            _ = try await bench.verifier.verified.first("the sixth") { _ in
                bench.verifier.verified.seen.count == 6
            }
            try await bench.manager(person.connection).invalidate()
            await expectName(.appCancel) { _ = try await second.reply() }
            let third = try await Self.guess(ScriptedVerifier.passcode, bench, person)
            let operation = try await sensor.operation(2)
            gate.release()
            for await event in third.events where event.kind == "passcode-rejected" {
                #expect(event.detail["attempts-left"] == .uint32(0))
                // The remaining delay, for a countdown.
                #expect((1...60_000).contains(event.detail["delay"]?.asUInt64 ?? 0))
                break
            }
            #expect(bench.verifier.verified.seen.count == 6)
            operation.succeed(template)
            #expect(try await third.reply()["mechanism"] == .string("biometry"))
            #expect(person.updates.seen.filter { $0.kind == "passcode-rejected" }.count == 6)
        }
    }

    @Test("L20: a guess is counted even if the daemon is killed during its verification")
    func killed() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            person.passcode = nil
            let call = try bench.begin(person.connection, 2)
            let prompt = try await person.prompt()
            try await person.guess(5, into: prompt)
            await expectName(.authenticationFailed) { _ = try await call.reply() }

            let gate = Gate(bench.verifier)
            let second = try await Self.guess(ScriptedVerifier.passcode, bench, person)
            _ = try await bench.verifier.verified.first("the sixth guess") { _ in
                bench.verifier.verified.seen.count == 6
            }
            try await bench.restartDaemon()
            gate.release()
            withExtendedLifetime(second) {}
            let next = try await bench.person()
            await expectName(.authenticationFailed) {
                _ = try await bench.begin(next.connection, 2).reply()
            }
            #expect(next.prompts.seen.isEmpty, "a delay runs")
        }
    }

    @Test("L20: a guess is counted even if its verifier exits before the verdict")
    func lostVerdict() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            person.passcode = nil
            let call = try bench.begin(person.connection, 2)
            let prompt = try await person.prompt()
            try await person.guess(5, into: prompt)
            await expectName(.authenticationFailed) { _ = try await call.reply() }

            bench.verifier.isSilent = true
            let second = try await Self.guess("sixth", bench, person)
            _ = try await bench.verifier.verified.first("the sixth guess") { _ in
                bench.verifier.verified.seen.count == 6
            }
            bench.verifier.connection.close()
            let next = try await Self.successor(bench)
            try await bench.manager(person.connection).invalidate()
            await #expect(throws: DBusError.self) { _ = try await second.reply() }
            person.passcode = ScriptedVerifier.passcode
            await expectName(.authenticationFailed) {
                _ = try await bench.begin(person.connection, 2).reply()
            }
            #expect(next.verified.seen.isEmpty, "a delay runs")
        }
    }

    @Test("L20: the verdict of a replaced verifier grants nothing")
    func replacedVerifier() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            person.passcode = nil
            let gate = Gate(bench.verifier)
            let call = try await Self.guess(ScriptedVerifier.passcode, bench, person)
            _ = try await bench.verifier.verified.first("the guess") { _ in true }
            try await bench.verifier.connection.giveUpName(ScriptedVerifier.name)
            let next = try await Self.successor(bench)
            gate.release()
            try await eventually("the verdict") { bench.verifier.running == 0 }
            // After these replies, the service has read the verdict.
            for connection in [bench.verifier.connection, person.connection] {
                _ = try await bench.manager(connection).canEvaluate(policy: 2)
            }
            try await bench.manager(person.connection).invalidate()
            await #expect(throws: DBusError.self) { _ = try await call.reply() }
            let again = try await Self.guess(ScriptedVerifier.passcode, bench, person)
            #expect(try await again.reply()["mechanism"] == .string("passcode"))
            #expect(next.verified.seen.count == 1)
        }
    }

    /// Starts another verifier, and returns after the service knows it.
    @BusActor
    private static func successor(_ bench: ServiceBench) async throws -> ScriptedVerifier {
        var next: ScriptedVerifier?
        try await eventually("the name to be free") {
            next = try? ScriptedVerifier(on: bench.bus)
            return next != nil
        }
        let verifier = try #require(next)
        _ = try await bench.manager(verifier.connection).version()
        return verifier
    }

    @Test("L22: a login password is never taken as the app's password")
    func ownStage() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let right = try await bench.context(on: person.connection)
            try await right.setPassword("right")
            let id = try await keychain.add(
                "locked",
                flags: [.devicePasscode, .applicationPassword],
                context: right
            )
            let call = keychain.reading(id)
            try await person.askedForPassword()
            let prompt = try await person.prompt()
            for word in ["right", ScriptedVerifier.passcode] {
                await expectName(.invalidArgs) {
                    try await person.submit(passcode: word, into: prompt)
                }
            }
            try await person.type("wrong")
            await expectName(.keychainAuthFailed) { _ = try await call.value() }
            #expect(bench.verifier.verified.seen.count == 1, "no password was given to it")

            let again = keychain.reading(id)
            try await person.askedForPassword(2)
            try await person.type(ScriptedVerifier.passcode)
            await expectName(.keychainAuthFailed) { _ = try await again.value() }
        }
    }
}
