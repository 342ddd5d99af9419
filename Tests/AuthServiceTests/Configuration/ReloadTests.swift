import AuthEngine
import DBus
import LocalAuthBus
import TestSupport
import Testing

/// Settings apply from the start, and again after each reload.
@Suite("Reloading the settings", .timeLimit(.minutes(10)))
struct ReloadTests {
    @Test("A disabled sensor has no device and gets no calls, and other sensors still work")
    func disabled() async throws {
        try await ServiceBench.run(configuration: "[Sensors]\nDisabled=Third\n") { bench in
            let person = try await bench.person()
            let disabled = ScriptedSensor("Third", on: try bench.bus.connect())
            _ = disabled.add(for: person.peer.uid, announcing: false)
            try disabled.appear()
            // The reply arrives after the signal about the sensor's name.
            _ = try await bench.manager(disabled.connection).version()
            #expect(try await bench.canEvaluate(as: person.connection).code == -6)
            #expect((try? await bench.device().unavailability()) == nil)
            let sensor = try await bench.sensor("Fourth")
            let template = sensor.add(for: person.peer.uid)
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            #expect(try await call.reply()["sensor"] == .string("Fourth"))
            #expect(disabled.calls.seen.isEmpty)
            try await bench.waitForNoDevice()
        }
    }

    @Test("A reload that disables a sensor ends its operations, and another reload enables it")
    func disabledLater() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let ended = try bench.begin(person.connection)
            _ = try await sensor.operation()
            try await bench.daemon.reload("[Sensors]\nDisabled=Third\n")
            try await bench.waitForNoDevice()
            await expectName(.biometryNotAvailable) { _ = try await ended.reply() }
            try await bench.daemon.reload("")
            try await bench.waitForDevice(is: "")
            let call = try bench.begin(person.connection)
            try await sensor.operation(1).succeed(template)
            #expect(try await call.reply()["mechanism"] == .string("biometry"))
        }
    }

    @Test("LockoutAttempts applies from the reload on")
    func lockoutAttempts() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            try await bench.daemon.reload("[Biometry]\nLockoutAttempts=2\n")
            let call = try bench.begin(person.connection)
            try await sensor.miss(sensor.operation(), 2)
            try #require(await bench.canEvaluate(as: person.connection).code == -8)
            await expectName(.biometryLockout) { _ = try await call.reply() }
        }
    }

    @Test("KeychainStrength applies from the reload on")
    func keychainStrength() async throws {
        let weak = "[Biometry]\nKeychainStrength=weak\n"
        try await ServiceBench.run(configuration: weak) { bench in
            let (person, sensor, template) = try await bench.enrolled { $0.saidStrength = "weak" }
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("guarded", flags: .biometryAny)
            let reading = keychain.reading(id)
            try await sensor.operation().succeed(template)
            #expect(try await reading.value() == "secret")

            try await bench.daemon.reload("[Biometry]\nKeychainStrength=strong\n")
            // If the sensor ran, it would match.
            let match = onLoop { try? await sensor.operation(1).succeed(template) }
            await expectName(.keychainAuthFailed) { _ = try await keychain.read(id) }
            #expect(sensor.operations.seen.count == 1)
            match.cancel()
        }
    }

    @Test("A stronger KeychainStrength also applies to a read whose prompt is already shown")
    func keychainStrengthMeanwhile() async throws {
        let weak = "[Biometry]\nKeychainStrength=weak\n"
        try await ServiceBench.run(configuration: weak) { bench in
            let (person, sensor, template) = try await bench.enrolled { $0.saidStrength = "weak" }
            let keychain = bench.keychain(person.connection)
            let id = try await keychain.add("guarded", flags: .biometryAny)
            let reading = keychain.reading(id)
            let operation = try await sensor.operation()
            try await bench.daemon.reload("[Biometry]\nKeychainStrength=strong\n")
            operation.succeed(template)
            await expectName(.keychainAuthFailed) { _ = try await reading.value() }
        }
    }

    @Test("PendingPerConnection applies from the reload on")
    func pendingPerConnection() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            let sensor = try await bench.sensor()
            /// Calls Enroll without arguments, because the quota is checked before them.
            @BusActor func enroll() async throws {
                _ = try await person.connection.call(
                    to: TestDaemon.name,
                    path: TestDaemon.devicePath("Third"),
                    interface: Device1.interface,
                    member: "Enroll"
                )
            }
            try await bench.daemon.reload("[Limits]\nPendingPerConnection=1\n")
            _ = try bench.enroll(person)
            _ = try await sensor.operation()
            await expectName(.limitsExceeded) { try await enroll() }
            try await bench.daemon.reload("")
            await expectName(.invalidArgs) { try await enroll() }
        }
    }
}
