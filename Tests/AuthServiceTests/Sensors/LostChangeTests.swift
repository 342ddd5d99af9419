import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Sensors' signals that a bus with full queues dropped.
@Suite("Lost signals of sensors", .timeLimit(.minutes(10)))
struct LostChangeTests {
    init() { EventLoop.shared.startThread() }

    private static let strong: [String: Variant] = ["minimum-strength": .string("strong")]

    @Test("L8, L20: a sensor that became weak without a signal is weak at the next evaluation")
    func weakened() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            try await bench.bus.lose(.propertiesChanged)
            sensor.saidStrength = "weak"
            sensor.changed("Strength")
            await expectName(.biometryNotAvailable) {
                _ = try await bench.begin(person.connection, 1, Self.strong).reply()
            }
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            #expect(try await call.reply()["strength"] == .string("weak"))
        }
    }

    @Test(
        "L8, L20: a match does not count if the sensor became weak meanwhile",
        arguments: [true, false]
    )
    func weakenedMeanwhile(isLost: Bool) async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let call = try bench.begin(person.connection, 1, Self.strong)
            let operation = try await sensor.operation()
            if isLost { try await bench.bus.lose(.propertiesChanged) }
            sensor.saidStrength = "weak"
            sensor.changed("Strength")
            operation.succeed(template)
            await expectName(.biometryNotAvailable) { _ = try await call.reply() }
        }
    }

    @Test("L11b: after a partial removal of all templates, the service lists the rest")
    func half() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            _ = sensor.add(for: person.peer.uid)
            let context = try await bench.context(on: person.connection)
            _ = try await bench.canEvaluate(as: person.connection)
            let before = try await bench.state(context)
            sensor.removalOfAllError = .sensorFailed
            let device = bench.device(on: person.connection)
            await #expect(throws: DBusError.self) {
                _ = try await device.removeAllTemplates(options: [:])
            }
            // The sensor has not announced the change.
            let after = try await bench.state(context)
            #expect(!after.isEmpty && after != before)
        }
    }

    @Test("L8: a match does not count if the sensor becomes weak during its new list")
    func weakenedWhileListed() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let uid = person.peer.uid
            let call = try bench.begin(person.connection, 1, Self.strong)
            let operation = try await sensor.operation()
            let asked = sensor.count(of: "ListTemplates")
            sensor.unanswered = ["ListTemplates"]
            // The sensor has matched, and the daemon revalidates its properties.
            sensor.onLook = {
                sensor.onLook = nil
                sensor.signals.templatesChanged(uid: uid)
            }
            operation.succeed(template)
            try await eventually("the question") { sensor.count(of: "ListTemplates") > asked }
            sensor.saidStrength = "weak"
            sensor.changed("Strength")
            sensor.speak()
            await expectName(.biometryNotAvailable) { _ = try await call.reply() }
        }
    }

    @Test("L20: a device connected or removed without a signal is noticed before a decision")
    func presence() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            try await bench.bus.lose(.propertiesChanged)
            sensor.isPresent = false
            sensor.changed("Present")
            await expectName(.biometryDisconnected) {
                _ = try await bench.begin(person.connection).reply()
            }
            sensor.isPresent = true
            sensor.changed("Present")
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            _ = try await call.reply()
        }
    }

    @Test("L16: a sensor that does not report its properties is not used")
    func silent() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            // A query refused by a full bus is no fault, so the sensor stays, but unused.
            sensor.propertyError = .limitsExceeded
            await expectName(.biometryNotAvailable) {
                _ = try await bench.begin(person.connection, 1, ["timeout": .uint64(60_000)])
                    .reply()
            }
            #expect(sensor.operations.seen.isEmpty && sensor.count(of: "ListTemplates") > 0)
            sensor.propertyError = nil
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            _ = try await call.reply()
        }
    }

    @Test("L21: a late answer of a sensor on a slow bus is no failure")
    func lateBus() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let bus = bench.bus.pid
            sensor.onList = {
                sensor.onList = nil
                // Stop the bus for longer than the sensor's timeout.
                kill(bus, SIGSTOP)
                _ = EventLoop.shared.schedule(after: .seconds(4)) { kill(bus, SIGCONT) }
            }
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            _ = try await call.reply()
            #expect(sensor.onList == nil)
        }
    }

    @Test("L21: a slow bus does not end a verification")
    func lateHealth() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let bus = bench.bus.pid
            let call = try bench.begin(person.connection)
            let operation = try await sensor.operation()
            let states = try await bench.announcedStates()
            let asked = sensor.count(of: "Health")
            // The first health check comes after three seconds.
            kill(bus, SIGSTOP)
            _ = EventLoop.shared.schedule(after: .seconds(6)) { kill(bus, SIGCONT) }
            // The first query times out and is repeated.
            try await eventually("Health") { sensor.count(of: "Health") > asked + 1 }
            operation.succeed(template)
            #expect(try await call.reply()["mechanism"] == .string("biometry"))
            #expect(!states.seen.contains("failed"))
        }
    }

    @Test("L16: a sensor with an invalid property is not used")
    func nonsense() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            try await bench.bus.lose(.propertiesChanged)
            sensor.saidStrength = "stronger than strong"
            await expectName(.biometryNotAvailable) {
                _ = try await bench.begin(person.connection).reply()
            }
        }
    }

    @Test("L16: many announced changes of a sensor cause one query at a time")
    func announcing() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let before = sensor.connection.served
            for _ in 0..<300 { sensor.invalidated("Strength") }
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            _ = try await call.reply()
            #expect(sensor.connection.served - before < 100)
        }
    }
}
