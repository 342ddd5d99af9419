import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Policies 3 and 4 with a companion, which is the simulated sensor in its own process.
@Suite("Companions", .timeLimit(.minutes(10)))
struct CompanionTests {
    private static let name = "org.localauth.Sensor1.Key"

    /// Starts a companion, and returns the interface that drives it.
    @BusActor
    private static func companion(_ bench: ServiceBench) async throws -> SimulatedSensor1Proxy {
        _ = try bench.bus.start([
            "localauth-sensor-simulated", "--name", "Key", "--type", "companion",
        ])
        try await bench.waitForDevice("Key", is: "")
        return SimulatedSensor1Proxy(bench.client, destination: name, path: ScriptedSensor.path)
    }

    @Test("R12, L13: policy 3 takes only a companion: -11 without one, -12 before pairing")
    func companionAlone() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, _) = try await bench.enrolled()
            let app = person.connection
            #expect(try await bench.canEvaluate(3, as: app).code == -11)
            await expectName(.companionNotAvailable) { _ = try await bench.begin(app, 3).reply() }
            let key = try await Self.companion(bench)
            #expect(try await bench.canEvaluate(3, as: app).code == -12)
            await expectName(.biometryNotPaired) { _ = try await bench.begin(app, 3).reply() }
            _ = try await key.addTemplate(uid: person.peer.uid, label: "key")
            #expect(try await bench.canEvaluate(3, as: app).code == 0)
            #expect(person.prompts.seen.isEmpty)

            try await key.queue(outcomes: ["no-match", "match"])
            let result = try await bench.begin(app, 3).reply()
            #expect(result["mechanism"] == .string("companion"))
            #expect(result["biometry-type"] == .uint32(0))
            #expect(result["sensor"] == .string("Key"))
            #expect(result["domain-state"] == nil)
            let details = try #require(person.prompts.seen.first?.details)
            #expect(details["sensors"] == .strings(["Key"]))
            #expect(details["policy"] == .uint32(3))
            #expect(sensor.operations.seen.isEmpty)
            #expect(try await bench.manager.biometryTypes() == [1])
        }
    }

    @Test("R12, L13: policy 4 takes finger or companion, or the only one available")
    func either() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let app = person.connection
            let alone = try bench.begin(app, 4)
            try await sensor.operation().succeed(template)
            #expect(try await alone.reply()["mechanism"] == .string("biometry"))

            let key = try await Self.companion(bench)
            _ = try await key.addTemplate(uid: person.peer.uid, label: "key")
            let both = try bench.begin(app, 4)
            let looking = try await sensor.operation(1)
            #expect(person.prompts.seen[1].details["sensors"] == .strings(["Key", "Third"]))
            try await key.queue(outcomes: ["match"])
            try await key.touch(matching: true)
            #expect(try await both.reply()["mechanism"] == .string("companion"))
            _ = try await looking.canceled.first("Cancel") { $0 }
            try await key.reset()
            _ = try await key.addTemplate(uid: person.peer.uid, label: "key")
            let finger = try bench.begin(app, 4)
            try await sensor.operation(2).succeed(template)
            let result = try await finger.reply()
            #expect(result["mechanism"] == .string("biometry"))
            #expect(result["domain-state"]?.asBytes?.count == 32)

            sensor.connection.close()
            try await bench.waitForNoDevice()
            #expect(try await bench.canEvaluate(1, as: app).code == -13)
            #expect(try await bench.canEvaluate(4, as: app).code == 0)
            try await key.queue(outcomes: ["match"])
            let rest = try bench.begin(app, 4)
            #expect(try await rest.reply()["mechanism"] == .string("companion"))
        }
    }
}
