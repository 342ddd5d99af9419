import DBus
import LocalAuthBus
import Testing

/// Clients come and go without a word; nothing of them stays.
@Suite("Vanishing clients", .timeLimit(.minutes(2)))
struct VanishingClientsTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    /// Connects, evaluates and vanishes, once for each client.
    @BusActor
    private func storm(_ desk: Desk, clients: Int) async throws {
        var connections: [Connection] = []
        for _ in 0..<clients {
            let client = try desk.connect()
            let manager = Authentication1Proxy(client, destination: Desk.service, path: Desk.root)
            let context = try await manager.createContext(properties: [:])
            for path in [Desk.root, context] {
                _ = try client.startCall(
                    to: Desk.service,
                    path: path,
                    interface: path == Desk.root ? Desk.service : "org.localauth.Context1",
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
        for client in connections { client.close() }
    }

    @Test("L16: 200 clients that connect, evaluate and vanish leave no descriptor and no memory")
    @BusActor
    func leaveNothing() async throws {
        let desk = try await Desk()
        let verifier = try await desk.verifier()
        let daemon = try await desk.daemon()
        let sensor = try await desk.sensor()
        let client = try desk.connect()
        let manager = Authentication1Proxy(client, destination: Desk.service, path: Desk.root)
        #expect(try await manager.canEvaluate(policy: 1).available)

        let descriptors = try daemon.descriptors()
        // The first storms fill the allocator's free lists; the later ones have to live off them.
        for _ in 0..<3 {
            try await storm(desk, clients: 200)
            #expect(try await manager.canEvaluate(policy: 1).available)
        }
        let memory = try daemon.memory()
        for _ in 0..<3 {
            try await storm(desk, clients: 200)
            #expect(try await manager.canEvaluate(policy: 1).available)
        }
        #expect(try daemon.descriptors() == descriptors)
        #expect(try daemon.memory() - memory < 512, "KB more after 600 clients more")
        #expect(daemon.isRunning && sensor.isRunning && verifier.isRunning)
    }
}
