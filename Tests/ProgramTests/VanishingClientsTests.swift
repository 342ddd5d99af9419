import DBus
import LocalAuthBus
import TestSupport
import Testing

/// Clients that disconnect suddenly leave nothing behind.
@Suite("Vanishing clients", .timeLimit(.minutes(10)))
struct VanishingClientsTests {
    // The test functions run on the loop, so start its thread first.
    init() { EventLoop.shared.startThread() }

    /// Connects, evaluates and disconnects suddenly, once for each client.
    @BusActor
    private func storm(
        _ daemon: TestDaemon,
        _ agent: ScriptedAgent,
        clients: Int
    ) async throws {
        var connections: [Connection] = []
        let shown = agent.prompts.seen.count
        for _ in 0..<clients {
            let client = try Connection(.address(daemon.bus.address))
            let manager = daemon.manager(client)
            let context = try await manager.createContext(properties: [:])
            for path in [TestDaemon.root, context] {
                _ = try client.startCall(
                    to: TestDaemon.name,
                    path: path,
                    interface: path == TestDaemon.root ? TestDaemon.name : "org.localauth.Context1",
                    member: "Evaluate",
                    signature: "usa{sv}",
                    timeout: Connection.noTimeout
                ) { writer throws(DBusError) in
                    try writer.write(UInt32(1))
                    try writer.write("open the vault")
                    try writer.write([String: Variant]())
                }
            }
            client.flush()
            connections.append(client)
        }
        _ = try await agent.prompts.first("a prompt") { _ in agent.prompts.seen.count > shown }
        for client in connections { client.close() }
    }

    @Test("L16: 200 clients that connect, evaluate and vanish leave no descriptor and no memory")
    @BusActor
    func leaveNothing() async throws {
        let bus = try PrivateBus()
        let verifier = try await bus.startVerifier()
        let daemon = try await TestDaemon(on: bus)
        let sensor = try await daemon.startSensor()
        let client = try bus.connect()
        let manager = daemon.manager(client)
        #expect(try await manager.canEvaluate(policy: 1).available)

        let agent = try ScriptedAgent(on: bus)
        try await agent.register()

        let descriptors = try daemon.process.descriptors()
        // The first storms fill the allocator's free lists, which later storms reuse.
        for _ in 0..<3 {
            try await storm(daemon, agent, clients: 200)
            #expect(try await manager.canEvaluate(policy: 1).available)
        }
        let memory = try daemon.process.memory()
        for _ in 0..<3 {
            try await storm(daemon, agent, clients: 200)
            #expect(try await manager.canEvaluate(policy: 1).available)
        }
        try await eventually("no descriptor to be left") {
            try daemon.process.descriptors() == descriptors
        }
        // The daemon returns free memory a moment later.
        try await eventually("no more than 512 KB more after 600 clients more") {
            // A sanitizer keeps freed memory.
            try isSanitized || daemon.process.memory() - memory < 512
        }
        #expect(daemon.process.isRunning && sensor.isRunning && verifier.isRunning)
    }
}
