import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Processes that join or leave the bus while their signals are lost.
@Suite("Lost signals about names", .timeLimit(.minutes(10)))
struct LostNameTests {
    init() { EventLoop.shared.startThread() }

    @Test("L20, L9: the prompt of a caller that left unnoticed ends at the next evaluation")
    func caller() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let guest = try person.app(bench.bus)
            let first = try bench.begin(guest)
            let operation = try await sensor.operation()
            try await bench.bus.lose(.nameOwnerChanged)
            try await bench.close(guest)
            let next = try bench.begin(person.connection)
            _ = try await operation.canceled.first("the first one to be canceled") { _ in true }
            try await sensor.operation(1).succeed(template)
            _ = try await next.reply()
            #expect(person.ends.seen.first == "canceled")
            withExtendedLifetime(first) {}
        }
    }

    @Test("L20: an agent that left unnoticed blocks no other agent and gets no prompt")
    func agent() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let app = try person.app(bench.bus)
            try await bench.bus.lose(.nameOwnerChanged)
            try await bench.close(person.connection)
            await expectName(.notInteractive) { _ = try await bench.begin(app).reply() }
            let next = try await bench.person()
            let call = try bench.begin(app)
            try await sensor.operation().succeed(template)
            _ = try await call.reply()
            #expect(next.prompts.seen.count == 1)
        }
    }

    @Test("L20: an agent that left unnoticed frees its place for a new agent")
    func agentExists() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            try await bench.bus.lose(.nameOwnerChanged)
            try await bench.close(person.connection)
            _ = try await bench.person()
        }
    }

    @Test("L20: contexts of a caller that left unnoticed cause no lasting refusal")
    func contexts() async throws {
        try await ServiceBench.run(configuration: "[Limits]\nContextsPerUser=2\n") { bench in
            let guest = try bench.bus.connect()
            for _ in 0..<2 { _ = try await bench.context(on: guest) }
            await expectName(.limitsExceeded) { _ = try await bench.context() }
            try await bench.bus.lose(.nameOwnerChanged)
            guest.close()
            try await eventually("room for a context") {
                (try? await bench.context()) != nil
            }
        }
    }

    @Test("L20: a verifier that replaced another unnoticed gets the calls")
    func verifier() async throws {
        try await PrivateBus.run { bus in
            let first = try bus.connect()
            try first.requestName(ScriptedVerifier.name)
            let daemon = try await TestDaemon(on: bus)
            try await bus.lose(.nameOwnerChanged)
            first.close()
            // The background query finds the change.
            try await eventually("no passcode") {
                try await !daemon.manager.canEvaluate(policy: 2).available
            }
            let second = try ScriptedVerifier(on: bus)
            try await eventually("a passcode") {
                try await daemon.manager.canEvaluate(policy: 2).available
            }
            withExtendedLifetime(second) {}
        }
    }

    @Test("L20: a sensor that arrived unnoticed is found by the first evaluations")
    func sensor() async throws {
        try await ServiceBench.run { bench in
            let person = try await bench.person()
            try await bench.bus.lose(.nameOwnerChanged, .propertiesChanged)
            let sensor = ScriptedSensor("Late", on: try bench.bus.connect())
            let template = sensor.add(for: person.peer.uid, announcing: false)
            try sensor.appear()
            // The first evaluation may end before the sensor is found.
            _ = try? await bench.begin(person.connection).reply()
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            #expect(try await call.reply()["mechanism"] == .string("biometry"))
        }
    }
}

extension ServiceBench {
    /// Closes a connection, and returns when the bus knows, without a signal.
    ///
    /// A person's connection belongs to a separate program.
    fileprivate func close(_ connection: Connection) async throws {
        let name = connection.uniqueName
        connection.close()
        try await eventually("the bus to know") { try await client.nameOwner(name) == nil }
    }
}
