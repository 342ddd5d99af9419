import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Programs that nobody starts but the bus, when the daemon needs them.
@Suite("Activation", .timeLimit(.minutes(2)))
struct ActivationTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    @Test("L26: The first question starts the verifier, and so does the next one after it ended")
    @BusActor
    func verifier() async throws {
        try await PrivateBus.run { bus in
            try await bus.offer(
                ScriptedVerifier.name,
                ["localauth-passcode", "--passcode-set", "always"]
            )
            let daemon = try await TestDaemon(on: bus)
            #expect(try await bus.process(of: ScriptedVerifier.name) == nil)
            #expect(try await daemon.manager.canEvaluate(policy: 2).code == 0)
            // In good order, and then over and over by force.
            for signal in [SIGTERM] + Array(repeating: SIGKILL, count: 6) {
                let pid = try #require(try await bus.process(of: ScriptedVerifier.name))
                kill(pid, signal)
                try await bus.waitForOwner(of: ScriptedVerifier.name, false)
                #expect(try await daemon.manager.canEvaluate(policy: 2).code == 0)
                #expect(try await bus.process(of: ScriptedVerifier.name) != pid)
            }
        }
    }

    @Test("A verifier that ended because it was idle is there again for the next question")
    @BusActor
    func idle() async throws {
        try await PrivateBus.run { bus in
            let words = ["localauth-passcode", "--passcode-set", "always", "--idle-timeout", "5"]
            try await bus.offer(ScriptedVerifier.name, words)
            let daemon = try await TestDaemon(on: bus)
            var processes: Set<Int32> = []
            for _ in 0..<2 {
                #expect(try await daemon.manager.canEvaluate(policy: 2).code == 0)
                processes.insert(try #require(try await bus.process(of: ScriptedVerifier.name)))
                try await bus.waitForOwner(of: ScriptedVerifier.name, false)
            }
            #expect(processes.count == 2)
        }
    }

    @Test("L26: Who can't be asked whether there is a passcode is not without one")
    @BusActor
    func noVerifier() async throws {
        try await PrivateBus.run { bus in
            let daemon = try await TestDaemon(on: bus)
            let passcode = { () async throws -> [String: Variant] in
                let checks = try await daemon.manager.diagnose()
                return try #require(checks.first { $0["name"] == .string("passcode") })
            }
            let unknown =
                "No passcode can be given now: the program that verifies it can't be asked."
            #expect(try await daemon.manager.canEvaluate(policy: 2).message == unknown)
            #expect(try await passcode()["remedy"] == .string("Start localauth-passcode."))
            try await bus.offer(ScriptedVerifier.name, ["/bin/false"])
            let answer = try await daemon.manager.canEvaluate(policy: 2)
            #expect(answer.code == -5 && answer.message == unknown)
            let check = try await passcode()
            let begin = "The passcode verifier can't be started: "
            #expect(check["message"]?.asString?.hasPrefix(begin) == true)
            #expect(check["remedy"]?.asString?.contains("journalctl") == true)
            await #expect(throws: DBusError(.passcodeNotSet, unknown)) {
                _ = try await daemon.manager.evaluate(policy: 2, reason: "test", options: [:])
            }
            // Put right, it is found without a hand.
            try await bus.offer(
                ScriptedVerifier.name,
                ["localauth-passcode", "--passcode-set", "always"]
            )
            #expect(try await daemon.manager.canEvaluate(policy: 2).code == 0)
        }
    }
}
