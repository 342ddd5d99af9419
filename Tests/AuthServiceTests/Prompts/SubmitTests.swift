import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Which connections may use the buttons of a prompt.
@Suite("Buttons of another agent's prompt", .timeLimit(.minutes(10)))
struct SubmitTests {
    init() { EventLoop.shared.startThread() }

    /// Returns connections without permission: apps of the user, among them the caller, another
    /// agent of the user for a process, other users, and the service's user.
    @BusActor
    private static func strangers(
        _ bench: ServiceBench,
        _ person: Person,
        caller: Connection
    ) async throws -> [Connection] {
        let agent = try person.app(bench.bus)
        let peer = try await agent.peer(named: agent.uniqueName)
        _ = try await bench.manager(agent)
            .registerAgent(
                agent: ObjectPath(trusted: "/test/agent"),
                options: ["process": .uint32(UInt32(peer.pid))]
            )
        let other = try Connection(.address(Person.address(bench.bus, uid: 1)))
        return [caller, try person.app(bench.bus), agent, other, bench.client]
    }

    @BusActor
    private static func expectDenied(
        _ strangers: [Connection],
        _ handle: String,
        _ bench: ServiceBench
    ) async {
        for stranger in strangers {
            let manager = bench.manager(stranger)
            await expectName(.accessDenied) { try await manager.submitCancel(prompt: handle) }
            await expectName(.accessDenied) { try await manager.submitFallback(prompt: handle) }
            await expectName(.accessDenied) { try await manager.submitConfirm(prompt: handle) }
            await expectName(.accessDenied) {
                try await manager.submitPasscode(prompt: handle, sealed: [])
            }
            await expectName(.accessDenied) {
                try await manager.submitPassword(prompt: handle, password: [], options: [:])
            }
        }
    }

    @Test("L16: only the agent of a prompt can cancel it, fall back or type into it")
    func cancelAndFallback() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let app = try person.app(bench.bus)
            let call = try bench.begin(app)
            let operation = try await sensor.operation()
            try await sensor.miss(operation)
            for await event in call.events where event.kind == "fallback-available" { break }
            let handle = try await person.prompt().handle
            let strangers = try await Self.strangers(bench, person, caller: app)
            await Self.expectDenied(strangers, handle, bench)
            operation.succeed(template)
            _ = try await call.reply()
            #expect(person.ends.seen.allSatisfy { $0 == "success" })
            // A finished prompt belongs to no agent.
            await Self.expectDenied([person.connection], handle, bench)
        }
    }

    @Test("L16, L7: only the agent of a prompt can confirm a match")
    func confirm() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled {
                $0.type = 2
                $0.saidStrength = "weak"
            }
            let app = try person.app(bench.bus)
            let call = try bench.begin(app)
            try await sensor.operation().succeed(template)
            for await event in call.events where event.kind == "confirmation-required" { break }
            let handle = try await person.prompt().handle
            let strangers = try await Self.strangers(bench, person, caller: app)
            await Self.expectDenied(strangers, handle, bench)
            #expect(person.ends.seen.isEmpty)
            try await bench.manager(person.connection).submitConfirm(prompt: handle)
            _ = try await call.reply()
        }
    }
}
