import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Reported unlocks, and how long they count.
struct UnlockTests {
    private static let isRoot = getuid() == 0

    @Test(
        "R34: a reported biometric unlock answers without a prompt, by property and by option",
        .enabled(if: isRoot, "only root reports unlocks")
    )
    func reuse() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let uid = person.peer.uid
            let sensor = try await bench.sensor()
            _ = sensor.add(for: uid)
            let state = try await bench.state(bench.context(on: person.connection))
            try await bench.manager.reportUnlock(uid: uid, method: "biometry")

            let context = try await bench.context(on: person.connection)
            try await context.setReuseDuration(60)
            let byProperty = try await context.evaluate(policy: 1, reason: "test", options: [:])
            #expect(byProperty["mechanism"] == .string("reuse"))
            #expect(byProperty["biometry-type"] == .uint32(1))
            #expect(byProperty["domain-state"] == .bytes(state))
            #expect(byProperty["sensor"] == nil)
            #expect(try await context.evaluatedPolicyDomainState() == state)

            let byOption = try await bench.manager(person.connection)
                .evaluate(policy: 2, reason: "test", options: ["reuse-duration": .double(1e300)])
            #expect(byOption["mechanism"] == .string("reuse"))
            #expect(person.prompts.seen.isEmpty)

            // A change of the enrolment ends the reuse, even unannounced.
            _ = sensor.add(for: uid)
            let asked = try context.evaluateStream(policy: 1, reason: "test", options: [:])
            _ = try await sensor.operation()
            #expect(person.prompts.seen.count == 1)
            try await context.invalidate()
            _ = try? await asked.reply()
        }
    }

    @Test("R34: only root may report an unlock")
    func denied() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            for method in ["biometry", "passcode"] {
                await expectName(.accessDenied) {
                    try await bench.manager(person.connection)
                        .reportUnlock(uid: person.peer.uid, method: method)
                }
            }
        }
    }

    @Test("R50, L11: a boot requires a password, a restart of the daemon does not")
    func boot() async throws {
        let configuration = "[Biometry]\nPasscodeAfterBoot=yes\n"
        try await ServiceBench.run(configuration: configuration) { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            _ = sensor.add(for: person.peer.uid)
            let manager = bench.manager(person.connection)
            let first = try await manager.canEvaluate(policy: 1)
            #expect(first.code == -8)
            #expect(first.message.contains("after a restart"))
            #expect(try await manager.canEvaluate(policy: 2).code == 0)
            let result = try await manager.evaluate(policy: 2, reason: "test", options: [:])
            #expect(result["mechanism"] == .string("passcode"))
            #expect(try await manager.canEvaluate(policy: 1).code == 0)
            try await bench.restartDaemon()
            try await bench.waitForDevice(is: "")
            #expect(try await bench.manager(person.connection).canEvaluate(policy: 1).code == 0)
        }
    }

    @Test(
        "L11: on the system bus the age rules count from the boot, also after a reload",
        .enabled(if: isRoot, "only root is believed as the verifier there")
    )
    func systemBus() async throws {
        let faults = try Faults()
        faults.setClocks(boot: 72 * 3600)
        try await PrivateBus.run { bus in
            try TemporaryFolder.write(bus.folder + "/Simulated.conf", "[Sensor]\n".utf8)
            let verifier = try ScriptedVerifier(on: bus)
            let daemon = try await TestDaemon(
                on: bus,
                environment: faults.environment,
                isSystemBus: true
            )
            try await daemon.startSensor()
            func expectWaiting(_ cause: String) async throws {
                let answer = try await daemon.manager.canEvaluate(policy: 1)
                #expect(answer.code == -8 && answer.message.contains(cause), "\(answer)")
            }
            try await expectWaiting("after a restart")
            // The machine has been up for days, but the service has not.
            try await daemon.reload("[Biometry]\nPasscodeAfterBoot=no\n")
            try await expectWaiting("after so long without unlocking")
            try await daemon.reload("")
            try await expectWaiting("after a restart")
            try await daemon.manager.reportUnlock(uid: getuid(), method: "passcode")
            #expect(try await daemon.manager.canEvaluate(policy: 1).code == 0)
            withExtendedLifetime(verifier) {}
        }
    }

    @Test("L17: an acknowledged RequirePasscode survives an immediate kill")
    func durable() async throws {
        try await ServiceBench.run { bench in
            let sensor = try await bench.sensor()
            _ = sensor.add(for: bench.uid)
            #expect(try await bench.canEvaluate().code == 0)
            try await bench.manager.requirePasscode(uid: bench.uid, cause: "test")
            try await bench.restartDaemon()
            try await bench.waitForDevice(is: "")
            #expect(try await bench.canEvaluate().code == -8)
        }
    }

    @Test("L17: a damaged database requires one password before biometry")
    func damaged() async throws {
        try await ServiceBench.run { bench in
            let (person, _, _) = try await bench.enrolled()
            #expect(try await bench.canEvaluate(as: person.connection).code == 0)
            let database = bench.state + "/state.sqlite"
            await bench.daemon.process.end()
            let garbage = String(repeating: "no database ", count: 999)
            try TemporaryFolder.write(database, garbage.utf8, mode: 0o600)
            unlink(database + "-wal")
            try await bench.restartDaemon()
            try await bench.waitForDevice(is: "")
            let record = "audit: database-set-aside file=\(database).damaged-1"
            #expect(bench.daemon.process.errors.contains(record))
            let first = try await bench.canEvaluate(as: person.connection)
            #expect(first.code == -8)
            #expect(first.message.contains("because the stored state was damaged"))
            // The restarted service does not know the agent.
            let again = try await bench.person()
            let result = try await bench.manager(again.connection)
                .evaluate(policy: 2, reason: "test", options: [:])
            #expect(result["mechanism"] == .string("passcode"))
            #expect(try await bench.canEvaluate(as: again.connection).code == 0)
            try await bench.restartDaemon()
            try await bench.waitForDevice(is: "")
            #expect(try await bench.canEvaluate(as: again.connection).code == 0)
        }
    }
}
